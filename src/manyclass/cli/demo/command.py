"""manyclass demo: everything at once, on data that is drawn on the spot, in a folder that it made itself."""

import time
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from manyclass._core.text import format_bytes, format_seconds
from manyclass.cli.terminal.command_errors import report_errors
from manyclass.cli.terminal.console import Console
from manyclass.cli.terminal.options import Json, Quiet, Seed, Threads, out_option

MADE = {"made by": "manyclass demo"}

WHOLE, SMALL = "glyphs.store", "small.store"  # kinds that are learned: their features, and the same as codes

OTHERS, WORLD = "others.store", "world.store"  # kinds that are searched for, and negatives of still other kinds

PICTURES, NAMES, SHEET = "pictures.npy", "pictures.json", "glyphs.png"

RUNS, GALLERY, REPORT = "runs", "gallery", "report.html"

_STORES = (WHOLE, SMALL, OTHERS, WORLD)


@report_errors("give the same command again to start over")
def demo(
    out: Annotated[Path, out_option("The folder to write to.")] = Path("demo"),
    classes: Annotated[int, typer.Option(min=10, help="Kinds of characters to learn; others are drawn beside.")] = 500,
    per_class: Annotated[int, typer.Option(min=4, help="Pictures of each.")] = 20,
    seed: Seed = 0,
    threads: Threads = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Draw characters, compress their features, train classifiers, search for kinds never seen, and write a report.

    The folder holds stores, runs and a gallery like those of the other commands, which can be asked about them.
    """
    import manyclass as mc

    console = Console(quiet, json)
    with mc.threads(threads):
        result = run(out, classes, per_class, seed, console)
    console.json(result)
    _show(console, result)


def run(out: Path, n_classes: int, n_per_class: int, seed: int, console: Console) -> dict[str, Any]:
    """Every step of the demo, and what was measured."""
    from manyclass.cli.demo.demo_runs import compare_searches
    from manyclass.cli.demo.findings import findings

    started = time.perf_counter()
    check_demo_folder(out)
    out.mkdir(parents=True, exist_ok=True)
    result = _learn(out, n_classes, n_per_class, seed, console)
    result["methods"] = compare_searches(out / OTHERS, out / WORLD, out / GALLERY, seed, console)
    result["findings"] = findings(result)
    result["report"] = str(out / REPORT)
    _write_report(out, console)
    return {**result, "seconds": time.perf_counter() - started}


def _learn(out: Path, n_classes: int, n_per_class: int, seed: int, console: Console) -> dict[str, Any]:
    """The data, and what classifiers make of it."""
    from manyclass.cli.demo.demo_compression import compress, find_flipped_bit, time_products
    from manyclass.cli.demo.demo_runs import CLASSIFIERS, train_and_judge
    from manyclass.cli.demo.glyph_data import Kinds, draw

    kinds = Kinds.deal(n_classes, seed)
    console.info(f"drawing {len(kinds)} x {n_per_class} characters")
    with console.progress("drawing", "classes") as report:
        whole = draw(out, kinds, n_per_class, seed, report)
    console.info("compressing their features, 8 columns to a byte, and flipping a bit to see it found")
    small, compression = compress(out / SMALL, whole, seed)
    compression["found"] = find_flipped_bit(small)
    products = time_products(small, n_classes, seed)
    runs = [train_and_judge(one, small.path, whole.path, out / RUNS / one.name, seed, console) for one in CLASSIFIERS]
    counts = {"classes": n_classes, "searched": len(kinds.searched), "negatives": len(kinds.negatives)}
    return {"path": str(out), **counts, "compression": compression, "products": products, "runs": runs}


def _write_report(out: Path, console: Console) -> None:
    from manyclass.cli.demo.demo_runs import CLASSIFIERS
    from manyclass.report.page import write_page

    console.info(f"manyclass report {out} -o {out / REPORT}")
    runs = [out / RUNS / one.name for one in CLASSIFIERS]
    write_page(out / REPORT, [*runs, out / GALLERY], title="manyclass demo: kinds of characters, learned and searched")


def _show(console: Console, result: dict[str, Any]) -> None:
    """One table, what it says, and where the page is."""
    console.columns((f"learning {result['classes']} kinds", "top-1", "top-5", "time", "size"), _rows(result))
    for words in result["findings"]:
        console.line(words)
    console.line(f"{format_seconds(result['seconds'])} in all; open {Path(result['report']).resolve().as_uri()}")
    gallery = quote(str(Path(result["path"]) / GALLERY))
    console.line(f"find, label and audit its characters in a browser: manyclass serve {gallery} --open")


def _rows(result: dict[str, Any]) -> list[tuple[str, ...]]:
    learned = [
        (
            run["name"],
            f"{run['top_1']:.1%}",
            f"{run['top_5']:.1%}",
            format_seconds(run["seconds"]),
            format_bytes(run["bytes"]),
        )
        for run in sorted(result["runs"], key=lambda run: -run["top_1"])
    ]
    head = (f"finding {result['searched'] // 2} other kinds", "mAP", "95 % interval", "time", "numbers per image")
    searched = [
        (one["name"], f"{one['map']:.1%}", _interval(one), format_seconds(one["seconds"]), f"{one['columns']:,}")
        for one in sorted(result["methods"], key=lambda one: -one["map"])
    ]
    return [*learned, ("",) * 5, head, *searched]


def _interval(one: dict[str, Any]) -> str:
    return f"{one['low']:.1%} to {one['high']:.1%}"


def check_demo_folder(out: Path) -> None:
    """Refuse a folder with anything in it that the demo would write over and did not make."""
    if out.exists() and not out.is_dir():
        raise ValueError(f"{out} is a file, and the demo writes a folder; choose another name with --out")
    for name in _STORES:
        if (out / name).exists() and not _is_ours(out / name):
            raise ValueError(f"{out / name} was not made by the demo; choose another folder with --out")
    if out.is_dir() and any(out.iterdir()) and not any((out / name).exists() for name in _STORES):
        raise ValueError(f"{out} has other things in it; choose another folder with --out")


def _is_ours(store: Path) -> bool:
    """Whether the demo made the store, and began what is unfinished there."""
    from manyclass.data.store.journal import Journal
    from manyclass.data.store.manifest import MANIFEST, read_manifest

    if not store.is_dir():
        return False
    found: list[dict[str, Any]] = []
    if (store / MANIFEST).exists():
        found.append(read_manifest(store).provenance)
    if journal := Journal.read(store):
        found.append(journal.header["identity"])
    return bool(found) and all(MADE.items() <= words.items() for words in found)
