"""Reliability diagram: whether probabilities are what they say, and whether sets hold the right class as promised."""

from typing import Any

from manyclass._core.text import format_percent, format_points, pluralize
from manyclass.report.components import Section, add_caption, legend, paragraph
from manyclass.report.figures.lines import Axis, Curve, draw_lines
from manyclass.report.html import Markup, NumberCell, join_markup, table
from manyclass.report.report_data import ReportData, RunReport

_HEADS = ("run", "promised", "sets that hold the right class", "classes in a set", "sets of one class")

_AS_SAID = "as said"  # the line of those whose probabilities are just right

Evaluated = tuple[RunReport, dict[str, Any]]


def show_calibration(report: ReportData) -> Section | None:
    """Show what classifiers say of themselves beside how often they are right.

    Parameters
    ----------
    report : ReportData
        The records of the page.

    Returns
    -------
    Section or None
        The section; None where no evaluation has probabilities.
    """
    judged = [*report.evaluated_runs, *report.runs_on_other_tests]
    found = [(run, evaluation) for run, evaluation in judged if evaluation["calibration"]]
    if not found:
        return None
    return Section("calibration", "How sure it is", join_markup(_reliability(found), _sets(found)))


def _reliability(found: list[Evaluated]) -> Markup:
    lines = [_curve(run, evaluation["calibration"]["bins"]) for run, evaluation in found]
    low = min(value for line in lines for value in (*line.x, *line.y))
    free = max(line.number for line in lines) + 1
    straight = Curve(_AS_SAID, free, [low, 100.0], [low, 100.0])
    axes = Axis("probability of the best class, %"), Axis("of these, right, %", most=100)
    drawing = draw_lines("reliability", "share that is right by probability", [straight, *lines], *axes)
    return add_caption([drawing], _describe(found), legend([run for run, _ in found]))


def _curve(run: RunReport, bins: list[dict[str, Any]]) -> Curve:
    x, y = ([100 * one[name] for one in bins] for name in ("probability", "accuracy"))
    return Curve(run.name, run.number, x, y)


def _describe(found: list[Evaluated]) -> str:
    words = " ".join(_of_run(run, evaluation["calibration"]) for run, evaluation in found)
    return (
        f"{words} Each point is of as many rows; points below the straight line are of rows that the classifier is "
        "too sure of, points above it of rows that it doubts too much."
    )


def _of_run(run: RunReport, known: dict[str, Any]) -> str:
    """What a run says of itself, and whether so few rows can tell that it errs."""
    error = known["error"]
    verdict = "more than" if error["low"] > error["chance"] else "no more than"
    return (
        f"{run.name} gives its best classes {format_percent(known['probability'])} on average, and "
        f"{format_percent(known['accuracy'])} of {pluralize(known['rows'], 'row')} are right; bin by bin it is off by "
        f"{format_points(error['value'])} ({format_points(error['low'])} to {format_points(error['high'])}), {verdict} "
        f"the {format_points(error['chance'])} that chance makes of so many rows."
    )


def _sets(found: list[Evaluated]) -> Markup | None:
    rows = [_row(run, one) for run, evaluation in found for one in evaluation["sets"] or []]
    if not rows:
        return None
    words = (
        "A set has all classes that may be right: promised is how often it holds the right one, beside how often it "
        "does here, with a 95 % interval. Where the best class alone is right more often, so are the sets."
    )
    return join_markup(paragraph(words), table(_HEADS, rows))


def _row(run: RunReport, one: dict[str, Any]) -> list[Any]:
    held = f"{format_percent(one['coverage'])} ({format_percent(one['low'])} to {format_percent(one['high'])})"
    return [
        run.name,
        NumberCell(format_percent(one["promised"]), one["promised"]),
        NumberCell(held, one["coverage"]),
        NumberCell(f"{one['size']:.2f}", one["size"]),
        NumberCell(format_percent(one["single"]), one["single"]),
    ]
