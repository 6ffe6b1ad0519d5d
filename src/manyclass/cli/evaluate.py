"""manyclass evaluate: how often a classifier is right, on which classes, and what it takes for what."""

from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from manyclass._core.text import format_seconds
from manyclass.cli.terminal.command_errors import report_errors
from manyclass.cli.terminal.console import Console
from manyclass.cli.terminal.options import (
    Json,
    LabelFile,
    LabelSeparator,
    PriorOption,
    Quiet,
    Run,
    Threads,
    out_option,
    path_argument,
)

_SHOWN = 5


@report_errors("nothing was changed")
def evaluate(
    run: Run,
    data: Annotated[Path, path_argument("A store, .npy, .npz, ..., with labels.")],
    labels: LabelFile = None,
    label_separator: LabelSeparator = None,
    part: Annotated[str | None, typer.Option(help="A part of the split.", show_default="test, val, or all")] = None,
    prior: PriorOption = None,
    out: Annotated[Path | None, out_option("The file to write.", show_default="RUN/evaluations/DATA-PART.json")] = None,
    threads: Threads = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Judge a classifier on data with labels, which must have its columns and classes; classes go by name.

    Where classes are of unlike size, those of many (more than 100), medium and few (fewer than 20) examples to learn
    from are told apart, or thirds of the classes where one of these is empty. With --prior uniform rare classes are
    judged as if they were as frequent as others: the mean per class rises, and top-1 falls where frequent classes are
    frequent in DATA too.

    The result is kept with the run, where a report finds it. Of rows with several labels it is told how good the labels
    above their thresholds are (F1), and how good the order of rows and of classes is (average precision, precision at
    k; propensity-scored, rare labels count more).
    """
    import manyclass as mc

    console = Console(quiet, json)
    with mc.threads(threads):
        asked = {"labels": labels, "label_separator": label_separator, "subset": part, "prior": prior, "out": out}
        found = judge(run, data, console, **asked)
    console.json({**found.record, "path": None if found.path is None else str(found.path)})
    console.table("what next", findings(run, found.record, page=f"manyclass report {quote(str(run))}"))


def judge(run: Path, data: Path, console: Console, **asked: Any) -> Any:
    """The evaluation of a run on data, which is told of in a table."""
    import manyclass as mc

    told: dict[str, Any] = {"notify": console.info, "warn": console.warn, "progress": console.progress}
    found = mc.runs.evaluate(run, data, **asked, **told)
    console.table(f"{run} on {data}", _rows(found.record, found.path))
    return found


def _rows(record: dict[str, Any], file: Path | None) -> list[tuple[str, str]]:
    mistaken = [one for one in record["per_class"] if one["right"] < one["rows"]]
    worst = sorted(mistaken, key=lambda one: one["accuracy"])[:_SHOWN]
    return [
        ("rows", f"{record['rows']:,}, part {record['data']['part']}, {len(record['per_class']):,} classes"),
        *_accuracies(record),
        *([("prior", record["prior"])] if record["prior"] else []),
        *_by_size(record["by_size"] or []),
        *_confidence_rows(record),
        *(("worst class", f"{one['class']}: {one['right']} of {one['rows']}") for one in worst),
        *(
            ("confused", f"{one['class']} taken for {one['predicted']}: {one['count']}")
            for one in record["confusions"][:_SHOWN]
        ),
        ("time", format_seconds(record["seconds"])),
        *([("written to", str(file))] if file is not None else []),
    ]


def _accuracies(record: dict[str, Any]) -> list[tuple[str, str]]:
    """How good it is: by the best classes, or by all labels of rows that have several."""
    several = record.get("multilabel")
    if several is None:
        names = {"top-1": "top_1", "top-5": "top_5", "mean per class": "mean_per_class"}
        return [(name, f"{record[key]:.2%}") for name, key in names.items()]
    found = several["mean_average_precision"]
    at = {"precision": several["precision_at"], "propensity-scored precision": several["propensity_scored"]}
    return [
        ("labels of a row", f"{several['labels_per_row']:.2f}, predicted {several['predicted_per_row']:.2f}"),
        *((f"F1, {name}", f"{several[f'{name}_f1']:.2%}") for name in ("micro", "macro", "samples")),
        ("all labels right", f"{several['all_right']:.2%} of rows"),
        *([] if found is None else [("mean average precision", f"{found:.2%}")]),
        *((f"{what} at {one['k']}", f"{one['precision']:.2%}") for what, many in at.items() for one in many),
    ]


def _by_size(groups: list[dict[str, Any]]) -> list[tuple[str, str]]:
    from manyclass.evaluation.class_sizes import SizeGroup, describe_groups

    found = [SizeGroup(**group) for group in groups]
    rows = [
        (
            f"classes of {one.name} examples",
            f"{one.accuracy:.2%}, mean of {one.classes:,} classes, {one.smallest:,} to {one.largest:,} to learn from",
        )
        for one in found
    ]
    return [*rows, ("many, medium, few", describe_groups(found))] if rows else []


def _confidence_rows(record: dict[str, Any]) -> list[tuple[str, str]]:
    """What it says of itself, and how often sets hold the right class; nothing of a classifier without these."""
    known, sets = record["calibration"], record["sets"] or []
    if not known:
        return []
    error = known["error"]
    span = f"{error['low']:.1%} to {error['high']:.1%}; chance alone makes {error['chance']:.1%}"
    return [
        ("says of itself", f"{known['probability']:.2%}; bin by bin it is off by {error['value']:.1%} ({span})"),
        *(
            (
                f"sets for {one['promised']:.0%}",
                f"{one['coverage']:.2%} hold the right class, {one['size']:.2f} classes",
            )
            for one in sets
        ),
    ]


def findings(run: Path, record: dict[str, Any], page: str) -> list[tuple[str, str]]:
    """What a report says of it, without the pictures and the commands to try, which a terminal would break."""
    from manyclass.report.advice import advise
    from manyclass.runs.folder import is_run, read_run

    trained = read_run(run) if is_run(run) else None
    advice = advise(run if trained else None, trained, record)
    found = [(one.title.lower(), one.finding) for one in advice]
    what = "figures, and commands to try" if any(one.commands for one in advice) else "figures"
    return [*found, ("see", f"{page}, for {what}")] if trained else found
