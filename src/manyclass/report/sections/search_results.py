"""Search results: mean average precision of each method, and what is found for some queries."""

from typing import Any

from manyclass._core.text import MISSING, format_count, format_percent, format_points, format_seconds, pluralize
from manyclass.report.components import Section, add_caption
from manyclass.report.figures.bars import Bar, draw_bars
from manyclass.report.html import Markup, NumberCell, element, join_markup, table
from manyclass.report.report_data import ReportData, SearchReport
from manyclass.report.thumbnails import Thumbnails, mark_thumbnail

_HEADS = ("method", "mAP", "95 % interval", "numbers per image", "seconds")

_QUERIES, _RESULTS = 10, 8


def show_search(report: ReportData) -> Section | None:
    """Show how well galleries find images.

    Parameters
    ----------
    report : ReportData
        The records of the page.

    Returns
    -------
    Section or None
        The section; None without a comparison of galleries.
    """
    content = [_search_report(search, i, report) for i, search in enumerate(report.searches)]
    return Section("retrieval", "Image search", join_markup(content)) if content else None


def _search_report(search: SearchReport, number: int, report: ReportData) -> Markup:
    methods = sorted(search.record["methods"], key=lambda method: -method["map"])
    content: list[Any] = [element("h3", search.name) if len(report.searches) > 1 else None]
    if methods:
        bars = [_bar(method) for method in methods]
        drawing = draw_bars(f"map-{number}", "mean average precision of each method", bars)
        rows = [_row(method) for method in methods]
        content += [add_caption([drawing], describe_search(search, methods)), table(_HEADS, rows, class_="sortable")]
    queries = (search.record["queries"] or [])[:_QUERIES]
    if queries:
        thumbnails = Thumbnails(search.record["pictures"], search.folder, report.images, report.taken)
        content += [element("h3", "What is found"), element("p", _describe_results(queries))]
        content += [_query_card(query, thumbnails) for query in queries]
    return join_markup(content)


def describe_search(search: SearchReport, methods: list[dict[str, Any]]) -> str:
    """Which method leads, by how much, and what is known of the difference where the record has compared the two."""
    first = methods[0]
    words = f"Mean average precision ({search.record['protocol']}): "
    if len(methods) == 1:
        return f"{words}{first['name']} has {format_percent(first['map'])}."
    second = methods[1]
    lead = format_points(first["map"] - second["map"])
    return (
        f"{words}{first['name']} leads with {format_percent(first['map'])}, {lead} before {second['name']}"
        f"{_describe_certainty(first, second)}."
    )


def _describe_certainty(first: dict[str, Any], second: dict[str, Any]) -> str:
    """The interval of the paired difference of two methods in words; nothing if they were not compared."""
    interval = _paired_interval(first, second)
    if interval is None:
        return ""
    low, high = interval
    verdict = "more than chance explains" if low > 0 else "so chance may have made it"
    return f"; query by query the lead is {100 * low:.1f} to {100 * high:.1f} points (95 % interval), {verdict}"


def _paired_interval(first: dict[str, Any], second: dict[str, Any]) -> tuple[float, float] | None:
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
        NumberCell(format_percent(method["map"]), method["map"]),
        NumberCell(
            f"{100 * method['low']:.1f} to {format_percent(method['high'])}" if known else MISSING, method["low"]
        ),
        NumberCell(format_count(method["columns"]), method["columns"]),
        NumberCell(MISSING if method["seconds"] is None else format_seconds(method["seconds"]), method["seconds"]),
    ]


def _describe_results(queries: list[dict[str, Any]]) -> str:
    shown = [result for query in queries for result in query["results"][:_RESULTS]]
    right = sum(result["right"] for result in shown)
    return (
        f"{right:,} of the {pluralize(len(shown), 'result')} shown are right. Right ones have a solid frame and ✓, "
        "wrong ones a dashed frame and ✗; under each is its score."
    )


def _query_card(query: dict[str, Any], thumbnails: Thumbnails) -> Markup:
    name = f"{query['name']}, a {query['class']}" if query["class"] else query["name"]
    asked = element(
        "span", thumbnails.show(query["name"], f"query {name}"), element("small", "query"), class_="marked query"
    )
    results = [
        _result_thumbnail(result, place, thumbnails) for place, result in enumerate(query["results"][:_RESULTS], 1)
    ]
    head = element(
        "p", element("b", query["class"] or query["name"]), element("small", query["name"] if query["class"] else None)
    )
    return element("div", head, element("div", asked, results, class_="strip"), class_="card wide")


def _result_thumbnail(result: dict[str, Any], place: int, thumbnails: Thumbnails) -> Markup:
    kind = f", a {result['class']}" if result["class"] else ""
    words = f"{place}: {result['name']}{kind}, {'right' if result['right'] else 'wrong'}"
    score = None if result["score"] is None else f"{result['score']:.2f}"
    return mark_thumbnail(thumbnails.show(result["name"], words), result["right"], score)
