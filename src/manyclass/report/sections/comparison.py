"""Comparison: runs side by side in accuracy, time, memory and size; and the head of the page, the best of them."""

from collections.abc import Callable
from typing import Any

from manyclass._core.text import (
    MISSING,
    format_bytes,
    format_count,
    format_percent,
    format_points,
    format_seconds,
    number_at,
    pluralize,
)
from manyclass.evaluation.proportions import wilson_interval
from manyclass.report.components import Section, add_caption, color_of, paragraph, sign_of
from manyclass.report.figures.bars import Bar, draw_bars
from manyclass.report.html import Markup, NumberCell, element, join_markup, table
from manyclass.report.report_data import ReportData, RunReport
from manyclass.runs.folder import seen_rows

_OTHER = "*"  # at numbers that were measured on other examples

_MOST = 10**12  # rows: more make no difference, and overflow

_HEADS = ("run", "objective", "top-1", "top-5", "mean per class", "seconds", "memory", "model")


def compare_runs(report: ReportData) -> Section | None:
    """Compare runs side by side.

    Parameters
    ----------
    report : ReportData
        The records of the page.

    Returns
    -------
    Section or None
        The section; None without two runs.
    """
    if len(report.runs) < 2:
        return None
    compared, others = report.evaluated_runs, report.runs_on_other_tests
    evaluated = {run.name for run, _ in [*compared, *others]}
    # A run alone is no best one.
    best = compared[0][1]["top_1"] if len(compared) > 1 else None
    rows = [_row(run, evaluation, best) for run, evaluation in compared]
    rows += [_row(run, evaluation, None, mark=_OTHER) for run, evaluation in others]
    rows += [_row(run, None, None) for run in report.runs if run.name not in evaluated]
    chart = add_caption([_accuracy_chart(report)], describe_lead(report)) if len(compared) > 1 else None
    listed, note = table(_HEADS, rows, class_="sortable"), paragraph(describe_other_tests(report)) if others else None
    return Section("runs", "Runs compared", join_markup(listed, note, chart))


def describe_other_tests(report: ReportData) -> str:
    """Which runs were measured on other examples than those that are compared."""
    others = [
        f"{run.name} on {pluralize(evaluation['rows'], 'row')} of {evaluation['data']['path'] or 'other data'}"
        for run, evaluation in report.runs_on_other_tests
    ]
    compared = ", ".join(run.name for run, _ in report.evaluated_runs)
    return (
        f"{_OTHER} Measured on other examples than {compared}, so that the accuracies cannot be compared: "
        f"{'; '.join(others)}. Evaluate all runs on the same examples to see which is best."
    )


def describe_lead(report: ReportData) -> str:
    """Who leads, by how much, and whether so many rows can tell."""
    (first, a), (second, b) = report.evaluated_runs[:2]
    lead = a["top_1"] - b["top_1"]
    said = (
        f"{first.name} leads by {format_points(lead)}"
        if lead >= 0.0005
        else f"{first.name} and {second.name} are level"
    )
    low, high = _accuracy_interval(a)
    return (
        f"Top-1 accuracy: {said}, {format_percent(a['top_1'])} against {format_percent(b['top_1'])} of {second.name}. "
        f"With {pluralize(a['rows'], 'row')} such a share is known to about ± {format_points((high - low) / 2)} "
        "(the lines at the bars)."
    )


def _accuracy_chart(report: ReportData) -> Markup:
    bars = []
    for run, evaluation in report.evaluated_runs:
        share = evaluation["top_1"]
        bars.append(Bar(run.name, run.number, share, format_percent(share), _accuracy_interval(evaluation)))
    return draw_bars("runs", "top-1 accuracy of each run", bars)


def _accuracy_interval(evaluation: dict[str, Any]) -> tuple[float, float]:
    rows = min(evaluation["rows"], _MOST)
    return wilson_interval(round(evaluation["top_1"] * rows), rows)


def _row(run: RunReport, evaluation: dict[str, Any] | None, best: float | None, mark: str = "") -> list[Any]:
    model, e = run.record["model"] or {}, evaluation or {}
    sign = element("i", sign_of(run), "\u00a0", style=color_of(run), aria_hidden="true")
    name = join_markup(sign, run.name)
    top = format_percent(e.get("top_1")) + mark
    is_best = best is not None and e.get("top_1") == best
    return [
        join_markup(name, " ", element("b", "best", class_="tag")) if is_best else name,
        str(model.get("objective") or run.record["settings"].get("objective") or MISSING),
        NumberCell(top, e.get("top_1")),
        NumberCell(format_percent(e.get("top_5")), e.get("top_5")),
        NumberCell(format_percent(e.get("mean_per_class")), e.get("mean_per_class")),
        _amount(run.record["seconds"], format_seconds),
        _amount(run.record["peak_bytes"], format_bytes),
        _amount(number_at(model, "bytes"), format_bytes),
    ]


