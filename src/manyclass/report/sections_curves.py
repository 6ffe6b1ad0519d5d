"""Learning curves: accuracy and objective, by epoch and by seconds."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from manyclass.report.figures_lines import Axis, Line, draw_lines, is_wide
from manyclass.report.gathering import Material, Run
from manyclass.report.markup import Markup, joined
from manyclass.report.parts import Section, captioned, legend
from manyclass.report.words import number_of, percent

_OBJECTIVE = ("objective", "loss")  # as records call it


def curves(material: Material) -> Section | None:
    """The section "Learning curves"; None if no run has a history of two points."""
    figures = [_accuracy(material.runs), _objective(material.runs, "epoch"), _objective(material.runs, "iteration")]
    figures = [figure for figure in figures if figure]
    return Section("curves", "Learning curves", joined(figures)) if figures else None


def curve(run: Run, quantity: Sequence[str], unit: str) -> tuple[list[float], list[float], list[float]]:
    """Numbers, seconds since the start and values of a quantity, from the records that count in `unit`.

    What is trained again on everything, the phase "refit", is left out: it starts anew. Epochs give the seconds that
    each took, iterations those since the start.
    """
    rows = [
        row for row in run.record["history"] or [] if row.get("phase") != "refit" and number_of(row, unit) is not None
    ]
    spent = [number_of(row, "seconds") or 0.0 for row in rows]
    since = list(accumulate(spent)) if unit == "epoch" else spent
    found = [(row, second, _first(row, quantity)) for row, second in zip(rows, since, strict=True)]
    points = [(number_of(row, unit) or 0.0, second, value) for row, second, value in found if value is not None]
    return [p[0] for p in points], [p[1] for p in points], [p[2] for p in points]


def _first(row: dict[str, Any], names: Sequence[str]) -> float | None:
    return next((value for name in names if (value := number_of(row, name)) is not None), None)


def _curves(
    runs: Sequence[Run], quantity: Sequence[str], unit: str
) -> list[tuple[Run, list[float], list[float], list[float]]]:
    found = [(run, *curve(run, quantity, unit)) for run in runs]
    return [one for one in found if len(one[1]) > 1]


def _accuracy(runs: Sequence[Run]) -> Markup | None:
    found = _curves(runs, ("accuracy",), "epoch")
    if not found:
        return None
    y = Axis("validation accuracy, %")
    by_epoch = [Line(run.name, run.number, number, [100 * v for v in value]) for run, number, _, value in found]
    by_second = [Line(run.name, run.number, second, [100 * v for v in value]) for run, _, second, value in found]
    drawings = [
        draw_lines("accuracy-epoch", "validation accuracy by epoch", by_epoch, Axis("epoch"), y),
        draw_lines("accuracy-seconds", "validation accuracy by seconds of training", by_second, _seconds(by_second), y),
    ]
    return captioned(drawings, _accuracy_words(found), legend([run for run, *_ in found]))


def _accuracy_words(found: Sequence[tuple[Run, list[float], list[float], list[float]]]) -> str:
    run, number, second, value = max(found, key=lambda one: max(one[3]))
    at = value.index(max(value))
    words = f"On held-out rows {run.name} comes highest: {percent(value[at])} after epoch {number[at]:.0f}"
    words += f" and {second[at]:.2g} s of training." if second[at] else "."
    if len(found) > 1:
        fast = min(found, key=_to_nearly_best)
        words += (
            f" {fast[0].name} is the first within a hundredth of its own best, after {_to_nearly_best(fast):.2g} s."
        )
    return words


def _to_nearly_best(one: tuple[Run, list[float], list[float], list[float]]) -> float:
    _, _, second, value = one
    return next(s for s, v in zip(second, value, strict=True) if v >= 0.99 * max(value))


def _objective(runs: Sequence[Run], unit: str) -> Markup | None:
    found = _curves(runs, _OBJECTIVE, unit)
    if not found:
        return None
    by_unit = [Line(run.name, run.number, number, value) for run, number, _, value in found]
    by_second = [Line(run.name, run.number, second, value) for run, _, second, value in found]
    y = Axis("training objective", log=is_wide([v for line in by_unit for v in line.y]))
    drawings = [
        draw_lines(f"objective-{unit}", f"training objective by {unit}", by_unit, Axis(unit), y),
        draw_lines(f"objective-{unit}-seconds", "training objective by seconds", by_second, _seconds(by_second), y),
    ]
    return captioned(drawings, _objective_words(found, unit), legend([run for run, *_ in found]))


def _objective_words(found: Sequence[tuple[Run, list[float], list[float], list[float]]], unit: str) -> str:
    run, number, _, value = min(found, key=lambda one: one[3][-1] / (one[3][0] or 1.0))
    words = f"The objective of {run.name} falls from {value[0]:.3g} to {value[-1]:.3g} in {number[-1]:.0f} {unit}s"
    many = len(found) > 1
    return f"{words}, the most of all; different objectives have different scales." if many else f"{words}."


def _seconds(lines: Sequence[Line]) -> Axis:
    return Axis(
        "seconds of training", log=is_wide([line.x[-1] for line in lines]) and all(line.x[0] > 0 for line in lines)
    )
