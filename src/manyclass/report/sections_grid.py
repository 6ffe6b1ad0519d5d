"""The grid of trace norms and ridges: accuracy, rank and objective of each pair."""

from typing import Any

import numpy as np

from manyclass.report.figures_grid import draw_map
from manyclass.report.gathering import Material, Run
from manyclass.report.markup import Markup, element, joined
from manyclass.report.parts import Section, captioned
from manyclass.report.words import number_of, percent, whole

_SHOWN = {"accuracy": lambda v: f"{100 * v:.1f}", "rank": lambda v: f"{v:.0f}", "objective": lambda v: f"{v:.2f}"}
_UNITS = {"accuracy": "accuracy, %", "rank": "rank", "objective": "objective"}


def grid(material: Material) -> Section | None:
    """The section "Trace-norm grid"; None if no run followed a path."""
    figures = [figure for run in material.runs if (figure := _figure(run))]
    return Section("grid", "Trace-norm grid", joined(figures)) if figures else None


def chosen_pair(run: Run) -> dict[str, Any]:
    """The row of the table that the model was made with, or else the first of the most accurate."""
    rows = _rows(run)
    model = (run.record["model"] or {}) | run.record["settings"]
    same = [row for row in rows if (row["trace"], row["ridge"]) == (model.get("trace"), model.get("ridge"))]
    return same[0] if same else max(rows, key=lambda row: number_of(row, "accuracy") or 0.0)


def _rows(run: Run) -> list[dict[str, Any]]:
    rows = run.record["grid"] or []
    return [row for row in rows if number_of(row, "trace") is not None and number_of(row, "ridge") is not None]


def _figure(run: Run) -> Markup | None:
    rows = _rows(run)
    if not rows:
        return None
    traces, ridges = (sorted({row[name] for row in rows}, reverse=True) for name in ("trace", "ridge"))
    best = chosen_pair(run)
    chosen = ridges.index(best["ridge"]), traces.index(best["trace"])
    drawings = []
    for name, shown in _SHOWN.items():
        values = np.full((len(ridges), len(traces)), np.nan)
        for row in rows:
            value = number_of(row, name)
            values[ridges.index(row["ridge"]), traces.index(row["trace"])] = np.nan if value is None else value
        if np.isfinite(values).any():
            axes = ("trace", [f"{v:.1e}" for v in traces]), ("ridge", [f"{v:.1e}" for v in ridges])
            title = f"{_UNITS[name]} for each trace and ridge"
            drawings.append(
                _titled(_UNITS[name], draw_map(f"grid-{run.number}-{name}", title, values, *axes, shown, chosen))
            )
    return captioned(drawings, _words(run.name, best, rows))


def _titled(title: str, drawing: Markup) -> Markup:
    return joined(element("h4", title), drawing)


def _words(name: str, best: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    accuracy, rank = number_of(best, "accuracy"), number_of(best, "rank")
    ranks = [value for row in rows if (value := number_of(row, "rank")) is not None]
    words = f"{name}: the framed pair, trace {best['trace']:.3g} and ridge {best['ridge']:.3g}, was chosen"
    words += f" with {percent(accuracy)} on held-out rows" if accuracy is not None else ""
    words += (
        f" and rank {whole(rank)}; ranks go from {whole(min(ranks))} to {whole(max(ranks))}" if rank is not None else ""
    )
    return f"{words}. The penalty is stronger to the left and to the top."
