"""manyclass compress: features into a store of codes, a block at a time."""

import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manyclass.cli.failures import complain, reported
from manyclass.cli.output import print_json, print_table, seconds, size
from manyclass.cli.progress import progress
from manyclass.cli.verify import folder_bytes

if TYPE_CHECKING:
    from manyclass.cli.quantizing import Fitted
    from manyclass.datasets import Features

_SAMPLE = 16384  # rows for a product quantizer: 64 for each of 256 centroids


class Kind(StrEnum):
    """How rows become bytes."""

    product = "product"
    scalar = "scalar"


class Bits(StrEnum):
    """How fine a column is cut."""

    four = "4"
    eight = "8"


class Rotation(StrEnum):
    """What happens to the columns before they are cut into blocks."""

    none = "none"
    permutation = "permutation"
    orthogonal = "orthogonal"


@reported("the rows done so far are safe; give the same command again to go on")
def compress(
    source: Annotated[Path, typer.Argument(help="A .npy or .npz file, a folder of shards, parquet, or a store.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The store to write.")],
    labels: Annotated[Path | None, typer.Option(help="One label per row: a CSV or .npy file.")] = None,
    kind: Annotated[Kind, typer.Option(help="One byte per block of columns, or some bits per column.")] = Kind.product,
    block: Annotated[int, typer.Option(min=1, help="Columns per byte, for product.")] = 8,
    centroids: Annotated[int, typer.Option(min=2, max=256, help="Entries per codebook, for product.")] = 256,
    rotation: Annotated[Rotation, typer.Option(help="Mix the columns first, for product.")] = Rotation.none,
    bits: Annotated[Bits, typer.Option(help="Bits per column, for scalar.")] = Bits.eight,
    sample: Annotated[
        int | None, typer.Option(min=1, help="Rows to learn from; by default 16384 for product, all for scalar.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same store.")] = 0,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads to use; by default all.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a store that is there.")] = False,
    restart: Annotated[bool, typer.Option("--restart", help="Drop an unfinished attempt, and begin again.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Compress features into a store. If that is interrupted, the same command goes on where it stopped."""
    import manyclass as mc

    quiet = quiet or json
    with mc.threads(threads):
        n_done = _rows_done(out, overwrite) * (not restart)
        started = time.perf_counter()
        features = mc.datasets.read_features(source, labels=labels)
        fitted = _fit(features.X, kind, block, centroids, rotation, bits, sample, seed, quiet)
        if n_done:
            _tell(f"going on after {n_done:,} rows that an earlier attempt finished", quiet)
        provenance = {"made by": "manyclass compress", "source": str(source), "seed": seed}
        with progress("compressing", "rows", quiet) as report:
            mc.write_store(
                out,
                **_columns(features),
                quantizer=fitted.quantizer,
                overwrite=overwrite,
                resume=not restart,
                provenance=provenance,
                progress=report,
            )
    result = _result(out, features.X, fitted, n_done, time.perf_counter() - started)
    if json:
        print_json(result)
    else:
        print_table(str(out), _rows(result))


def _fit(
    X: Any,
    kind: Kind,
    block: int,
    centroids: int,
    rotation: Rotation,
    bits: Bits,
    sample: int | None,
    seed: int,
    quiet: bool,
) -> "Fitted":
    import manyclass as mc
    from manyclass.cli.quantizing import fit_on_sample

    quantizer: Any = mc.ScalarQuantizer(int(bits))
    if kind is Kind.product:
        sample = sample or _SAMPLE
        turn = None if rotation is Rotation.none else rotation.value
        quantizer = mc.ProductQuantizer(block, centroids, rotation=turn, sample=sample, random_state=seed)
    n, d = X.shape
    _tell(f"learning from {min(n, sample or n):,} of {n:,} rows of {d}", quiet)
    return fit_on_sample(quantizer, X, sample, seed)


def _columns(features: "Features") -> dict[str, Any]:
    """The rows and what goes with them, as `write_store` takes it: the parts of a split are words there."""
    split = None if features.split is None else features.split.astype(str)
    return {"X": features.X, "y": features.y, "names": features.names, "classes": features.classes, "split": split}


def _rows_done(out: Path, overwrite: bool) -> int:
    """Rows that an interrupted attempt made safe; a store that is complete is refused here, before any work."""
    from manyclass.data.store.journal import Journal
    from manyclass.data.store.layout import MANIFEST

    journal = Journal.read(out)
    if journal is None and (out / MANIFEST).exists() and not overwrite:
        raise FileExistsError(f"{out} is there already; add --overwrite to replace it, or choose another name")
    return journal.marks[-1].rows if journal and journal.marks else 0


def _result(out: Path, X: Any, fitted: "Fitted", n_done: int, taken: float) -> dict[str, Any]:
    n_bytes = folder_bytes(out)
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


def _tell(message: str, quiet: bool) -> None:
    if not quiet:
        complain(message)


def _rows(result: dict[str, Any]) -> list[tuple[str, str]]:
    seen = "held-out" if result["held_out"] else "fitted"
    return [
        ("rows", f"{result['rows']:,}"),
        ("dimensions", f"{result['dimensions']:,}"),
        ("size before", size(result["bytes_before"])),
        ("size after", size(result["bytes_after"])),
        ("ratio", f"{result['ratio']:.1f}"),
        ("relative error", f"{result['relative_error']:.4f} on {result['error_rows']:,} {seen} rows"),
        ("time", seconds(result["seconds"])),
        ("rate", f"{result['rows_per_second']:,.0f} rows/s"),
    ]
