"""manyclass train: features with labels into a classifier, in a folder with the record of how it was made."""

import math
import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from manyclass._core.errors import SettingsError
from manyclass.cli.terminal.command_errors import report_errors
from manyclass.cli.terminal.console import Console
from manyclass.cli.terminal.options import (
    Data,
    Json,
    LabelFile,
    LabelSeparator,
    Quiet,
    RayAddress,
    TestFraction,
    WorkerCount,
    WorkerThreads,
    out_option,
    path_option,
)
from manyclass.runs.recipe import ObjectiveName, Tune


class ClassWeight(StrEnum):
    """How much examples count."""

    none = "none"
    balanced = "balanced"


class Sampling(StrEnum):
    """How examples are drawn."""

    uniform = "uniform"
    balanced = "balanced"


# Options that are no settings of an estimator.
_OF_THE_RUN = {
    "data", "out", "objective", "tune", "labels", "label_separator", "part", "test_fraction", "sample",
    "validation", "plan", "classes", "prior", "center", "seed", "ray", "workers", "threads", "resume", "overwrite",
    "json", "quiet",
}  # fmt: skip

_STOCHASTIC, _TRACE = "Options of all objectives but square and trace", "Options of --objective trace"

_PARTS = "Options of ovr on several machines"

_ROWS, _FIT = "Options of which rows are learned from", "Options of how they are learned from"


