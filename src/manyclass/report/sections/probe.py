"""Probe: how good embeddings are, by several classifiers on the same rows; and several embeddings side by side."""

from typing import Any

from manyclass._core.text import format_bytes, format_number, format_p, format_percent, format_seconds
from manyclass.report.components import Section, add_caption, paragraph
from manyclass.report.figures.bars import Bar, draw_bars
from manyclass.report.figures.lines import Axis, Curve, draw_lines
from manyclass.report.html import Markup, NumberCell, element, join_markup, table
from manyclass.report.report_data import ProbeReport, ReportData

_HEADS = ("method", "top-1", "top-5", "mean per class", "to the best", "to learn", "to judge", "to keep", "chosen")

_COMPARED = ("method", "better", "than", "points", "95 % interval", "p")


def show_probe(report: ReportData) -> Section | None:
    """Show how good embeddings are.

    Parameters
    ----------
    report : ReportData
        The records of the page.

    Returns
    -------
    Section or None
        The section; None without a probe.
    """
    content = [_show(probe, number, len(report.probes)) for number, probe in enumerate(report.probes)]
    return Section("probe", "How good the embeddings are", join_markup(content)) if content else None


def _show(probe: ProbeReport, number: int, of: int) -> Markup:
    record = probe.record
    content: list[Any] = [element("h3", probe.name) if of > 1 else None, paragraph(record["verdict"], ".")]
    several = len(record["embeddings"]) > 1
    for place, one in enumerate(record["embeddings"]):
        key = f"probe-{number}-{place}"
        content.append(element("h3", one["name"]) if several else None)
        if one["methods"]:
            drawing = draw_bars(key, f"top-1 accuracy of each method on {one['name']}", _bars(one["methods"], place))
            content.append(add_caption([drawing], _caption(record)))
            content.append(table(_HEADS, [_row(method) for method in one["methods"]], class_="sortable"))
        if one["shots"]:
            content.append(_curve(key, one["shots"]))
    if record["comparison"]:
        rows = [_compared(one) for one in record["comparison"]]
        content += [element("h3", "Which is better"), table(_COMPARED, rows)]
    return join_markup(content)


def _caption(record: dict[str, Any]) -> str:
    return (
        f"Top-1 accuracy, with intervals of 95 % (the lines at the bars): {record['protocol']}. "
        "Settings were chosen on rows to learn from."
    )


def _bars(methods: list[dict[str, Any]], color: int) -> list[Bar]:
    shares = [(one["title"], one["top_1"]) for one in methods]
    return [
        Bar(title, color, share["value"], format_percent(share["value"]), (share["low"], share["high"]))
        for title, share in shares
    ]


def _row(method: dict[str, Any]) -> list[Any]:
    against = method["against"]
    apart = NumberCell("best", 0.0) if against is None else NumberCell(_signed(against), against["difference"])
    chosen = ", ".join(f"{name} {format_number(value)}" for name, value in method["settings"].items())
    return [
        method["title"],
        *(NumberCell(_share(method[key]), method[key]["value"]) for key in ("top_1", "top_5", "mean_per_class")),
        apart,
        *(NumberCell(format_seconds(method[key]), method[key]) for key in ("fit_seconds", "predict_seconds")),
        NumberCell(format_bytes(method["bytes"]), method["bytes"]),
        chosen,
    ]


def _compared(one: dict[str, Any]) -> list[Any]:
    interval = f"{100 * one['low']:+.1f} to {100 * one['high']:+.1f}"
    return [
        one["method"],
        one["first"],
        one["second"],
        NumberCell(f"{100 * one['difference']:+.1f}", one["difference"]),
        NumberCell(interval, one["low"]),
        NumberCell(format_p(one["p"]), one["p"]),
    ]


def _curve(key: str, shots: list[dict[str, Any]]) -> Markup:
    """Top-1 by the number of examples, a line for each method."""
    titles = list(dict.fromkeys(one["title"] for one in shots))
    points = {title: [one for one in shots if one["title"] == title] for title in titles}
    lines = [
        Curve(title, number, [one["shots"] for one in some], [one["top_1"]["value"] for one in some])
        for number, (title, some) in enumerate(points.items())
    ]
    axes = Axis("examples of a class", log=min(one["shots"] for one in shots) > 0), Axis("top-1 accuracy", most=1.0)
    drawing = draw_lines(f"{key}-shots", "top-1 accuracy by the number of examples of a class", lines, *axes)
    numbers = list(dict.fromkeys(one["shots"] for one in shots))
    rows = [[f"{number:,}", *(_at(points[title], number) for title in titles)] for number in numbers]
    caption = "By the number of examples of a class: the mean of several draws, with its interval of 95 %."
    return join_markup(add_caption([drawing], caption), table(("examples of a class", *titles), rows))


def _at(some: list[dict[str, Any]], number: int) -> NumberCell:
    share = next((one["top_1"] for one in some if one["shots"] == number), None)
    return NumberCell("" if share is None else _share(share), None if share is None else share["value"])


def _share(share: dict[str, float]) -> str:
    return f"{format_percent(share['value'])} [{100 * share['low']:.1f}, {100 * share['high']:.1f}]"


def _signed(found: dict[str, float]) -> str:
    return f"{100 * found['difference']:+.1f} [{100 * found['low']:+.1f}, {100 * found['high']:+.1f}]"
