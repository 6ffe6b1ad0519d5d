"""Audit: labels that are likely wrong, rows that are nearly the same or far from all, classes that should be others."""

from typing import Any

from manyclass._core.text import format_percent, pluralize
from manyclass.report.components import Section, paragraph
from manyclass.report.html import Markup, NumberCell, element, join_markup, table
from manyclass.report.report_data import AuditReport, ReportData
from manyclass.report.thumbnails import Thumbnails

_SUSPECTS, _PAIRS, _OUTLIERS, _CLASSES = 48, 24, 24, 50  # that are shown

_OF_SPLIT = 5  # images of a class that should be two


def show_audits(report: ReportData) -> Section | None:
    """Show what is wrong with the data.

    Parameters
    ----------
    report : ReportData
        The records of the page.

    Returns
    -------
    Section or None
        The section; None without an audit.
    """
    content = [_audit(audit, report) for audit in report.audits]
    return Section("audit", "Audit", join_markup(content)) if content else None


def _audit(audit: AuditReport, report: ReportData) -> Markup:
    record = audit.record
    thumbnails = Thumbnails(record["pictures"], audit.folder, report.images, report.taken)
    parts = [
        _group("Labels that are likely wrong", record["label_errors"][:_SUSPECTS], _suspect, thumbnails),
        _group("Rows that are nearly the same", _leaks_first(record["duplicates"])[:_PAIRS], _pair, thumbnails),
        _group("Rows that are unlike the rest of their class", record["outliers"][:_OUTLIERS], _outlier, thumbnails),
        _classes(record["class_pairs"][:_CLASSES]),
        _group("Classes that may be two", record["class_splits"][:_CLASSES], _split, thumbnails),
    ]
    title = element("h3", audit.name) if len(report.audits) > 1 else None
    return join_markup(title, paragraph(describe_audit(record)), parts)


def describe_audit(record: dict[str, Any]) -> str:
    """What was found, in a few sentences."""
    counts, rows = record["counts"], record["data"]["rows"]
    words = [f"{pluralize(rows, 'row')} of {record['data']['path']} were looked at; nothing was changed."]
    if counts.get("label_errors") is not None and record["expected_errors"] is not None:
        share = format_percent(record["expected_errors"] / max(1, counts.get("labels", rows)))
        words.append(f"{share} of the labels are expected to be wrong, and {counts['label_errors']:,} likely are.")
    if counts.get("duplicates") is not None:
        leaks = counts.get("leaks", 0)
        between = f", {leaks:,} of them between two parts: what is tested on them was learned" if leaks else ""
        words.append(f"{pluralize(counts['duplicates'], 'pair')} of rows are nearly the same{between}.")
    words += [f"Note that {note}." for note in record["notes"]]
    return " ".join(words)


def _leaks_first(pairs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(pairs, key=lambda one: one["part"] == one["other_part"])


def _group(title: str, entries: list[dict[str, Any]], card: Any, thumbnails: Thumbnails) -> Markup | None:
    if not entries:
        return None
    cards = [card(one, thumbnails) for one in entries]
    return join_markup(element("h3", title), element("div", cards, class_="cards"))


def _card(head: list[Any], shown: list[Markup]) -> Markup:
    return element("div", element("p", head), element("div", shown, class_="strip"), class_="card")


def _suspect(one: dict[str, Any], thumbnails: Thumbnails) -> Markup:
    words = f"{one['name']}, labeled {one['given']}, perhaps {one['proposed']}"
    head = [element("b", one["given"]), " → ", element("b", one["proposed"])]
    likely = element("small", f"{format_percent(one['probability'], 0)} likely wrong; row {one['row']}")
    return _card([*head, likely], [thumbnails.show(one["name"], words)])


def _pair(one: dict[str, Any], thumbnails: Thumbnails) -> Markup:
    ends = [(one["name"], one["class"], one["part"]), (one["other_name"], one["other_class"], one["other_part"])]
    shown = [thumbnails.show(name, ", ".join(filter(None, (name, kind, part)))) for name, kind, part in ends]
    classes = " and ".join(dict.fromkeys(kind for _, kind, _ in ends if kind)) or "pair"
    leak = f"; {one['part']} and {one['other_part']}" if one["part"] != one["other_part"] else ""
    about = element("small", f"cosine {one['similarity']:.3f}; rows {one['row']} and {one['other']}{leak}")
    return _card([element("b", classes), about], shown)


def _outlier(one: dict[str, Any], thumbnails: Thumbnails) -> Markup:
    about = element("small", f"farther than {one['percentile']:.1f} % of rows; row {one['row']}")
    words = f"{one['name']}, unlike the rest of {one['class'] or 'the rows'}"
    return _card([element("b", one["class"] or one["name"]), about], [thumbnails.show(one["name"], words)])


def _split(one: dict[str, Any], thumbnails: Thumbnails) -> Markup:
    about = element("small", f"{one['smaller']} of {one['rows']} rows are of another kind, such as these")
    shown = [thumbnails.show(name, f"{name}, of the smaller kind") for name in one["examples"][:_OF_SPLIT]]
    return _card([element("b", one["class"]), about], shown)


def _classes(pairs: list[dict[str, Any]]) -> Markup | None:
    if not pairs:
        return None
    rows = [
        [
            pair["first"],
            pair["second"],
            NumberCell(f"{pair['confused']:,}", pair["confused"]),
            NumberCell(f"{pair['rows']:,}", pair["rows"]),
            NumberCell(f"{100 * pair['low']:.0f} to {format_percent(pair['high'], 0)}", pair["low"]),
            "cannot be told apart" if pair["same"] else "taken for one another",
        ]
        for pair in pairs
    ]
    heads = ("class", "other", "confused", "rows", "95 % interval", "verdict")
    return join_markup(element("h3", "Classes that may be one"), table(heads, rows, class_="sortable"))
