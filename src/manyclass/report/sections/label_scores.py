"""Several labels per row: how good the labels are that runs predict, and the order in which they rank them."""

from typing import Any

from manyclass._core.text import MISSING, format_percent
from manyclass.report.components import Section, paragraph
from manyclass.report.html import NumberCell, join_markup, table
from manyclass.report.report_data import ReportData

_SHARES = (
    ("F1, micro", "micro_f1"),
    ("F1, macro", "macro_f1"),
    ("F1, of rows", "samples_f1"),
    ("all labels right", "all_right"),
    ("mean average precision", "mean_average_precision"),
)

_ABOUT = (
    "F1 joins how many of the labels that are predicted are right with how many of those that are right are "
    "predicted: over all of them (micro), or as a mean over labels, of which rare ones count as much as frequent "
    "ones (macro), or over rows. Average precision is about the order of rows for a label, whatever its threshold. "
    "Precision at k is the part of the k best labels of a row that it has; propensity-scored, rare labels count "
    "more, and 100 % is the best that any could reach."
)


def show_several_labels(report: ReportData) -> Section | None:
    """Show F1, average precision and precision at k of runs on rows with several labels.

    Parameters
    ----------
    report : ReportData
        The records of the page.

    Returns
    -------
    Section or None
        The section; None where rows have one label each.
    """
    judged = [
        (f"{run.name}, {name}", several)
        for run in report.runs
        for name, evaluation in run.evaluations.items()
        if (several := evaluation.get("multilabel"))
    ]
    if not judged:
        return None
    rows = [[words, *(_cell(one) for one in figures)] for words, figures in _figures([one for _, one in judged])]
    body = join_markup(paragraph(_ABOUT), table(["", *(name for name, _ in judged)], rows))
    return Section("labels", "Several labels per row", body)


def _figures(judged: list[dict[str, Any]]) -> list[tuple[str, list[float | None]]]:
    """What is told of every evaluation, a line each."""
    lines = [(words, [one.get(key) for one in judged]) for words, key in _SHARES]
    for words, key in (("precision at", "precision_at"), ("propensity-scored precision at", "propensity_scored")):
        found = [{entry["k"]: entry["precision"] for entry in one.get(key) or []} for one in judged]
        lines += [(f"{words} {k}", [one.get(k) for one in found]) for k in sorted({k for one in found for k in one})]
    return lines


def _cell(value: float | None) -> NumberCell:
    return NumberCell(MISSING if value is None else format_percent(value), value)
