"""Accuracy, overall and for each class."""

from collections import Counter
from typing import Any

from manyclass.report.gathering import Material
from manyclass.report.markup import element, joined
from manyclass.report.parts import Section, paragraph
from manyclass.report.tables import Figure, table
from manyclass.report.words import UNKNOWN, counted, percent, whole

_MOST = 4000  # rows of the table; of more classes the ends are shown
_HEADS = ("class", "accuracy", "right", "rows", "most often taken for")


def accuracy(material: Material) -> Section | None:
    """The section "Accuracy" of the best run; None without an evaluation."""
    if not material.measured:
        return None
    run, evaluation = material.measured[0]
    classes = sorted(evaluation["per_class"], key=lambda one: (share_of(one), -one["rows"]))
    shown = classes if len(classes) <= _MOST else [*classes[: _MOST // 2], *classes[-_MOST // 2 :]]
    mistakes = _mistakes(evaluation)
    rows = [_row(one, mistakes) for one in shown]
    note = f" Only the {_MOST:,} worst and best are listed." if len(shown) < len(classes) else ""
    words = f"{_overall(run.name, evaluation)} {_spread(classes)}{note}"
    listing = element("div", table(_HEADS, rows, class_="sortable searched"), class_="tall")
    return Section("accuracy", "Accuracy by class", joined(paragraph(words), listing))


def share_of(one: dict[str, Any]) -> float:
    """Accuracy of a class; of one without rows 1, as nothing was wrong."""
    if one["accuracy"] is not None:
        return float(one["accuracy"])
    return one["right"] / one["rows"] if one["rows"] else 1.0


def _overall(name: str, evaluation: dict[str, Any]) -> str:
    further = (
        f", and {percent(evaluation['top_5'])} have it among the first five" if evaluation["top_5"] is not None else ""
    )
    return f"{name} names the class of {percent(evaluation['top_1'])} of {counted(evaluation['rows'], 'row')}{further}."


def _spread(classes: list[dict[str, Any]]) -> str:
    shares = [share_of(one) for one in classes]
    perfect, half = sum(share == 1 for share in shares), sum(share < 0.5 for share in shares)
    return (
        f"Of {counted(len(classes), 'class', 'classes')}, {perfect:,} {'is' if perfect == 1 else 'are'} always "
        f"recognized and {half:,} less than half of the time."
    )


def _mistakes(evaluation: dict[str, Any]) -> dict[str, str]:
    often: dict[str, Counter[str]] = {}
    for pair in evaluation["confusions"] or []:
        often.setdefault(pair["class"], Counter())[pair["predicted"]] += pair["count"]
    return {name: counts.most_common(1)[0][0] for name, counts in often.items()}


def _row(one: dict[str, Any], mistakes: dict[str, str]) -> list[Any]:
    share = share_of(one)
    figures = [Figure(whole(one[key]), one[key]) for key in ("right", "rows")]
    return [one["class"], Figure(percent(share), share, share), *figures, mistakes.get(one["class"], UNKNOWN)]
