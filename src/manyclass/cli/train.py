"""manyclass train: features with labels into a classifier, in a folder with the record of how it was made."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from manyclass.cli._console import print_json, print_table
from manyclass.cli._errors import complain, report_errors
from manyclass.cli._options import expand_path
from manyclass.penalties.norms import TraceNorm
from manyclass.runs.folder import RunFolder
from manyclass.runs.recipe import ClassWeight, ObjectiveName, Sampling, Tune, make_recipe
from manyclass.runs.run_record import run_rows, run_summary
from manyclass.runs.subsets import TEST_FRACTION_HELP as TEST_FRACTION
from manyclass.runs.subsets import Subset, read_subset, read_validation
from manyclass.runs.training import Job, train_run
from manyclass.solvers.batch.solve import solvers_of

_STOCHASTIC, _TRACE = "Options of all objectives but trace", "Options of --objective trace"

_SOLVERS = f"{', '.join(solvers_of(TraceNorm(1.0))[:-1])} or {solvers_of(TraceNorm(1.0))[-1]}."


@report_errors("give the same command with --resume to go on from what was kept")
def train(
    data: Annotated[
        Path,
        typer.Argument(callback=expand_path, help="A store, .npy, .npz, parquet, or a folder of shards, with labels."),
    ],
    out: Annotated[Path, typer.Option("-o", "--out", callback=expand_path, help="The folder of the run to write.")],
    objective: Annotated[
        ObjectiveName, typer.Option(help="One-vs-rest, Crammer and Singer, ranking losses, softmax, or the trace norm.")
    ] = ObjectiveName.ovr,
    loss: Annotated[
        str | None,
        typer.Option(
            help="ovr: hinge, squared_hinge, logistic, squared; trace: softmax, smoothed_hinge, squared, logistic.",
            show_default="hinge, or softmax for trace",
        ),
    ] = None,
    tune: Annotated[
        list[Tune] | None, typer.Option(help="Choose this by whole fits on validation; may be given several times.")
    ] = None,
    labels: Annotated[str | None, typer.Option(help="One label per row: a CSV or .npy file.")] = None,
    part: Annotated[
        str | None, typer.Option(help="Rows of this part of the split.", show_default="train, or all")
    ] = None,
    test_fraction: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help=TEST_FRACTION, show_default="none")
    ] = None,
    validation: Annotated[
        str | None, typer.Option(help="Data to stop by and to choose by, or a part of DATA, in place of rows held out.")
    ] = None,
    validation_fraction: Annotated[
        float | None, typer.Option(help="Share of every class to hold out.", show_default="0.1")
    ] = None,
    refit: Annotated[
        bool | None, typer.Option("--refit/--no-refit", help="Train on all rows at the end.", show_default="refit")
    ] = None,
    class_weight: Annotated[ClassWeight, typer.Option(help="Make every class count the same.")] = ClassWeight.none,
    tolerance: Annotated[
        float | None, typer.Option(help="When to stop.", show_default="0.001, or 0.0001 for trace")
    ] = None,
    beta: Annotated[
        str | None,
        typer.Option(
            help="Negatives per positive of ovr: a number, auto, or none for all.",
            show_default="auto",
            rich_help_panel=_STOCHASTIC,
        ),
    ] = None,
    regularization: Annotated[
        float | None, typer.Option(help="Strength of the ridge.", show_default="0", rich_help_panel=_STOCHASTIC)
    ] = None,
    step: Annotated[
        str | None, typer.Option(help="Size of a step, or auto.", show_default="auto", rich_help_panel=_STOCHASTIC)
    ] = None,
    step_decay: Annotated[
        bool | None, typer.Option("--step-decay", help="Make steps smaller.", rich_help_panel=_STOCHASTIC)
    ] = None,
    max_epochs: Annotated[
        int | None, typer.Option(help="Epochs at most.", show_default="100", rich_help_panel=_STOCHASTIC)
    ] = None,
    early_stopping: Annotated[
        bool | None,
        typer.Option(
            "--early-stopping/--no-early-stopping",
            help="Stop when validation gets no better.",
            show_default="early-stopping",
            rich_help_panel=_STOCHASTIC,
        ),
    ] = None,
    patience: Annotated[
        int | None,
        typer.Option(help="Judgements without progress.", show_default="10", rich_help_panel=_STOCHASTIC),
    ] = None,
    sampling: Annotated[
        Sampling | None,
        typer.Option(
            help="Draw every example, or every class, equally often.",
            show_default="uniform",
            rich_help_panel=_STOCHASTIC,
        ),
    ] = None,
    trace: Annotated[
        float | None, typer.Option(help="Strength of the trace norm.", show_default="0.001", rich_help_panel=_TRACE)
    ] = None,
    ridge: Annotated[
        float | None, typer.Option(help="Strength of the ridge.", show_default="0", rich_help_panel=_TRACE)
    ] = None,
    traces: Annotated[
        str | None,
        typer.Option(
            help="Of --tune path: how many strengths, or which, with commas.", show_default="10", rich_help_panel=_TRACE
        ),
    ] = None,
    ridges: Annotated[
        str | None, typer.Option(help="The same for ridges.", show_default="10", rich_help_panel=_TRACE)
    ] = None,
    solver: Annotated[
        str | None,
        typer.Option(
            help=_SOLVERS,
            show_default="auto",
            rich_help_panel=_TRACE,
        ),
    ] = None,
    max_iter: Annotated[
        int | None, typer.Option(help="Steps of the solver at most.", show_default="1000", rich_help_panel=_TRACE)
    ] = None,
    max_seconds: Annotated[
        float | None, typer.Option(help="Seconds at most.", show_default="no limit", rich_help_panel=_TRACE)
    ] = None,
    fit_intercept: Annotated[
        bool | None,
        typer.Option(
            "--fit-intercept/--no-fit-intercept",
            help="Learn a bias.",
            show_default="fit-intercept",
            rich_help_panel=_TRACE,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same model.")] = 0,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads to use; by default all.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was interrupted or killed.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a run that is there.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Train a classifier. OUT holds the model, and a record of settings, data, history and results.

    Of data with a split, the train part is used; where there is none, --test-fraction keeps rows for `evaluate`. A run
    that was interrupted or killed goes on with --resume, to the same model as if nothing had happened.
    """  # fmt: skip
    import manyclass as mc

    options = {
        "loss": loss, "validation_fraction": validation_fraction, "refit": refit, "tolerance": tolerance, "beta": beta,
        "class_weight": class_weight, "regularization": regularization, "step": step, "step_decay": step_decay,
        "max_epochs": max_epochs, "early_stopping": early_stopping, "patience": patience, "sampling": sampling,
        "trace": trace, "ridge": ridge, "traces": traces, "ridges": ridges, "solver": solver, "max_iter": max_iter,
        "max_seconds": max_seconds, "fit_intercept": fit_intercept,
    }  # fmt: skip
    recipe = make_recipe(objective, tune or [], seed, options)
    if validation is not None and not recipe.judges:
        raise typer.BadParameter("--validation does not go with --objective trace, unless there is --tune path")
    folder = RunFolder(out)
    folder.check(resume, overwrite)
    tell = (lambda message: None) if quiet or json else complain
    with mc.threads(threads):
        examples = _examples(data, labels, part, test_fraction, seed, tell)
        judged = None if validation is None else _judged(validation, examples, labels)
        given = {
            "part": examples.part, "labels": labels, "validation": validation, "test_fraction": test_fraction
        }  # fmt: skip
        job = Job(recipe, examples, judged, given, sys.argv[1:])
        record = train_run(folder, job, overwrite, quiet or json, tell)
    result = {"path": str(out), **run_summary(record)}
    if json:
        print_json(result)
    else:
        print_table(str(out), run_rows(result))


def _examples(
    source: Path,
    labels: str | None,
    part: str | None,
    test_fraction: float | None,
    seed: int,
    tell: Callable[[str], None],
) -> Subset:
    examples = read_subset(source, labels, part, ("train",), test_fraction, seed)
    which = f" of the part {examples.part}" if examples.part != "all" else ""
    tell(f"training on {examples.X.shape[0]:,} rows{which} of {source}")
    return examples


def _judged(validation: str, examples: Subset, labels: str | None) -> Subset:
    """The data that a path names, or a part of the data to train on."""
    judged = _named(validation, examples, labels)
    if judged.data("validation")["fingerprint"] == examples.data("train")["fingerprint"]:
        raise ValueError(f"--validation must be other rows than those to train on; got {validation}")
    return judged


def _named(validation: str, examples: Subset, labels: str | None) -> Subset:
    path = Path(validation).expanduser()
    if path.exists():
        return read_validation(path)
    try:
        return read_subset(examples.source, labels, validation, ())
    except ValueError as error:
        raise ValueError(f"--validation must be a path or a part; {error}") from error
