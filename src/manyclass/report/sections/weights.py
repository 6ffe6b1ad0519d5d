"""Weights: their spectrum and rank, the grid of trace norms and ridges, and classes in the plane of two directions."""

from itertools import accumulate
from typing import Any

import numpy as np

from manyclass._core.text import format_count, format_percent, join_names, number_at, pluralize
from manyclass.report.components import Section, add_caption, legend
from manyclass.report.figures.heatmap import draw_heatmap
from manyclass.report.figures.lines import Axis, Curve, draw_lines, is_wide
from manyclass.report.figures.scatter import draw_embedding, outlier_names
from manyclass.report.html import Markup, element, join_markup
from manyclass.report.report_data import ReportData, RunReport

_RANK = (
    "The rank is in how many independent directions of the features the weights of the classes differ: the lower, the "
    "more classes share."
)

_NAMED = 5  # classes that a sentence names

_NOTHING = 1e-4  # of the largest singular value: what is below would stretch the axis and show nothing


def show_spectrum(report: ReportData) -> Section | None:
    """Show the singular values of the weights, and their rank.

    Parameters
    ----------
    report : ReportData
        The records of the page.

    Returns
    -------
    Section or None
        The section; None if no run has singular values.
    """
    found = {run.number: (run, values) for run in report.runs if (values := _singular_values(run))}
    if not found:
        return None
    runs = [run for run, _ in found.values()]
    numbers = {run.number: list(range(1, len(values) + 1)) for run, values in found.values()}
    spectra = [Curve(run.name, run.number, numbers[run.number], s) for run, s in found.values()]
    cumulative = [Curve(run.name, run.number, numbers[run.number], _cumulative_percent(s)) for run, s in found.values()]
    wide = is_wide([value for line in spectra for value in line.y])
    drawings = [
        draw_lines(
            "spectrum", "singular values, the largest first", spectra, Axis("number"), Axis("singular value", log=wide)
        ),
        draw_lines(
            "spectrum-share", "share of their sum in the first", cumulative, Axis("number"), Axis("share of the sum, %")
        ),
    ]
    ranked = sorted(found.values(), key=lambda pair: _rank(*pair))
    ends = [ranked[0], ranked[-1]] if len(ranked) > 1 else ranked
    words = " ".join([*(_describe_spectrum(run, s) for run, s in ends), _RANK])
    return Section("spectrum", "Spectrum and rank", join_markup(add_caption(drawings, words, legend(runs))))


def _singular_values(run: RunReport) -> list[float]:
    """Singular values, the largest first, without those next to nothing."""
    values = sorted(run.record["spectrum"] or [], reverse=True)
    return [value for value in values if value > _NOTHING * values[0]]


def _cumulative_percent(values: list[float]) -> list[float]:
    total = sum(values)
    return [100 * value / total for value in accumulate(values)]


def _rank(run: RunReport, values: list[float]) -> int:
    return len(values) if run.record["rank"] is None else int(run.record["rank"])


def _describe_spectrum(run: RunReport, values: list[float]) -> str:
    model = run.record["model"] or {}
    sides = [side for side in (number_at(model, "columns"), number_at(model, "classes")) if side is not None]
    rank = format_count(_rank(run, values)) + (f" of at most {format_count(min(sides))}" if sides else "")
    most_of_it = next(i for i, percent in enumerate(_cumulative_percent(values), 1) if percent >= 80 - 1e-9)
    share = format_percent(_cumulative_percent(values)[most_of_it - 1] / 100, 0)
    return f"{run.name} has rank {rank}; the first {format_count(most_of_it)} carry {share} of the sum."


_SHOWN = {"accuracy": lambda v: f"{100 * v:.1f}", "rank": lambda v: f"{v:.0f}", "objective": lambda v: f"{v:.2f}"}

_UNITS = {"accuracy": "accuracy, %", "rank": "rank", "objective": "objective"}


def show_path_grid(report: ReportData) -> Section | None:
    """Show the grid of strengths of trace norm and ridge.

    Parameters
    ----------
    report : ReportData
        The records of the page.

    Returns
    -------
    Section or None
        The section; None if no run followed a path.
    """
    figures = [figure for run in report.runs if (figure := _grid_figure(run))]
    return Section("grid", "Trace-norm grid", join_markup(figures)) if figures else None


