"""Runs side by side: accuracy, time, memory, size."""

import math
from typing import Any

from manyclass._amounts import seconds, size
from manyclass.report.figures_bars import Bar, draw_bars
from manyclass.report.gathering import Material, Run
from manyclass.report.markup import Markup, element, joined
from manyclass.report.parts import Section, captioned, color_of, sign_of
from manyclass.report.tables import Figure, table
from manyclass.report.words import UNKNOWN, counted, number_of, percent, points

_HEADS = ("run", "objective", "top-1", "top-5", "mean per class", "seconds", "memory", "model")


def compared(material: Material) -> Section | None:
    """The section "Runs compared"; None without runs."""
    if not material.runs:
        return None
    measured = {run.name: evaluation for run, evaluation in material.measured}
    order = [run for run, _ in material.measured] + [run for run in material.runs if run.name not in measured]
    best = material.measured[0][1]["top_1"] if measured else None
    rows = [_row(run, measured.get(run.name), best) for run in order]
    chart = captioned([_chart(material)], standing(material)) if len(measured) > 1 else None
    return Section("runs", "Runs compared", joined(table(_HEADS, rows, class_="sortable"), chart))


def standing(material: Material) -> str:
    """Who leads, by how much, and whether so many rows can tell."""
    (first, a), (second, b) = material.measured[:2]
    lead = a["top_1"] - b["top_1"]
    said = f"{first.name} leads by {points(lead)}" if lead >= 0.0005 else f"{first.name} and {second.name} are level"
    doubt = 1.96 * math.sqrt(max(a["top_1"] * (1 - a["top_1"]), 0.25 / max(1, a["rows"])) / max(1, a["rows"]))
    return (
        f"Top-1 accuracy: {said}, {percent(a['top_1'])} against {percent(b['top_1'])} of {second.name}. "
        f"With {counted(a['rows'], 'row')} such a share is known to about ± {points(doubt)} (the lines at the bars)."
    )


def _chart(material: Material) -> Markup:
    bars = []
    for run, evaluation in material.measured:
        p, n = evaluation["top_1"], max(1, evaluation["rows"])
        half = 1.96 * math.sqrt(max(p * (1 - p), 0.25 / n) / n)
        bars.append(Bar(run.name, run.number, p, percent(p), (max(0.0, p - half), min(1.0, p + half))))
    return draw_bars("runs", "top-1 accuracy of each run", bars)


def _row(run: Run, evaluation: dict[str, Any] | None, best: float | None) -> list[Any]:
    model, e = run.record["model"] or {}, evaluation or {}
    sign = element("i", sign_of(run), "\u00a0", style=color_of(run), aria_hidden="true")
    name = joined(sign, run.name)
    top = percent(e.get("top_1"))
    is_best = best is not None and e.get("top_1") == best
    return [
        joined(name, " ", element("b", "best", class_="tag")) if is_best else name,
        str(model.get("objective") or run.record["settings"].get("objective") or UNKNOWN),
        Figure(top, e.get("top_1")),
        Figure(percent(e.get("top_5")), e.get("top_5")),
        Figure(percent(e.get("mean_per_class")), e.get("mean_per_class")),
        _amount(run.record["seconds"], seconds),
        _amount(run.record["peak_bytes"], size),
        _amount(number_of(model, "bytes"), size),
    ]


def _amount(value: float | None, words: Any) -> Figure:
    return Figure(UNKNOWN if value is None else words(value), value)
