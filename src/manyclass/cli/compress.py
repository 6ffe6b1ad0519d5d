"""manyclass compress: features into a store of codes, a block at a time; a classifier into a small head."""

from enum import StrEnum
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from manyclass._core.errors import SettingsError
from manyclass._core.text import format_bytes, format_seconds
from manyclass.cli.terminal.command_errors import report_errors
from manyclass.cli.terminal.console import Console
from manyclass.cli.terminal.options import (
    Json,
    LabelsOrNone,
    Overwrite,
    Quiet,
    Resume,
    Seed,
    TestFraction,
    Threads,
    out_option,
    path_argument,
)


class QuantizerKind(StrEnum):
    """How rows become bytes."""

    product = "product"
    scalar = "scalar"


class RotationName(StrEnum):
    """What happens to the columns before they are cut into blocks."""

    none = "none"
    permutation = "permutation"
    orthogonal = "orthogonal"


class Bits(StrEnum):
    """How fine a column is cut."""

    four = "4"
    eight = "8"
    twelve = "12"
    sixteen = "16"


@report_errors("the rows done so far are safe; give the same command again to go on")
def compress(
    source: Annotated[
        Path, path_argument("A .npy or .npz file, a folder of shards, parquet, or a store; or a run, or a model.")
    ],
    out: Annotated[Path, out_option("The store to write; of a run or a model, the file of its head.")],
    labels: LabelsOrNone = None,
    test_fraction: TestFraction = None,
    kind: Annotated[
        QuantizerKind, typer.Option(help="One byte per block of columns, or some bits per column.")
    ] = QuantizerKind.product,
    block: Annotated[int | None, typer.Option(min=1, help="Columns per byte, for product; by default 8.")] = None,
    n_centroids: Annotated[int, typer.Option(min=2, max=256, help="Entries per codebook, for product.")] = 256,
    rotation: Annotated[RotationName, typer.Option(help="Mix the columns first, for product.")] = RotationName.none,
    bits: Annotated[
        Bits,
        typer.Option(help="Bits per column, for scalar; of a weight, for a classifier, 12 and 16 too."),
    ] = Bits.eight,
    sample: Annotated[
        int | None, typer.Option(min=1, help="Rows to learn from; by default 16384 for product, all for scalar.")
    ] = None,
    seed: Seed = 0,
    threads: Threads = None,
    overwrite: Overwrite = False,
    resume: Resume = True,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compress features into a store. If that is interrupted, the same command goes on where it stopped.

    A run, or the file of a linear classifier, becomes a head of few bits for each weight, which `manyclass predict` and
    `manyclass evaluate` take as they take the run: a file beside it, which replaces one of the same name.
    """
    import manyclass as mc
    from manyclass.runs.folder import is_run
    from manyclass.runs.load_model import is_model

    console = Console(quiet, json)
    if is_run(source) or is_model(source):
        given = {"labels": labels, "test_fraction": test_fraction, "block": block, "sample": sample}
        given |= {"kind": kind is not QuantizerKind.product, "rotation": rotation is not RotationName.none}
        given |= {"n_centroids": n_centroids != 256}
        for name in (name for name, value in given.items() if value not in (None, False)):
            raise SettingsError(f"`{name}` is for features, and {source} holds a classifier; leave it out")
        with mc.threads(threads):
            return _compress_head(source, out, int(bits), console)
    with mc.threads(threads):
        result = mc.runs.compress(
            source,
            out,
            labels=labels,
            test_fraction=test_fraction,
            kind=kind.value,
            block=block,
            n_centroids=n_centroids,
            rotation=None if rotation is RotationName.none else rotation.value,
            bits=int(bits),
            sample=sample,
            seed=seed,
            overwrite=overwrite,
            resume=resume,
            warn=console.warn,
            notify=console.info,
            progress=console.progress,
        )
    console.json(result)
    console.table(str(out), _rows(result))


def _compress_head(source: Path, out: Path, bits: int, console: Console) -> None:
    from manyclass.runs.load_model import open_classifier

    model, started = open_classifier(source).model, perf_counter()
    if not hasattr(model, "compress"):
        raise ValueError(f"{source} must hold a linear classifier; it holds a {type(model).__name__}")
    head = model.compress(bits, out)
    size, (k, d) = out.stat().st_size, (len(head.intercept_), head.n_features_in_)
    result = {
        "path": str(out), "bytes": size, "bytes_before": 4 * k * d, "bits": bits, "classes": k, "columns": d,
        "seconds": perf_counter() - started,
    }  # fmt: skip
    console.json(result)
    console.table(
        str(out),
        [
            ("classes", f"{k:,}"),
            ("dimensions", f"{d:,}"),
            ("weights before", format_bytes(4 * k * d)),
            ("file", f"{format_bytes(size)}, of {bits} bits a weight"),
            ("time", format_seconds(result["seconds"])),
        ],
    )


def _rows(result: dict[str, Any]) -> list[tuple[str, str]]:
    seen = "held-out" if result["held_out"] else "fitted"
    return [
        ("rows", f"{result['rows']:,}"),
        ("dimensions", f"{result['dimensions']:,}"),
        ("size before", format_bytes(result["bytes_before"])),
        ("size after", format_bytes(result["bytes_after"])),
        # Codebooks, labels and names take most of a small store, and next to nothing of a large one.
        ("ratio", f"{result['ratio']:.1f} of all files; {result['code_ratio']:.1f} of codes alone"),
        ("relative error", f"{result['relative_error']:.4f} on {result['error_rows']:,} {seen} rows"),
        ("time", format_seconds(result["seconds"])),
        ("rate", f"{result['rows_per_second']:,.0f} rows/s"),
    ]
