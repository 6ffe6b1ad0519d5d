"""manyclass demo: everything at once, on data that is drawn on the spot."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from manyclass.cli.failures import complain, reported
from manyclass.cli.output import print_json, print_table, seconds, size
from manyclass.cli.paths import expanded
from manyclass.cli.progress import progress


@reported("give the same command again to start over")
def demo(
    out: Annotated[Path, typer.Option("-o", "--out", callback=expanded, help="The folder to write to.")] = Path("demo"),
    classes: Annotated[int, typer.Option(min=2, help="Kinds of characters to draw.")] = 500,
    per_class: Annotated[int, typer.Option(min=2, help="Pictures of each.")] = 20,
    seed: Annotated[int, typer.Option(min=0, help="The same seed draws the same pictures.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Draw characters, compress their features, check the files, and time products on the codes."""
    result = run(out, classes, per_class, seed, quiet or json)
    if json:
        print_json(result)
    else:
        print_table("manyclass demo", _rows(result))


def run(out: Path, n_classes: int, n_per_class: int, seed: int, quiet: bool) -> dict[str, Any]:
    """Every step of the demo, and what was measured."""
    from manyclass.cli.demo_folder import check_folder
    from manyclass.cli.demo_steps import compare_products, compress, draw, find_flipped_bit, recognize

    def tell(step: str) -> None:
        if not quiet:
            complain(step)

    started = time.perf_counter()
    check_folder(out)
    out.mkdir(parents=True, exist_ok=True)
    tell(f"drawing {n_classes} x {n_per_class} characters")
    with progress("drawing", "classes", quiet) as report:
        whole, sheet = draw(out, n_classes, n_per_class, seed, report)
    tell("compressing their features, 8 columns to a byte")
    small = compress(out, whole, seed)
    tell("checking every byte, and flipping a bit to see it found")
    result = {"classes": n_classes, "sheet": str(sheet), **small.summary, **find_flipped_bit(small.store)}
    tell("timing products")
    result |= compare_products(small.store, n_classes, seed)
    result |= recognize(whole, small.store)
    return {**result, "seconds": time.perf_counter() - started}


def _rows(r: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        ("pictures", f"{r['rows']:,} of {r['classes']} characters; some are in {r['sheet']}"),
        ("features", f"{r['dimensions']} numbers each, {size(r['bytes_before'])} in {r['source']}"),
        ("compressed", f"{size(r['bytes_after'])} in {r['store']}, {r['ratio']:.1f} times smaller"),
        ("relative error", f"{r['relative_error']:.3f} on {r['error_rows']:,} held-out rows"),
        ("checked", "both stores are as they were written" if r["good"] else "damage was found"),
        ("a flipped bit", r["found"] or "was not found"),
        ("X @ W", _speed(r["matmat"])),
        ("X' R", _speed(r["rmatmat"])),
        ("threads", f"{r['threads']} of ours, {r['blas_threads']} of BLAS"),
        (
            "nearest class mean",
            f"{r['accuracy']:.1%} of the test part right on numbers, {r['code_accuracy']:.1%} on codes",
        ),
        ("time", seconds(r["seconds"])),
    ]


def _speed(product: dict[str, float]) -> str:
    codes, dense = seconds(product["codes"]), seconds(product["numpy"])
    ratio = product["numpy"] / product["codes"]
    verdict = f"{ratio:.1f} times faster" if ratio >= 1 else f"{1 / ratio:.1f} times slower"
    return f"{codes} on the codes, {dense} by NumPy on the decoded matrix: {verdict}, {product['columns']} columns"
