"""Options and arguments that commands share, and paths as users type them.

`seed: Seed = 0` in the signature of a command is the option --seed; what differs in its help alone is made by
`path_option` and `path_argument`.
"""

from pathlib import Path
from typing import Annotated, Any

import typer

from manyclass._core.files import check_output, expand_home
from manyclass._core.remote_files import local_path
from manyclass.cli.terminal.command_errors import FAILED, print_error


def expand_path(path: Path) -> Path:
    """The path with ~ replaced by the home folder, which a shell does not do in `--out=~/x`; for `callback=`."""
    try:
        return expand_home(path)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def expand_optional_path(path: Path | None) -> Path | None:
    """The same for an option that may be left out."""
    return None if path is None else expand_path(path)


def expand_paths(paths: list[Path] | None) -> list[Path]:
    """The same for an argument that may be repeated."""
    return [_local_argument(path) for path in paths or []]


def _local_argument(path: Path) -> Path:
    """The path of an argument, which is read: of an address, such as s3://bucket/x.npy, a copy that is fetched."""
    try:
        return local_path(path)
    except FileNotFoundError as error:
        print_error(f"no file or folder at {error.filename}")
    except (ImportError, OSError) as error:
        print_error(str(error))
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    raise typer.Exit(FAILED)


def local_optional_path(path: Path | None) -> Path | None:
    """The same for an argument that may be left out."""
    return None if path is None else _local_argument(path)


def path_option(help: str, *names: str, **more: Any) -> Any:
    """An option that is a path and may be left out: `Annotated[Path | None, path_option("The page.", "--out")]`."""
    return typer.Option(*names, callback=expand_optional_path, help=help, **more)


def path_argument(help: str, repeated: bool = False, **more: Any) -> Any:
    """An argument that is a path, or a list of paths; it may be left out where its type says so."""
    return typer.Argument(callback=expand_paths if repeated else local_optional_path, help=help, **more)


def check_printable(out: Path | None) -> None:
    """Refuse a file for results that are printed without it, where there is something else than a file."""
    if out is not None:
        check_output(out, "leave -o away to print results, with --json for programs")


def out_option(help: str, **more: Any) -> Any:
    """The option --out, where the result goes."""
    return path_option(help, "-o", "--out", **more)


Data = Annotated[Path, path_argument("A store, .npy, .npz, parquet, or a folder of shards, with labels.")]

Run = Annotated[Path, path_argument("A run of manyclass train, or the file of a model.")]

OutStore = Annotated[Path, out_option("The store to write.")]

LabelFile = Annotated[str | None, typer.Option(help="One label per row: a CSV or .npy file.")]

LabelSeparator = Annotated[
    str | None,
    typer.Option(metavar="TEXT", help="What stands between the labels of a row that may have several: ; of cat;dog."),
]

LabelsOrNone = Annotated[
    str | None, typer.Option(help="One label per row: a CSV or .npy file; or none, to leave out those found.")
]

TestFraction = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        max=1.0,
        help="Keep so much of every class for testing; the data must have no parts.",
        show_default="none",
    ),
]

PriorOption = Annotated[
    str | None,
    typer.Option(
        "--prior",
        metavar="PRIOR",
        help="How frequent classes are in use: uniform, training, or a CSV file of class and share.",
        show_default="that of the run",
    ),
]

Seed = Annotated[int, typer.Option(min=0, help="The same seed gives the same result.")]

Threads = Annotated[int | None, typer.Option(min=1, help="Threads to use; by default all.")]

WorkerThreads = Annotated[
    int | None,
    typer.Option("--threads", min=1, help="Threads to use; by default all. With --ray, those of each worker."),
]

Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")]

Resume = Annotated[bool, typer.Option("--resume/--restart", help="Go on with an unfinished attempt, or drop it.")]

ShardNumber = Annotated[
    str | None,
    typer.Option("--shard", metavar="I/N", help="Make part I of N alone, such as 3/16; `manyclass join` joins them."),
]

RayAddress = Annotated[
    str | None,
    typer.Option(
        "--ray",
        metavar="ADDRESS",
        help="Compute on the nodes of a Ray cluster; `local` for processes of this machine, `auto` for its cluster.",
    ),
]

WorkerCount = Annotated[
    int | None, typer.Option(min=1, help="With --ray: parts to make of the work.", show_default="one per node")
]

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]

Quiet = Annotated[bool, typer.Option("--quiet", help="No progress.")]
