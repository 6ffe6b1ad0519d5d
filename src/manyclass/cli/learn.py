"""manyclass learn: from a folder of pictures to a classifier and a page about it, in one command."""

import io
import sys
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from manyclass._core.text import format_seconds
from manyclass.cli.evaluate import findings, judge
from manyclass.cli.features import features
from manyclass.cli.report import report
from manyclass.cli.terminal.command_errors import report_errors
from manyclass.cli.terminal.console import Console
from manyclass.cli.terminal.options import Json, Overwrite, Quiet, Seed, Threads, out_option, path_argument
from manyclass.runs.recipe import ObjectiveName

_TIMED = 6  # pictures


@report_errors("give the same command again to go on")
def learn(
    source: Annotated[
        Path, path_argument("A folder of pictures, one folder per class or train/ and test/ in it; or a CSV.")
    ],
    out: Annotated[Path, out_option("The folder to write: photos.store, run, report.html.")],
    kind: Annotated[
        str | None,
        typer.Option(help="How pictures become numbers; see `features`.", show_default="network if it is installed"),
    ] = None,
    objective: Annotated[ObjectiveName, typer.Option(help="What is minimized; see `train`.")] = ObjectiveName.auto,
    test_fraction: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Part of every class to test on, unless there is a test/.")
    ] = 0.2,
    seed: Seed = 0,
    threads: Threads = None,
    overwrite: Overwrite = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Learn to tell the classes of a folder of pictures, test it, and write a page about it.

    The same as `features`, `train`, `evaluate` and `report`, one after the other. The same command goes on where it was
    interrupted, and does nothing twice.
    """
    import manyclass as mc
    from manyclass.runs.provenance import recommended_kind

    console, silent = Console(quiet, json), quiet or json
    kind = kind or recommended_kind()
    store, run, page, gallery = out / "photos.store", out / "run", out / "report.html", out / "gallery"
    fraction = _test_fraction(source, out, test_fraction)
    common: dict[str, Any] = {"threads": threads, "quiet": silent}
    # What the commands print is for people; programs get one object at the end.
    with redirect_stdout(io.StringIO()) if json else nullcontext():
        if not overwrite and _is_made(store, source, kind, seed, fraction):
            console.info(f"{store} is done already")
        else:
            with mc.threads(threads):
                _estimate(source, out, kind, seed, console)
            features(source, store, kind, test_fraction=fraction, seed=seed, overwrite=overwrite, **common)
        with mc.threads(threads):
            _train(store, run, console, objective=objective, seed=seed, overwrite=overwrite)
            judged = judge(run, store, console).record
        report([run], page)
    paths = {"store": str(store), "run": str(run), "report": str(page)}
    console.json({"path": str(out), **paths, **{key: judged[key] for key in ("rows", "top_1", "top_5")}})
    console.table(
        "what next",
        [
            *findings(run, judged, page=str(page)),
            ("classify", f"manyclass predict {quote(str(run))} PICTURES"),
            ("label and audit", f"manyclass serve {quote(str(run))} --open"),
            (
                "find alike",
                f"manyclass encode {quote(str(store))} -o {quote(str(gallery))} && "
                f"manyclass search {quote(str(gallery))} PICTURE",
            ),
            ("compare", f"manyclass train {quote(str(store))} -o {quote(str(out / 'square'))} --objective square"),
        ],
    )


def _train(store: Path, run: Path, console: Console, **asked: Any) -> None:
    """As `manyclass train` does, without a word of what is next: it is done at once."""
    import manyclass as mc
    from manyclass.runs.run_record import run_rows, run_summary

    told: dict[str, Any] = {"notify": console.info, "warn": console.warn, "arguments": sys.argv[1:]}
    callbacks = [] if console.silent else [mc.Progress()]
    trained = mc.runs.train(store, run, resume=True, callbacks=callbacks, **asked, **told)
    console.table(str(run), run_rows(run_summary(trained.record)))


def _test_fraction(source: Path, out: Path, fraction: float) -> float | None:
    """The fraction to hold out, which folders that have parts already have no use for."""
    from manyclass.datasets.image_folders import read_images
    from manyclass.runs.sources import check_is_pictures

    check_is_pictures(source)
    images = read_images(source, out)
    if images.y is None:
        raise ValueError(f"{source} must have classes to learn, such as a folder for each; it has pictures alone")
    return None if images.split is not None else fraction


def _is_made(store: Path, source: Path, kind: str, seed: int, fraction: float | None) -> bool:
    """Whether the features are there already; a store of something else, or of other pictures, is refused."""
    from manyclass.data.store.manifest import MANIFEST, read_manifest
    from manyclass.data.store.store import open_store
    from manyclass.datasets.image_folders import read_images
    from manyclass.features.extraction.skip_log import read_skipped

    if not (store / MANIFEST).is_file():
        return False
    found = read_manifest(store).provenance
    asked = {"source": str(source), "kind": kind, "seed": seed, "test_fraction": fraction}
    if Path(str(found.get("source"))).resolve() == source.resolve():
        del asked["source"]
    for key, value in asked.items():
        if found.get(key) != value:
            raise ValueError(f"{store} was made with {key} {found.get(key)!r}, not {value!r}; pass `overwrite=True`")
    names = [] if (opened := open_store(store)).names is None else [str(name) for name in opened.names]
    images = read_images(source, store.parent)
    if sorted([*names, *(entry.name for entry in read_skipped(store))]) != sorted(map(str, images.names)):
        raise ValueError(f"{source} has other pictures by now than {store} was made of; pass `overwrite=True`")
    return True


def _estimate(source: Path, out: Path, kind: str, seed: int, console: Console) -> None:
    """Say how long pictures will take, by the time of a few; kinds that learn first have a bar for that."""
    import time

    import manyclass as mc
    from manyclass._core.parallel import get_threads
    from manyclass.datasets.image_folders import read_images
    from manyclass.runs.provenance import choose_kind

    wanted, paths = choose_kind(kind, seed, {}), read_images(source, out).paths
    if wanted.is_learned or len(paths) < 100:
        return
    encoder, some = wanted.encoder(), paths[:: max(1, len(paths) // _TIMED)][:_TIMED]
    started, done = time.perf_counter(), 0
    for path in some:
        try:
            encoder.transform([path])
            done += 1
        except mc.ImageError:
            continue
    taken = (time.perf_counter() - started) / max(done, 1) * len(paths) / get_threads()
    console.info(f"{len(paths):,} pictures will take about {format_seconds(taken)}")
