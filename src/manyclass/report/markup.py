"""HTML by function calls: whatever is not markup already is escaped."""

from collections.abc import Iterable
from html import escape
from typing import Any

# Elements that have no content and no end.
_EMPTY = {"br", "hr", "img", "input", "meta"}


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
    return Markup(head if tag in _EMPTY else f"{head}{joined(*children)}</{tag}>")


def joined(*children: Any) -> Markup:
    """Children one after the other, without an element around them."""
    return Markup("".join(_escaped(child) for child in children))


def _attribute(name: str, value: Any) -> str:
    if value is None or value is False:
        return ""
    name = name.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'


def _escaped(child: Any) -> str:
    if child is None:
        return ""
    if isinstance(child, Markup):
        return child
    if isinstance(child, Iterable) and not isinstance(child, str):
        return joined(*child)
    return escape(str(child))
