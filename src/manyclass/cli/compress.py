"""manyclass compress: features into a store of codes, a block at a time."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from manyclass._core.text import format_bytes, format_seconds
from manyclass.cli.terminal.command_errors import report_errors
from manyclass.cli.terminal.console import Console
from manyclass.cli.terminal.options import (
    Json,
    LabelsOrNone,
    OutStore,
    Overwrite,
    Quiet,
    Resume,
    Seed,
    TestFraction,
    Threads,
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


@report_errors("the rows done so far are safe; give the same command again to go on")
def compress(
    source: Annotated[Path, path_argument("A .npy or .npz file, a folder of shards, parquet, or a store.")],
    out: OutStore,
    labels: LabelsOrNone = None,
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
    seed: Seed = 0,
    threads: Threads = None,
    overwrite: Overwrite = False,
    resume: Resume = True,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compress features into a store. If that is interrupted, the same command goes on where it stopped."""
    import manyclass as mc

    console = Console(quiet, json)
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
