"""Accuracy against settings that were tuned: beta, the step, the regularization."""

from typing import Any

from manyclass.report.figures_lines import Axis, Line, draw_lines, is_wide
from manyclass.report.gathering import Material, Run
from manyclass.report.markup import joined
from manyclass.report.parts import Section, captioned, legend
from manyclass.report.words import listed, number_of, percent, points, short_number


def tuning(material: Material) -> Section | None:
    """The section "Accuracy against tuned settings"; None if nothing was tried."""
    names = dict.fromkeys(one["name"] for run in material.runs for one in run.record["tuning"] or [])
    found = {name: [line for line in (_line(run, name) for run in material.runs) if line] for name in names}
    found = {name: lines for name, lines in found.items() if lines}
    if not found:
        return None
    shown = {line.number for lines in found.values() for line in lines}
    drawings = [
        draw_lines(f"tuning-{i}", f"validation accuracy by {name}", lines, _axis(name, lines), Axis("accuracy, %"))
        for i, (name, lines) in enumerate(found.items())
    ]
    words = " ".join(_words(name, lines) for name, lines in found.items())
    caption = f"{words} Rings mark the best value of each run."
    key = legend([run for run in material.runs if run.number in shown])
    return Section("tuning", f"Accuracy against {listed(list(found))}", joined(captioned(drawings, caption, key)))


def _line(run: Run, name: str) -> Line | None:
    """Accuracies in percent by the values of a setting that are numbers; None with fewer than two."""
    tried = [one for one in run.record["tuning"] or [] if one["name"] == name and one["accuracy"] is not None]
    known = {value: one["accuracy"] for one in tried if (value := number_of(one, "value")) is not None}
    if len(known) < 2:
        return None
    x = sorted(known)
    y = [100 * known[value] for value in x]
    return Line(run.name, run.number, x, y, y.index(max(y)))


def _axis(name: str, lines: list[Line]) -> Axis:
    return Axis(name, log=is_wide([value for line in lines for value in line.x]))


def _words(name: str, lines: list[Line]) -> str:
    best: Any = max(lines, key=lambda line: max(line.y))
    top, low = max(best.y), min(best.y)
    at, worst = best.x[best.y.index(top)], best.x[best.y.index(low)]
    which = f" for {best.name}" if len(lines) > 1 else ""
    return (
        f"{name} = {short_number(at)} is best{which} with {percent(top / 100)}; "
        f"{name} = {short_number(worst)} loses {points((top - low) / 100)}."
    )
