"""Classes: accuracy of each, pairs that are most often confused, and the best and the worst with their images."""

from collections import Counter
from typing import Any

from manyclass._core.text import MISSING, format_count, format_percent, pluralize
from manyclass.report.advice import confused_pairs
from manyclass.report.components import Section, paragraph
from manyclass.report.html import Markup, NumberCell, element, join_markup, table
from manyclass.report.report_data import ReportData
from manyclass.report.thumbnails import Thumbnails, mark_thumbnail
from manyclass.runs.folder import EVALUATIONS

_MOST = 4000  # rows of the table; of more classes the ends are shown

_HEADS = ("class", "accuracy", "right", "rows", "most often taken for")


def show_accuracy(report: ReportData) -> Section | None:
    """Show the accuracy of the best run, class by class.

    Parameters
    ----------
    report : ReportData
        The records of the page.

    Returns
    -------
    Section or None
        The section; None without an evaluation.
    """
    if not report.evaluated_runs:
        return None
    run, evaluation = report.evaluated_runs[0]
    classes = sorted(evaluation["per_class"], key=lambda one: (class_accuracy(one), -one["rows"]))
    shown = classes if len(classes) <= _MOST else [*classes[: _MOST // 2], *classes[-_MOST // 2 :]]
    mistakes = _commonest_mistakes(evaluation)
    rows = [_row(one, mistakes) for one in shown]
    note = f" Only the {_MOST:,} worst and best are listed." if len(shown) < len(classes) else ""
    words = f"{_describe_overall(run.name, evaluation)} {_describe_spread(classes)}{note}"
    listing = element("div", table(_HEADS, rows, class_="sortable searched"), class_="tall")
    return Section("accuracy", "Accuracy by class", join_markup(paragraph(words), listing))


def class_accuracy(one: dict[str, Any]) -> float:
    """Accuracy of a class; of one without rows 1, as nothing was wrong."""
    if one["accuracy"] is not None:
        return float(one["accuracy"])
    return one["right"] / one["rows"] if one["rows"] else 1.0


def _describe_overall(name: str, evaluation: dict[str, Any]) -> str:
    further = (
        f", and {format_percent(evaluation['top_5'])} have it among the first five"
        if evaluation["top_5"] is not None
        else ""
    )
    top_1, rows = format_percent(evaluation["top_1"]), pluralize(evaluation["rows"], "row")
    mean = evaluation["mean_per_class"]
    each = "" if mean is None else f" With every class counting the same, it is {format_percent(mean)}."
    if evaluation.get("multilabel"):
        return f"In {top_1} of {rows}, a right label stands first in the order of {name}.{each}"
    return f"{name} names the class of {top_1} of {rows}{further}.{each}"


def _describe_spread(classes: list[dict[str, Any]]) -> str:
    accuracies = [class_accuracy(one) for one in classes]
    perfect, half = sum(accuracy == 1 for accuracy in accuracies), sum(accuracy < 0.5 for accuracy in accuracies)
    return (
        f"Of {pluralize(len(classes), 'class', 'classes')}, {perfect:,} {'is' if perfect == 1 else 'are'} always "
        f"recognized and {half:,} less than half of the time."
    )


def _commonest_mistakes(evaluation: dict[str, Any]) -> dict[str, str]:
    often: dict[str, Counter[str]] = {}
    for pair in evaluation["confusions"] or []:
        often.setdefault(pair["class"], Counter())[pair["predicted"]] += pair["count"]
    return {name: counts.most_common(1)[0][0] for name, counts in often.items()}


def _row(one: dict[str, Any], mistakes: dict[str, str]) -> list[Any]:
    accuracy = class_accuracy(one)
    figures = [NumberCell(format_count(one[key]), one[key]) for key in ("right", "rows")]
    return [
        one["class"],
        NumberCell(format_percent(accuracy), accuracy, accuracy),
        *figures,
        mistakes.get(one["class"], MISSING),
    ]


_REAL = "more than chance"

_PAIRS, _OF_PAIR = 12, 3  # confused pairs that are shown, and images of each


def show_confusions(report: ReportData) -> Section | None:
    """Show the most confused pairs of the best run.

    Parameters
    ----------
    report : ReportData
        The records of the page.

    Returns
    -------
    Section or None
        The section; None if it confused nothing.
    """
    run, evaluation = next(iter(report.evaluated_runs), (None, {}))
    pairs = (evaluation.get("confusions") or [])[:_PAIRS]
    if run is None or not pairs:
        return None
    thumbnails = Thumbnails(evaluation["pictures"], run.folder / EVALUATIONS, report.images, report.taken)
    rows = {one["class"]: one["rows"] for one in evaluation["per_class"]}
    representatives = _representatives(evaluation)
    sure = {frozenset(pair[:2]) for pair in confused_pairs(evaluation)}
    cards = [_pair_card(pair, rows.get(pair["class"]), sure, representatives, thumbnails) for pair in pairs]
    body = join_markup(paragraph(_describe_confusion(run.name, pairs[0])), element("div", cards, class_="cards"))
    return Section("confusions", "Most confused pairs", body)


def _describe_confusion(name: str, first: dict[str, Any]) -> str:
    return (
        f"{name} takes {first['class']} for {first['predicted']} most often, {pluralize(first['count'], 'time')}. "
        "Shown are rows of the first class that were given the second; after an arrow, one of the second. Pairs "
        f"without the words “{_REAL}” may be confused by chance."
    )


def _representatives(evaluation: dict[str, Any]) -> dict[str, str]:
    """For classes, the name of a row of theirs, well recognized if one is known."""
    found = {pair["class"]: pair["examples"][0] for pair in evaluation["confusions"][::-1] if pair["examples"]}
    return found | {one["class"]: one["right"][0] for one in evaluation["examples"] or [] if one["right"]}


def _pair_card(
    pair: dict[str, Any],
    rows: int | None,
    sure: set[frozenset[str]],
    representatives: dict[str, str],
    thumbnails: Thumbnails,
) -> Markup:
    true, predicted = pair["class"], pair["predicted"]
    example = pair["representative"] or representatives.get(predicted)
    shown = [thumbnails.show(name, f"{name}, {true} taken for {predicted}") for name in pair["examples"][:_OF_PAIR]]
    if shown and example is not None:
        shown.append(element("span", "→", class_="arrow"))
        shown.append(thumbnails.show(example, f"{example}, {predicted}"))
    often = pluralize(pair["count"], "time") + (
        f" of {rows:,} ({format_percent(pair['count'] / rows, 0)})" if rows else ""
    )
    tag = element("b", _REAL, class_="tag") if frozenset((true, predicted)) in sure else None
    head = element("p", element("b", true), " taken for ", element("b", predicted), element("small", often), tag)
    return element("div", head, element("div", shown, class_="strip") if shown else None, class_="card")


_OF_CLASS, _WRONG = 5, 2  # images of a class, and how many of them are mistakes where both are known


def show_examples(report: ReportData) -> Section | None:
    """Show the best and the worst classes of the best run, with images.

    Parameters
    ----------
    report : ReportData
        The records of the page.

    Returns
    -------
    Section or None
        The section; None without examples.
    """
    run, evaluation = next(iter(report.evaluated_runs), (None, {}))
    accuracies = {one["class"]: class_accuracy(one) for one in evaluation.get("per_class", [])}
    known = [one for one in evaluation.get("examples") or [] if one["class"] in accuracies]
    if run is None or not known:
        return None
    thumbnails = Thumbnails(evaluation["pictures"], run.folder / EVALUATIONS, report.images, report.taken)
    known.sort(key=lambda one: -accuracies[one["class"]])
    worst = [one for one in known[(len(known) + 1) // 2 :][::-1] if accuracies[one["class"]] < 1]
    groups = [("Best", known[: len(known) - len(worst)]), ("Worst", worst)]
    body = [_class_cards(title, some, accuracies, thumbnails) for title, some in groups if some]
    title = "Best and worst classes" if worst else "Classes without mistakes"
    return Section("examples", title, join_markup(paragraph(_describe_examples(known, accuracies)), body))


def _describe_examples(known: list[dict[str, Any]], accuracies: dict[str, float]) -> str:
    first, last = known[0]["class"], known[-1]["class"]
    other = f", {last} in {format_percent(accuracies[last], 0)}" if last != first else ""
    return (
        f"{first} is right in {format_percent(accuracies[first], 0)} of its rows{other}. "
        "Right ones have a solid frame and ✓; wrong ones a dashed frame, ✗, and what they were taken for."
    )


def _class_cards(
    title: str, known: list[dict[str, Any]], accuracies: dict[str, float], thumbnails: Thumbnails
) -> Markup:
    cards = [_class_card(one, accuracies[one["class"]], thumbnails) for one in known]
    return join_markup(element("h3", title), element("div", cards, class_="cards"))


def _class_card(one: dict[str, Any], accuracy: float, thumbnails: Thumbnails) -> Markup:
    wrong = one["wrong"][: _WRONG if one["right"] else _OF_CLASS]
    right = one["right"][: _OF_CLASS - len(wrong)]
    shown = [mark_thumbnail(thumbnails.show(name, f"{name}: right"), True) for name in right]
    shown += [
        mark_thumbnail(thumbnails.show(row["name"], _describe_mistake(row)), False, row["predicted"]) for row in wrong
    ]
    head = element("p", element("b", one["class"]), element("small", format_percent(accuracy)))
    return element("div", head, element("div", shown, class_="strip"), class_="card")


def _describe_mistake(row: dict[str, Any]) -> str:
    return f"{row['name']}: taken for {row['predicted']}" if row["predicted"] else f"{row['name']}: wrong"
