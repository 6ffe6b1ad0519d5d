"""manyclass calibrate: probabilities of a classifier that fit rows which it has not seen."""

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from manyclass.cli.terminal.command_errors import report_errors
from manyclass.cli.terminal.console import Console
from manyclass.cli.terminal.options import Json, LabelFile, Quiet, Run, Threads, path_argument, path_option


@report_errors("nothing was changed")
def calibrate(
    run: Run,
    data: Annotated[Path, path_argument("A store, .npy, .npz, ..., with labels, of rows that it has not seen.")],
    labels: LabelFile = None,
    part: Annotated[str | None, typer.Option(help="A part of the split.", show_default="val, test, or all")] = None,
    known: Annotated[
        Path | None, path_option("Features that it was trained on: --unknown of predict then tells more.")
    ] = None,
    threads: Threads = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find the temperature at which the probabilities of a classifier fit data best, and keep it with the classifier.

    Predicted classes stay as they are; evaluations of the run are removed, as they are of what it was before. Sets of
    classes (`manyclass predict --coverage`) and rows of none of the classes (`--unknown`) go by these rows from then
    on. With --known, rows are told by their distance to classes or rows too, for which columns x columns numbers are
    kept, and up to 16 MB of rows where these tell more.
    """
    import manyclass as mc
    from manyclass.runs.folder import EVALUATIONS

    console = Console(quiet, json)
    judged = set((run / EVALUATIONS).glob("*.json"))
    with mc.threads(threads):
        found = mc.runs.calibrate(run, data, labels=labels, subset=part, known=known, warn=console.warn)
    judged -= set((run / EVALUATIONS).glob("*.json"))
    console.json({"path": str(run), **vars(found)})
    console.table(
        str(run),
        [
            ("temperature", f"{found.temperature:.4g}, found on {found.rows:,} rows"),
            ("right", f"{found.accuracy:.2%}"),
            ("says of itself", f"{found.confidence:.2%}"),
            ("log loss", f"{found.log_loss:.4f}"),
            *([("next", f"manyclass evaluate {quote(str(run))} DATA: its evaluations are removed")] if judged else []),
        ],
    )