def _amount(value: float | None, words: Any) -> NumberCell:
    return NumberCell(MISSING if value is None else words(value), value)


def _accuracy_tiles(evaluation: dict[str, Any]) -> list[tuple[str, str]]:
    several = evaluation.get("multilabel")
    if several:
        return [(format_percent(several[f"{name}_f1"]), f"{name} F1") for name in ("micro", "macro")]
    return [(format_percent(evaluation[f"top_{k}"]), f"top-{k} accuracy") for k in (1, 5)]


def summarize(report: ReportData) -> Markup:
    """Tiles with the best accuracies and the best search, and what they were measured on."""
    tiles, words = [], []
    if report.evaluated_runs:
        run, evaluation = report.evaluated_runs[0]
        tiles += _accuracy_tiles(evaluation)
        tiles.append((format_count(len(evaluation["per_class"])), "classes"))
        which = ""
        if len(report.runs) > 1:
            best = f"the best of {len(report.evaluated_runs)} runs, " if len(report.evaluated_runs) > 1 else ""
            which = f"of {best}{run.name}{',' if best else ''} "
        words.append(f"Accuracies are {which}on {pluralize(evaluation['rows'], 'row')}{_describe_split(evaluation)}.")
        words += warn_of_seen_rows(run, evaluation)
        if report.runs_on_other_tests:
            names = ", ".join(run.name for run, _ in report.runs_on_other_tests)
            words.append(f"{names} cannot be compared with that: other examples were used.")
    methods = [method for search in report.searches for method in search.record["methods"]]
    if methods:
        best = max(methods, key=lambda method: method["map"])
        tiles.append((format_percent(best["map"]), "mean average precision"))
        words.append(f"Search is best by {best['name']}.")
    words += [f"Probe {probe.name}: {probe.record['verdict']}." for probe in report.probes]
    if not tiles:
        return join_markup(paragraph(" ".join(words)) if words else None)
    boxes = [
        element("div", element("dd", value), element("dt", name))
        for value, name in tiles
        if value != format_percent(None)
    ]
    return join_markup(element("dl", boxes, class_="tiles"), paragraph(" ".join(words)))


def warn_of_seen_rows(run: RunReport, evaluation: dict[str, Any]) -> list[str]:
    """A sentence if the accuracies are on rows that made the model."""
    seen = seen_rows(run.record, evaluation["data"])
    return [] if seen is None else [f"Mind that {seen}: accuracies on them say little of other rows."]


def _describe_split(evaluation: dict[str, object]) -> str:
    data = evaluation["data"]
    part = data.get("part") if isinstance(data, dict) else None
    return f" of the {part} part" if part and part != "all" else ""


_KnownValues = list[tuple[RunReport, float]]


def show_costs(report: ReportData) -> Section | None:
    """Show time, memory and size of the runs.

    Parameters
    ----------
    report : ReportData
        The records of the page.

    Returns
    -------
    Section or None
        The section; None if no run has any of them.
    """
    quantities: list[tuple[str, str, _KnownValues, Callable[[float], str]]] = [
        ("seconds", "time of the whole run", _known_values(report, lambda run: run.record["seconds"]), format_seconds),
        ("memory", "most memory in use", _known_values(report, lambda run: run.record["peak_bytes"]), format_bytes),
        (
            "size",
            "size of the model",
            _known_values(report, lambda run: number_at(run.record["model"], "bytes")),
            format_bytes,
        ),
    ]
    known = [one for one in quantities if one[2]]
    if not known:
        return None
    drawings = [
        join_markup(element("h4", words), _cost_chart(key, words, runs, say))
        for key, words, runs, say in known
        if len(runs) > 1  # a bar alone says nothing
    ]
    caption = " ".join(_describe_cost(words, runs, say) for _, words, runs, say in known)
    body = add_caption(drawings, caption) if drawings else paragraph(caption)
    return Section("cost", "Time and memory", body)


def _known_values(report: ReportData, quantity: Callable[[RunReport], float | None]) -> _KnownValues:
    return [(run, value) for run in report.runs if (value := quantity(run)) is not None]


def _cost_chart(key: str, words: str, runs: _KnownValues, say: Callable[[float], str]) -> Markup:
    return draw_bars(f"cost-{key}", words, [Bar(run.name, run.number, value, say(value)) for run, value in runs])


def _describe_cost(words: str, runs: _KnownValues, say: Callable[[float], str]) -> str:
    (low, least), (high, most) = (choose(runs, key=lambda pair: pair[1]) for choose in (min, max))
    if least == most:
        return f"{words.capitalize()}: {say(most)}."
    return f"{words.capitalize()}: from {say(least)} ({low.name}) to {say(most)} ({high.name})."
