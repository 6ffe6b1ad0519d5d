"""Bars: one quantity for each of several names, with the number at the end of the bar and perhaps an interval."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from manyclass._core.text import shorten
from manyclass.report.figures.svg import LINE, SERIES, TEXT, bounded, draw_svg
from manyclass.report.html import Markup

_STEP, _EDGE = 26, 16  # points for each bar, and for what is around them

_LONGEST = 22


@dataclass(frozen=True)
class Bar:
    """A bar of a chart.

    Parameters
    ----------
    name : str
        What stands before it.
    number : int
        The number of its color.
    value : float
        Its length, at least 0.
    shown : str
        What is written at its end.
    interval : tuple of float, default=None
        Low and high, drawn over it; None for none.
    """

    name: str
    number: int
    value: float
    shown: str
    interval: tuple[float, float] | None = None


def draw_bars(key: str, description: str, bars: Sequence[Bar]) -> Markup:
    """Draw bars one under the other, all from 0, without an axis: the numbers are at their ends.

    Parameters
    ----------
    key : str
        What the ids of the drawing begin with.
    description : str
        The drawing in words.
    bars : sequence of Bar
        The bars, from the top.

    Returns
    -------
    Markup
        The SVG element.
    """

    def draw(figure: Any) -> None:
        chart = figure.subplots()
        places = range(len(bars))
        colors = [SERIES[bar.number % len(SERIES)] for bar in bars]
        chart.barh(places, bounded(bar.value for bar in bars), height=0.62, color=colors)
        longest = max(_end(bar) for bar in bars) or 1.0
        for place, bar in zip(places, bars, strict=True):
            if bar.interval is not None:
                chart.plot(bounded(bar.interval), [place, place], color=TEXT, linewidth=1.4, marker="|", markersize=7)
            chart.text(_end(bar) + 0.02 * longest, place, bar.shown, va="center", fontsize=10)
        chart.set_yticks(places, [shorten(bar.name, _LONGEST) for bar in bars])
        chart.set(xlim=(0, 1.28 * longest), ylim=(len(bars) - 0.4, -0.6), xticks=[])
        chart.grid(visible=False)
        chart.spines["bottom"].set_visible(False)
        chart.spines["left"].set_color(LINE)

    return draw_svg(key, description, _STEP * len(bars) + _EDGE, draw)


def _end(bar: Bar) -> float:
    return max(bounded([bar.value, bar.interval[1]] if bar.interval else [bar.value]))
