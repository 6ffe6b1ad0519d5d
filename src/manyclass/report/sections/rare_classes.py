"""Rare classes: accuracy of classes of many, medium and few examples to learn from, and what another prior does."""

from typing import Any

from manyclass._core.text import MISSING, format_percent, pluralize
from manyclass.evaluation.class_sizes import SizeGroup, describe_groups
from manyclass.evaluation.proportions import wilson_interval
from manyclass.report.components import Section, paragraph
from manyclass.report.html import NumberCell, join_markup, table
from manyclass.report.report_data import ReportData, RunReport

_ENDS = ("top-1", "mean per class")


def show_class_sizes(report: ReportData) -> Section | None:
    """Show the accuracy of frequent and of rare classes, by every run, and with other priors if some were tried.

    Parameters
    ----------
    report : ReportData
        The records of the page.

    Returns
    -------
    Section or None
        The section; None where no evaluation knows classes of unlike size.
    """
    found = [
        (_row_name(run, one), one) for run, evaluation in report.evaluated_runs for one in _same_test(run, evaluation)
    ]
    measured = [(name, one) for name, one in found if one["by_size"]]
    if not measured:
        return None
    first = _groups(measured[0][1])
    heads = ["run", *(_heading(group) for group in first), *_ENDS]
    rows = [[name, *_cells(one, first)] for name, one in measured]
    words = f"{_describe_groups(first)} {_describe_best(measured)}"
    return Section("sizes", "Frequent and rare classes", join_markup(paragraph(words), table(heads, rows)))


def _same_test(run: RunReport, evaluation: dict[str, Any]) -> list[dict[str, Any]]:
    """The evaluation, and those of the same rows with other priors."""
    others = [
        one
        for one in run.evaluations.values()
        if one is not evaluation and one["prior"] and one["fingerprint"] == evaluation["fingerprint"]
    ]
    return [evaluation, *others]


def _row_name(run: RunReport, evaluation: dict[str, Any]) -> str:
    return f"{run.name}, prior {evaluation['prior']}" if evaluation["prior"] else run.name


def _groups(evaluation: dict[str, Any]) -> list[SizeGroup]:
    return [SizeGroup(**{key: one[key] for key in SizeGroup._fields}) for one in evaluation["by_size"] or []]


def _heading(group: SizeGroup) -> str:
    return f"{group.name}: {group.smallest:,} to {group.largest:,} examples"


def _cells(evaluation: dict[str, Any], shown: list[SizeGroup]) -> list[Any]:
    named = {group.name: group for group in _groups(evaluation)}
    groups = [_accuracy(named[one.name].accuracy) if one.name in named else MISSING for one in shown]
    return [*groups, *(_accuracy(evaluation[key]) for key in ("top_1", "mean_per_class"))]


def _accuracy(share: float | None) -> Any:
    return MISSING if share is None else NumberCell(format_percent(share), share, share)


def _describe_groups(groups: list[SizeGroup]) -> str:
    sizes = ", ".join(f"{pluralize(one.classes, 'class', 'classes')} of {one.name}" for one in groups)
    return f"Accuracy as the mean over classes: {sizes} ({describe_groups(groups)})."


def _describe_best(measured: list[tuple[str, dict[str, Any]]]) -> str:
    """What the first run does on frequent and on rare classes, with what so few rows leave open."""
    name, evaluation = measured[0]
    groups = _groups(evaluation)
    ends = [groups[0], groups[-1]] if len(groups) > 1 else groups
    parts = [
        f"{format_percent(one.right / one.rows)} of {pluralize(one.rows, 'row')} of classes of {one.name} "
        f"({100 * wilson_interval(one.right, one.rows)[0]:.1f} to "
        f"{format_percent(wilson_interval(one.right, one.rows)[1])})"
        for one in ends
        if one.rows
    ]
    return f"{name} is right on {' and on '.join(parts)}."
