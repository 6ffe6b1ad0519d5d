"""HTML by function calls, in which whatever is not markup is escaped; tables set numbers to the right."""

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, NamedTuple

# Elements that have no content and no end.
_EMPTY = {"br", "hr", "img", "input", "meta", "wbr"}


class Markup(str):
    """Text that is HTML and needs no escaping."""

    __slots__ = ()


def element(tag: str, *children: Any, **attributes: Any) -> Markup:
    """<tag attributes>children</tag>.

    Children are text, which is escaped, markup, lists of both, or None, which is nothing. Underscores in names of
    attributes are hyphens, one at the end falls away; True is an attribute without value, None and False are none.

    >>> element("p", "a < b", element("br"), class_="note", data_value=3)
    '<p class="note" data-value="3">a &lt; b<br></p>'
    """
    head = f"<{tag}{''.join(_attribute(name, value) for name, value in attributes.items())}>"
    return Markup(head if tag in _EMPTY else f"{head}{join_markup(*children)}</{tag}>")


def join_markup(*children: Any) -> Markup:
    """Children one after the other, without an element around them."""
    return Markup("".join(_escape_child(child) for child in children))


def breakable(text: str) -> Markup:
    """Text that may break between the words of a name, after an underscore, a slash, a hyphen or a dot.

    >>> breakable("water_lily<1>")
    'water_<wbr>lily&lt;1&gt;'
    """
    words = re.split(r"(?<=[_/.-])(?=\w)", text)
    return join_markup(words[0], [(element("wbr"), word) for word in words[1:]])


def _attribute(name: str, value: Any) -> str:
    if value is None or value is False:
        return ""
    name = name.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'


def _escape_child(child: Any) -> str:
    if child is None:
        return ""
    if isinstance(child, Markup):
        return child
    if isinstance(child, Iterable) and not isinstance(child, str):
        return join_markup(*child)
    return escape(str(child))


class NumberCell(NamedTuple):
    """A cell with a number: as it is shown, what it is sorted by, and the length of a bar behind it, from 0 to 1."""

    shown: str
    value: float | None = None
    bar: float | None = None


def table(
    heads: Sequence[str], rows: Iterable[Sequence[Any]], *, caption: str | None = None, **attributes: Any
) -> Markup:
    """A table in a box that scrolls by itself if it is too wide; the first cell of a row is its head.

    Cells that are `NumberCell` are set to the right, as is the head of a column whose first cell is one.
    """
    rows = [list(row) for row in rows]
    right = [bool(rows) and isinstance(rows[0][i], NumberCell) for i in range(len(heads))]
    head = element(
        "tr",
        [element("th", text, scope="col", class_="n" if r else None) for text, r in zip(heads, right, strict=True)],
    )
    body = [element("tr", _cell(row[0], "th"), [_cell(cell, "td") for cell in row[1:]]) for row in rows]
    content = element(
        "table",
        element("caption", caption) if caption else None,
        element("thead", head),
        element("tbody", body),
        **attributes,
    )
    return element("div", content, class_="scroll", tabindex="0")


def _cell(cell: Any, tag: str) -> Markup:
    scope = "row" if tag == "th" else None
    if not isinstance(cell, NumberCell):
        return element(tag, cell, scope=scope)
    style = None if cell.bar is None else f"--share:{100 * cell.bar:.1f}%"
    return element(
        tag, cell.shown, scope=scope, class_="n" if style is None else "n bar", style=style, data_value=cell.value
    )