@report_errors("give the same command with --resume to go on from what was kept")
def train(
    data: Data,
    out: Annotated[Path, out_option("The folder of the run to write.")],
    objective: Annotated[
        ObjectiveName,
        typer.Option(
            help="auto: one-vs-rest, or what is better on a sample. Others: Crammer and Singer, ranking losses, "
            "softmax, squares in closed form, the trace norm."
        ),
    ] = ObjectiveName.auto,
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
    labels: LabelFile = None,
    label_separator: LabelSeparator = None,
    part: Annotated[
        str | None, typer.Option(help="Rows of this part.", show_default="train, or all", rich_help_panel=_ROWS)
    ] = None,
    test_fraction: TestFraction = None,
    sample: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Rows to train on at most, one of every class or more.",
            show_default="all",
            rich_help_panel=_ROWS,
        ),
    ] = None,
    validation: Annotated[
        str | None,
        typer.Option(
            help="Data to stop by and to choose by, or a part of DATA, in place of rows held out.",
            rich_help_panel=_ROWS,
        ),
    ] = None,
    validation_fraction: Annotated[
        float | None,
        typer.Option(help="Share of every class to hold out.", show_default="0.1", rich_help_panel=_ROWS),
    ] = None,
    refit: Annotated[
        bool | None,
        typer.Option(
            "--refit/--no-refit",
            help="Train on all rows at the end; not needed where very few are held out.",
            show_default="refit",
            rich_help_panel=_FIT,
        ),
    ] = None,
    class_weight: Annotated[
        ClassWeight, typer.Option(help="Make every class count the same.", rich_help_panel=_FIT)
    ] = ClassWeight.none,
    prior: Annotated[
        str | None,
        typer.Option(
            help="How frequent classes will be in use: uniform, for rare classes, or a CSV file of class and share.",
            show_default="as in DATA",
            rich_help_panel=_FIT,
        ),
    ] = None,
    center: Annotated[
        Path | None,
        path_option(
            "Of square: weights known before, such as text embeddings of the classes in their order, or an older run.",
            rich_help_panel=_FIT,
        ),
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(help="When to stop.", show_default="0.001, or 0.0001 for trace", rich_help_panel=_FIT),
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
        float | None,
        typer.Option(
            help="Strength of the ridge; not of trace.",
            show_default="0, or for square the best by leave-one-out",
            rich_help_panel=_FIT,
        ),
    ] = None,
    step: Annotated[
        str | None, typer.Option(help="Size of a step, or auto.", show_default="auto", rich_help_panel=_STOCHASTIC)
    ] = None,
    step_decay: Annotated[
        bool | None,
        typer.Option(
            "--step-decay", help="Make steps smaller; with --regularization or --t0.", rich_help_panel=_STOCHASTIC
        ),
    ] = None,
    t0: Annotated[
        float | None,
        typer.Option(
            help="Of --step-decay: examples of a class after which a step is half of the first.",
            show_default="1 / (regularization * step)",
            rich_help_panel=_STOCHASTIC,
        ),
    ] = None,
    averaging: Annotated[
        bool | None,
        typer.Option(
            "--averaging/--no-averaging",
            help="Keep the mean of the machines on the way, or the last.",
            show_default="averaging",
            rich_help_panel=_STOCHASTIC,
        ),
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
            help="auto, factored, fista, rank_one, published or stochastic.",
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
    plan: Annotated[
        Path | None,
        typer.Option(
            help="A run of ovr, such as one on a sample, whose step, beta and epochs are taken.",
            rich_help_panel=_PARTS,
        ),
    ] = None,
    classes: Annotated[
        str | None,
        typer.Option(
            metavar="I/N",
            help="Machines of a part of the classes only, such as 3/16; manyclass join makes one run of all parts.",
            rich_help_panel=_PARTS,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same model.")] = 0,
    ray: RayAddress = None,
    workers: WorkerCount = None,
    threads: WorkerThreads = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was interrupted or killed.")] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a run that is there, once the new one is done.")
    ] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train a classifier. OUT holds the model, and a record of settings, data, history and results.

    Of data with a split, the train part is used; where there is none, --test-fraction keeps rows for `evaluate`. A run
    that was interrupted or killed goes on with --resume, to the same model as if nothing had happened.

    With --ray the nodes of a Ray cluster share one-vs-rest (a range of classes each), square and trace (a range of rows
    each), to the same model; DATA and OUT must lie on storage that all nodes share.
    """  # fmt: skip
    # The other options are arguments of the estimator.
    given = {name: value for name, value in locals().items() if name not in _OF_THE_RUN and value is not None}
    import manyclass as mc
    from manyclass.cli.terminal.cluster_option import on_cluster
    from manyclass.runs.run_record import run_rows, run_summary

    settings = parse_settings(given)
    console = Console(quiet, json)
    callbacks = [] if console.silent else [mc.Progress()]
    with mc.threads(threads), on_cluster(ray, workers, console, threads):
        run = mc.runs.train(
            data,
            out,
            objective,
            labels=labels,
            label_separator=label_separator,
            subset=part,
            validation=validation,
            test_fraction=test_fraction,
            sample=sample,
            tune=tune or (),
            plan=plan,
            classes=classes,
            prior=prior,
            center=center,
            seed=seed,
            resume=resume,
            overwrite=overwrite,
            callbacks=callbacks,
            arguments=sys.argv[1:],
            notify=console.info,
            warn=console.warn,
            **settings,
        )
    result = {"path": str(out), **run_summary(run.record)}
    console.json(result)
    console.table(str(out), [*run_rows(result), *_next_step(result, labels)])


def _next_step(run: dict[str, Any], labels: str | None) -> list[tuple[str, str]]:
    """The command that tests a run; a part of one must be joined with the others first."""
    if run["shard"]:
        return []
    if run["part"] == "all":
        return [("next", f"manyclass evaluate {quote(run['path'])} TEST, of other rows; or train with --test-fraction")]
    options = "" if labels is None else f" --labels {quote(labels)}"
    return [("next", f"manyclass evaluate {quote(run['path'])} {quote(run['data'])}{options}")]


def parse_settings(words: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of an estimator as words give them: numbers and lists of them, and "none" for None.

    >>> parse_settings({"beta": "none", "step": "auto", "traces": "0.1,0.01", "ridges": "3", "max_epochs": 5})
    {'beta': None, 'step': 'auto', 'traces': [0.1, 0.01], 'ridges': 3, 'max_epochs': 5}
    """
    return {name: _PARSERS[name](name, word) if name in _PARSERS else word for name, word in words.items()}


def _beta(name: str, word: Any) -> Any:
    return None if word == "inf" else _number_or_word(name, word, ("auto", "none"))


def _step(name: str, word: Any) -> Any:
    return _number_or_word(name, word, ("auto",))


def _number_or_word(name: str, word: Any, words: tuple[str, ...]) -> Any:
    if word in words:
        return None if word == "none" else word
    try:
        return _finite(word)
    except ValueError:
        raise SettingsError(f"`{name}` must be a number or {' or '.join(words)}; got {word}") from None


def _finite(word: Any) -> float:
    number = float(word)
    if not math.isfinite(number):
        raise ValueError(word)
    return number


def _strengths(name: str, word: str) -> int | list[float]:
    """How many, or which ones."""
    try:
        return int(word) if word.isdigit() else [_finite(one) for one in word.split(",")]
    except ValueError:
        raise SettingsError(f"`{name}` must be a count, or strengths with commas; got {word}") from None


def _word(name: str, word: Any) -> str | None:
    return None if word == "none" else str(word)


_PARSERS = {
    "beta": _beta,
    "step": _step,
    "traces": _strengths,
    "ridges": _strengths,
    "class_weight": _word,
    "sampling": _word,
}
