"""Image search: mean average precision of each method, and what is found for some queries."""

from typing import Any

from manyclass._core.text import MISSING, format_count, format_percent, format_points, format_seconds, pluralize
from manyclass.report.collect import ReportData, SearchReport
from manyclass.report.components import Section, add_caption
from manyclass.report.figures.bars import Bar, draw_bars
from manyclass.report.html import Figure, Markup, element, join_markup, table
from manyclass.report.thumbnails import Thumbnails, mark_thumbnail

_HEADS = ("method", "mAP", "95 % interval", "numbers per image", "seconds")

_QUERIES, _RESULTS = 10, 8


def retrieval(material: ReportData) -> Section | None:
    """The section "Image search"; None without a comparison of galleries."""
    parts = [_search(search, i, material) for i, search in enumerate(material.searches)]
    return Section("retrieval", "Image search", join_markup(parts)) if parts else None


def _search(search: SearchReport, number: int, material: ReportData) -> Markup:
    methods = sorted(search.record["methods"], key=lambda method: -method["map"])
    parts: list[Any] = [element("h3", search.name) if len(material.searches) > 1 else None]
    if methods:
        bars = [_bar(method) for method in methods]
        drawing = draw_bars(f"map-{number}", "mean average precision of each method", bars)
        rows = [_row(method) for method in methods]
        parts += [add_caption([drawing], standing(search, methods)), table(_HEADS, rows, class_="sortable")]
    queries = (search.record["queries"] or [])[:_QUERIES]
    if queries:
        pictures = Thumbnails(search.record["pictures"], search.folder, material.images)
        parts += [element("h3", "What is found"), element("p", _found(queries))]
        parts += [_strip(query, pictures) for query in queries]
    return join_markup(parts)


def standing(search: SearchReport, methods: list[dict[str, Any]]) -> str:
    """Which method leads, by how much, and what is known of the difference where the record has compared the two."""
    first = methods[0]
    words = f"Mean average precision ({search.record['protocol']}): "
    if len(methods) == 1:
        return f"{words}{first['name']} has {format_percent(first['map'])}."
    second = methods[1]
    lead = format_points(first["map"] - second["map"])
    return (
        f"{words}{first['name']} leads with {format_percent(first['map'])}, {lead} before {second['name']}"
        f"{_certainty(first, second)}."
    )


def _certainty(first: dict[str, Any], second: dict[str, Any]) -> str:
    """The interval of the paired difference of two methods in words; nothing if they were not compared."""
    interval = _difference(first, second)
    if interval is None:
        return ""
    low, high = interval
    verdict = "more than chance explains" if low > 0 else "so chance may have made it"
    return f"; query by query the lead is {100 * low:.1f} to {100 * high:.1f} points (95 % interval), {verdict}"


def _difference(first: dict[str, Any], second: dict[str, Any]) -> tuple[float, float] | None:
    """The interval of first - second: either may be the one that the other was held against."""
    ahead, behind = first["against"], second["against"]
    if ahead is not None and ahead["method"] == second["name"]:
        return ahead["low"], ahead["high"]
    if behind is not None and behind["method"] == first["name"]:
        return -behind["high"], -behind["low"]
    return None


def _bar(method: dict[str, Any]) -> Bar:
    known = method["low"] is not None and method["high"] is not None
    return Bar(
        method["name"],
        0,
        method["map"],
        format_percent(method["map"]),
        (method["low"], method["high"]) if known else None,
    )


def _row(method: dict[str, Any]) -> list[Any]:
    known = method["low"] is not None and method["high"] is not None
    return [
        method["name"],
        Figure(format_percent(method["map"]), method["map"]),
        Figure(f"{100 * method['low']:.1f} to {format_percent(method['high'])}" if known else MISSING, method["low"]),
        Figure(format_count(method["columns"]), method["columns"]),
        Figure(MISSING if method["seconds"] is None else format_seconds(method["seconds"]), method["seconds"]),
    ]


def _found(queries: list[dict[str, Any]]) -> str:
    shown = [result for query in queries for result in query["results"][:_RESULTS]]
    right = sum(result["right"] for result in shown)
    return (
        f"{right:,} of the {pluralize(len(shown), 'result')} shown are right. Right ones have a solid frame and ✓, "
        "wrong ones a dashed frame and ✗; under each is its score."
    )


def _strip(query: dict[str, Any], pictures: Thumbnails) -> Markup:
    name = f"{query['name']}, a {query['class']}" if query["class"] else query["name"]
    asked = element(
        "span", pictures.show(query["name"], f"query {name}"), element("small", "query"), class_="marked query"
    )
    results = [_result(result, place, pictures) for place, result in enumerate(query["results"][:_RESULTS], 1)]
    head = element(
        "p", element("b", query["class"] or query["name"]), element("small", query["name"] if query["class"] else None)
    )
    return element("div", head, element("div", asked, results, class_="strip"), class_="card wide")


def _result(result: dict[str, Any], place: int, pictures: Thumbnails) -> Markup:
    kind = f", a {result['class']}" if result["class"] else ""
    words = f"{place}: {result['name']}{kind}, {'right' if result['right'] else 'wrong'}"
    score = None if result["score"] is None else f"{result['score']:.2f}"
    return mark_thumbnail(pictures.show(result["name"], words), result["right"], score)
