"""Learning curves: accuracy and objective by epoch and by seconds; and accuracy against settings that were tuned."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from manyclass._core.text import format_number, format_percent, format_points, join_names, number_at
from manyclass.report.components import Section, add_caption, legend
from manyclass.report.figures.lines import Axis, Curve, draw_lines, is_wide
from manyclass.report.html import Markup, join_markup
from manyclass.report.report_data import ReportData, RunReport

_OBJECTIVE = ("objective", "loss")  # as records call it


def show_learning_curves(report: ReportData) -> Section | None:
    """Show accuracy and objective while learning.

    Parameters
    ----------
    report : ReportData
        The records of the page.

    Returns
    -------
    Section or None
        The section; None if no run has a history of two points.
    """
    figures = [
        _accuracy_figure(report.runs),
        _objective_figure(report.runs, "epoch"),
        _objective_figure(report.runs, "iteration"),
    ]
    figures = [figure for figure in figures if figure]
    return Section("curves", "Learning curves", join_markup(figures)) if figures else None


def curve(run: RunReport, quantity: Sequence[str], unit: str) -> tuple[list[float], list[float], list[float]]:
    """Numbers, seconds since the start and values of a quantity, from the records that count in `unit`.

    What is trained again on everything, the phase "refit", is left out: it starts anew. Epochs give the seconds that
    each took, iterations those since the start.
    """
    rows = [
        row for row in run.record["history"] or [] if row.get("phase") != "refit" and number_at(row, unit) is not None
    ]
    spent = [number_at(row, "seconds") or 0.0 for row in rows]
    since = list(accumulate(spent)) if unit == "epoch" else spent
    found = [(row, second, _first_number(row, quantity)) for row, second in zip(rows, since, strict=True)]
    points = [(number_at(row, unit) or 0.0, second, value) for row, second, value in found if value is not None]
    return [p[0] for p in points], [p[1] for p in points], [p[2] for p in points]


def _first_number(row: dict[str, Any], names: Sequence[str]) -> float | None:
    return next((value for name in names if (value := number_at(row, name)) is not None), None)


def _curves(
    runs: Sequence[RunReport], quantity: Sequence[str], unit: str
) -> list[tuple[RunReport, list[float], list[float], list[float]]]:
    found = [(run, *curve(run, quantity, unit)) for run in runs]
    return [one for one in found if len(one[1]) > 1]


def _accuracy_figure(runs: Sequence[RunReport]) -> Markup | None:
    found = _curves(runs, ("accuracy",), "epoch")
    if not found:
        return None
    y = Axis("validation accuracy, %", most=100)
    by_epoch = [Curve(run.name, run.number, number, [100 * v for v in value]) for run, number, _, value in found]
    by_second = [Curve(run.name, run.number, second, [100 * v for v in value]) for run, _, second, value in found]
    drawings = [
        draw_lines("accuracy-epoch", "validation accuracy by epoch", by_epoch, Axis("epoch"), y),
        draw_lines(
            "accuracy-seconds", "validation accuracy by seconds of training", by_second, _seconds_axis(by_second), y
        ),
    ]
    return add_caption(drawings, _describe_accuracy(found), legend([run for run, *_ in found]))


def _describe_accuracy(found: Sequence[tuple[RunReport, list[float], list[float], list[float]]]) -> str:
    run, number, second, value = max(found, key=lambda one: max(one[3]))
    at = value.index(max(value))
    words = f"On held-out rows {run.name} comes highest: {format_percent(value[at])} after epoch {number[at]:.0f}"
    words += f" and {second[at]:.2g} s of training." if second[at] else "."
    if len(found) > 1:
        fast = min(found, key=_seconds_to_nearly_best)
        seconds = _seconds_to_nearly_best(fast)
        words += f" {fast[0].name} is the first within a hundredth of its own best, after {seconds:.2g} s."
    return words


def _seconds_to_nearly_best(one: tuple[RunReport, list[float], list[float], list[float]]) -> float:
    _, _, second, value = one
    return next(s for s, v in zip(second, value, strict=True) if v >= 0.99 * max(value))


def _objective_figure(runs: Sequence[RunReport], unit: str) -> Markup | None:
    found = _curves(runs, _OBJECTIVE, unit)
    if not found:
        return None
    by_unit = [Curve(run.name, run.number, number, value) for run, number, _, value in found]
    by_second = [Curve(run.name, run.number, second, value) for run, _, second, value in found]
    y = Axis("training objective", log=is_wide([v for line in by_unit for v in line.y]))
    drawings = [
        draw_lines(f"objective-{unit}", f"training objective by {unit}", by_unit, Axis(unit), y),
        draw_lines(
            f"objective-{unit}-seconds", "training objective by seconds", by_second, _seconds_axis(by_second), y
        ),
    ]
    return add_caption(drawings, _describe_objective(found, unit), legend([run for run, *_ in found]))


def _describe_objective(found: Sequence[tuple[RunReport, list[float], list[float], list[float]]], unit: str) -> str:
    run, number, _, value = min(found, key=lambda one: one[3][-1] / (one[3][0] or 1.0))
    words = f"The objective of {run.name} falls from {value[0]:.3g} to {value[-1]:.3g} in {number[-1]:.0f} {unit}s"
    many = len(found) > 1
    return f"{words}, the most of all; different objectives have different scales." if many else f"{words}."


def _seconds_axis(lines: Sequence[Curve]) -> Axis:
    return Axis(
        "seconds of training", log=is_wide([line.x[-1] for line in lines]) and all(line.x[0] > 0 for line in lines)
    )


def show_tuning(report: ReportData) -> Section | None:
    """Show accuracy against settings that were tuned.

    Parameters
    ----------
    report : ReportData
        The records of the page.

    Returns
    -------
    Section or None
        The section; None if nothing was tried.
    """
    names = dict.fromkeys(one["name"] for run in report.runs for one in run.record["tuning"] or [])
    found = {name: [line for line in (_tuning_curve(run, name) for run in report.runs) if line] for name in names}
    found = {name: lines for name, lines in found.items() if lines}
    if not found:
        return None
    shown = {line.number for lines in found.values() for line in lines}
    drawings = [
        draw_lines(
            f"tuning-{i}",
            f"held-out accuracy by {name}",
            lines,
            _setting_axis(name, lines),
            Axis("accuracy, %"),
        )
        for i, (name, lines) in enumerate(found.items())
    ]
    words = " ".join(_describe_tuning(name, lines) for name, lines in found.items())
    caption = f"{words} Rings mark the best value of each run."
    key = legend([run for run in report.runs if run.number in shown])
    return Section(
        "tuning", f"Accuracy against {join_names(list(found))}", join_markup(add_caption(drawings, caption, key))
    )


def _tuning_curve(run: RunReport, name: str) -> Curve | None:
    """Accuracies in percent by the values of a setting that are numbers; None with fewer than two."""
    tried = [one for one in run.record["tuning"] or [] if one["name"] == name and one["accuracy"] is not None]
    known = {value: one["accuracy"] for one in tried if (value := number_at(one, "value")) is not None}
    if len(known) < 2:
        return None
    x = sorted(known)
    y = [100 * known[value] for value in x]
    return Curve(run.name, run.number, x, y, y.index(max(y)))


def _setting_axis(name: str, lines: list[Curve]) -> Axis:
    return Axis(name, log=is_wide([value for line in lines for value in line.x]))


def _describe_tuning(name: str, lines: list[Curve]) -> str:
    best: Any = max(lines, key=lambda line: max(line.y))
    top, low = max(best.y), min(best.y)
    at, worst = best.x[best.y.index(top)], best.x[best.y.index(low)]
    which = f" for {best.name}" if len(lines) > 1 else ""
    return (
        f"{name} = {format_number(at)} is best{which} with {format_percent(top / 100)}; "
        f"{name} = {format_number(worst)} loses {format_points((top - low) / 100)}."
    )
