"""Tables: columns of words to the left, of figures to the right."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from manyclass.report.markup import Markup, element


class Figure(NamedTuple):
    """A cell with a number: as it is shown, what it is sorted by, and the length of a bar behind it, from 0 to 1."""

    shown: str
    value: float | None = None
    bar: float | None = None


def table(
    heads: Sequence[str], rows: Iterable[Sequence[Any]], *, caption: str | None = None, **attributes: Any
) -> Markup:
    """A table in a box that scrolls by itself if it is too wide; the first cell of a row is its head.

    Cells that are `Figure` are set to the right, as is the head of a column whose first cell is one.
    """
    rows = [list(row) for row in rows]
    right = [bool(rows) and isinstance(rows[0][i], Figure) for i in range(len(heads))]
    head = element(
        "tr",
        [element("th", text, scope="col", class_="n" if r else None) for text, r in zip(heads, right, strict=True)],
    )
    body = [element("tr", _cell(row[0], "th"), [_cell(cell, "td") for cell in row[1:]]) for row in rows]
    parts = element(
        "table",
        element("caption", caption) if caption else None,
        element("thead", head),
        element("tbody", body),
        **attributes,
    )
    return element("div", parts, class_="scroll", tabindex="0")


def _cell(cell: Any, tag: str) -> Markup:
    scope = "row" if tag == "th" else None
    if not isinstance(cell, Figure):
        return element(tag, cell, scope=scope)
    style = None if cell.bar is None else f"--share:{100 * cell.bar:.1f}%"
    return element(
        tag, cell.shown, scope=scope, class_="n" if style is None else "n bar", style=style, data_value=cell.value
    )
