"""manyclass compress: features into a store of codes, a block at a time."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manyclass._core.text import format_bytes, format_seconds
from manyclass.cli._console import print_json, print_table, progress
from manyclass.cli._errors import complain, report_errors
from manyclass.cli._options import TestFraction, expand_path
from manyclass.runs.compression import Bits, Coding, QuantizerKind, RotationName, product_coding, scalar_coding
from manyclass.runs.sources import draw_test_subset, read_source

if TYPE_CHECKING:
    from manyclass.data.store.transaction import UnfinishedWrite
    from manyclass.datasets.dataset import Dataset
    from manyclass.runs.compression import FittedQuantizer


@report_errors("the rows done so far are safe; give the same command again to go on")
def compress(
    source: Annotated[
        Path, typer.Argument(callback=expand_path, help="A .npy or .npz file, a folder of shards, parquet, or a store.")
    ],
    out: Annotated[Path, typer.Option("-o", "--out", callback=expand_path, help="The store to write.")],
    labels: Annotated[
        str | None, typer.Option(help="One label per row: a CSV or .npy file; or none, to leave out those found.")
    ] = None,
    test_fraction: TestFraction = None,
    kind: Annotated[
        QuantizerKind, typer.Option(help="One byte per block of columns, or some bits per column.")
    ] = QuantizerKind.product,
    block: Annotated[int | None, typer.Option(min=1, help="Columns per byte, for product; by default 8.")] = None,
    n_centroids: Annotated[int, typer.Option(min=2, max=256, help="Entries per codebook, for product.")] = 256,
    rotation: Annotated[RotationName, typer.Option(help="Mix the columns first, for product.")] = RotationName.none,
    bits: Annotated[Bits, typer.Option(help="Bits per column, for scalar.")] = Bits.eight,
    sample: Annotated[
        int | None, typer.Option(min=1, help="Rows to learn from; by default 16384 for product, all for scalar.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same store.")] = 0,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads to use; by default all.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a store that is there.")] = False,
    resume: Annotated[
        bool, typer.Option("--resume/--restart", help="Go on with an unfinished attempt, or drop it.")
    ] = True,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Compress features into a store. If that is interrupted, the same command goes on where it stopped."""
    import manyclass as mc

    started = time.perf_counter()
    tell = (lambda message: None) if quiet or json else complain
    with mc.threads(threads):
        features = draw_test_subset(read_source(source, labels, complain), test_fraction, seed)
        if kind is QuantizerKind.product:
            coding = product_coding(features.X.shape[1], source, block, n_centroids, rotation, sample, seed)
        else:
            coding = scalar_coding(bits, sample, seed)
        identity = coding.identity(features.X.shape)
        kept = mc.StoreWriter.unfinished(out, identity, overwrite=overwrite, resume=resume)
        fitted = _fitted(features.X, coding, kept, tell)
        with progress("compressing", "rows", quiet or json) as report:
            mc.write_store(
                out,
                **_columns(features),
                quantizer=fitted.quantizer,
                overwrite=overwrite,
                resume=resume,
                provenance={"made by": "manyclass compress", "source": str(source), "seed": seed},
                progress=report,
                identity=identity,
            )
    result = _result(out, features.X, fitted, kept.rows, time.perf_counter() - started)
    if json:
        print_json(result)
    else:
        print_table(str(out), _rows(result))


def _fitted(X: Any, coding: Coding, kept: "UnfinishedWrite", tell: Callable[[str], None]) -> "FittedQuantizer":
    """The quantizer of an earlier attempt, or else one that learns from the rows."""
    from manyclass.runs.compression import fit_on_sample, measure_error

    if kept.quantizer is not None:
        if kept.rows:
            tell(f"going on after {kept.rows:,} rows that an earlier attempt finished")
        return measure_error(kept.quantizer, X, coding.sample, coding.seed)
    n, d = X.shape
    tell(f"learning from {min(n, coding.sample or n):,} of {n:,} rows of {d}")
    return fit_on_sample(coding.quantizer(), X, coding.sample, coding.seed)


def _columns(features: "Dataset") -> dict[str, Any]:
    """The rows and what goes with them, as `write_store` takes it: the parts of a split are words there."""
    split = None if features.split is None else features.split.astype(str)
    return {"X": features.X, "y": features.y, "names": features.names, "classes": features.classes, "split": split}


def _result(out: Path, X: Any, fitted: "FittedQuantizer", n_done: int, taken: float) -> dict[str, Any]:
    from manyclass.data.store.manifest import store_bytes

    n_bytes = store_bytes(out)
    return {
        "path": str(out),
        "rows": X.shape[0],
        "dimensions": X.shape[1],
        "bytes_before": int(X.nbytes),
        "bytes_after": n_bytes,
        "ratio": X.nbytes / n_bytes,
        "relative_error": fitted.error,
        "error_rows": fitted.error_rows,
        "held_out": fitted.held_out,
        "resumed_after": n_done,
        "seconds": taken,
        "rows_per_second": (X.shape[0] - n_done) / taken,
    }


def _rows(result: dict[str, Any]) -> list[tuple[str, str]]:
    seen = "held-out" if result["held_out"] else "fitted"
    return [
        ("rows", f"{result['rows']:,}"),
        ("dimensions", f"{result['dimensions']:,}"),
        ("size before", format_bytes(result["bytes_before"])),
        ("size after", format_bytes(result["bytes_after"])),
        ("ratio", f"{result['ratio']:.1f}"),
        ("relative error", f"{result['relative_error']:.4f} on {result['error_rows']:,} {seen} rows"),
        ("time", format_seconds(result["seconds"])),
        ("rate", f"{result['rows_per_second']:,.0f} rows/s"),
    ]