def chosen_pair(run: RunReport) -> dict[str, Any]:
    """The row of the table that the model was made with, or else the first of the most accurate."""
    rows = _grid_rows(run)
    model = (run.record["model"] or {}) | run.record["settings"]
    same = [row for row in rows if (row["trace"], row["ridge"]) == (model.get("trace"), model.get("ridge"))]
    return same[0] if same else max(rows, key=lambda row: number_at(row, "accuracy") or 0.0)


def _grid_rows(run: RunReport) -> list[dict[str, Any]]:
    rows = run.record["grid"] or []
    return [row for row in rows if number_at(row, "trace") is not None and number_at(row, "ridge") is not None]


def _grid_figure(run: RunReport) -> Markup | None:
    rows = _grid_rows(run)
    if not rows:
        return None
    traces, ridges = (sorted({row[name] for row in rows}, reverse=True) for name in ("trace", "ridge"))
    best = chosen_pair(run)
    chosen = ridges.index(best["ridge"]), traces.index(best["trace"])
    drawings = []
    for name, shown in _SHOWN.items():
        values = np.full((len(ridges), len(traces)), np.nan)
        for row in rows:
            value = number_at(row, name)
            values[ridges.index(row["ridge"]), traces.index(row["trace"])] = np.nan if value is None else value
        if np.isfinite(values).any():
            axes = ("trace", [f"{v:.1e}" for v in traces]), ("ridge", [f"{v:.1e}" for v in ridges])
            title = f"{_UNITS[name]} for each trace and ridge"
            drawings.append(
                _add_title(_UNITS[name], draw_heatmap(f"grid-{run.number}-{name}", title, values, *axes, shown, chosen))
            )
    return add_caption(drawings, _describe_grid(run.name, best, rows))


def _add_title(title: str, drawing: Markup) -> Markup:
    return join_markup(element("h4", title), drawing)


def _describe_grid(name: str, best: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    accuracy, rank = number_at(best, "accuracy"), number_at(best, "rank")
    ranks = [value for row in rows if (value := number_at(row, "rank")) is not None]
    words = f"{name}: the framed pair, trace {best['trace']:.3g} and ridge {best['ridge']:.3g}, was chosen"
    words += f" with {format_percent(accuracy)} on held-out rows" if accuracy is not None else ""
    words += (
        f" and rank {format_count(rank)}; ranks go from {format_count(min(ranks))} to {format_count(max(ranks))}"
        if rank is not None
        else ""
    )
    return f"{words}. The penalty is stronger to the left and to the top. {_RANK}"


def show_embedding(report: ReportData) -> Section | None:
    """Show classes in two dimensions, of the best run that has an embedding.

    Parameters
    ----------
    report : ReportData
        The records of the page.

    Returns
    -------
    Section or None
        The section; None if none has.
    """
    ranked = [run for run, _ in report.evaluated_runs]
    runs = ranked + [run for run in report.runs if run not in ranked]
    # Of a low rank the plane says most.
    known = [run for run in runs if run.record["embedding"] and run.record["embedding"]["classes"]]
    if not known:
        return None
    run = min(known, key=lambda run: run.record["rank"] is None or not run.record["grid"])
    return Section("embedding", "Classes in two dimensions", join_markup(_embedding_figure(run)))


def _embedding_figure(run: RunReport) -> Markup:
    classes, x, y = (run.record["embedding"][name] for name in ("classes", "x", "y"))
    words = (
        f"{pluralize(len(classes), 'class', 'classes')} by the first two latent directions of the weights of "
        f"{run.name}: "
        f"{_extreme_classes(classes, x)} are farthest apart along the first, "
        f"{_extreme_classes(classes, y)} along the second. "
        "Names are written where there is room; every point says its own when pointed at."
    )
    beyond = outlier_names(classes, x, y)
    if beyond:
        names = join_names(beyond) if len(beyond) <= _NAMED else pluralize(len(beyond), "class", "classes")
        arrows, lie = ("Arrows at the border are", "lie") if len(beyond) > 1 else ("An arrow at the border is", "lies")
        words += f" {arrows} {names}, which {lie} so far off that all others would be one heap."
    drawing = draw_embedding("embedding", "classes in the plane of two latent directions", classes, x, y)
    return add_caption([drawing], words)


def _extreme_classes(classes: list[str], places: list[float]) -> str:
    low, high = (choose(range(len(places)), key=places.__getitem__) for choose in (min, max))
    return f"{classes[low]} and {classes[high]}"
