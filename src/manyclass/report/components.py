"""Components of sections: captioned figures, legends, details that open when they are asked for."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from manyclass.report.figures.svg import SERIES, SIGNS
from manyclass.report.html import Markup, element
from manyclass.report.report_data import RunReport


class Section(NamedTuple):
    """A section of the page: its anchor, its title and what is in it."""

    key: str
    title: str
    body: Markup


def add_caption(drawings: Sequence[Markup], caption: Any, above: Markup | None = None) -> Markup:
    """Drawings beside or under one another, as there is room, and what is to be seen in them."""
    charts = element(
        "div", [element("div", one) for one in drawings], class_="charts" if len(drawings) > 1 else "chart"
    )
    return element("figure", above, charts, element("figcaption", caption))


def legend(runs: Sequence[RunReport]) -> Markup | None:
    """Which sign and color is whose; None if there is nothing to tell apart."""
    if len(runs) < 2:
        return None
    items = [
        element("li", element("i", sign_of(run), style=color_of(run), aria_hidden="true"), " ", run.name)
        for run in runs
    ]
    return element("ul", items, class_="legend")


def sign_of(run: RunReport) -> str:
    """The sign that marks a run's points."""
    return SIGNS[run.number % len(SIGNS)]


def color_of(run: RunReport) -> str:
    """A style with the color of a run."""
    return f"color:var(--series-{run.number % len(SERIES)})"


def fold(summary: str, *content: Any) -> Markup:
    """Content that is seen when it is asked for."""
    return element("details", element("summary", summary), content)


def paragraph(*content: Any) -> Markup:
    """A paragraph."""
    return element("p", content)
