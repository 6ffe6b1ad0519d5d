"""Lines: a quantity against another, one line for each run."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from manyclass._core.text import shorten
from manyclass.report.figures.svg import MARKERS, SERIES, TEXT, bounded, draw_svg
from manyclass.report.html import Markup

_MARKED = 25  # points of a line that are marked one by one


@dataclass(frozen=True)
class Curve:
    """A line of a chart.

    Parameters
    ----------
    name : str
        Whose it is.
    number : int
        The number of its color and marker.
    x, y : sequence of float
        Its points.
    chosen : int, default=None
        The point with a ring; None for none.
    """

    name: str
    number: int
    x: Sequence[float]
    y: Sequence[float]
    chosen: int | None = None


@dataclass(frozen=True)
class Axis:
    """An axis of a chart.

    Parameters
    ----------
    label : str
        What is on it.
    log : bool, default=False
        Whether it goes by factors.
    most : float, default=None
        What no value is above; None for no such bound.
    """

    label: str
    log: bool = False
    most: float | None = None


def draw_lines(key: str, description: str, lines: Sequence[Curve], x: Axis, y: Axis, height: float = 230) -> Markup:
    """Draw lines on one pair of axes; the chosen point of a line has a ring.

    Parameters
    ----------
    key : str
        What the ids of the drawing begin with.
    description : str
        The drawing in words.
    lines : sequence of Curve
        The lines.
    x, y : Axis
        The axes.
    height : float, default=230
        The height in points.

    Returns
    -------
    Markup
        The SVG element.
    """

    lines = [replace(line, x=bounded(line.x), y=bounded(line.y)) for line in lines]

    def draw(figure: Any) -> None:
        chart = figure.subplots()
        for line in lines:
            _draw_line(chart, line)
        chart.set(xlabel=shorten(x.label, 40), ylabel=shorten(y.label, 40))
        if x.log:
            chart.set_xscale("log")
        if y.log:
            chart.set_yscale("log")
        if y.most is not None:  # with room for half a marker
            low, high = chart.get_ylim()
            chart.set_ylim(low, min(high, y.most + 0.03 * (y.most - low)))
        _set_ticks(chart.xaxis, x, [value for line in lines for value in line.x])
        _set_ticks(chart.yaxis, y, [value for line in lines for value in line.y])

    return draw_svg(key, description, height, draw)


def is_wide(values: Sequence[float]) -> bool:
    """Whether positive values spread so far that factors show them better.

    >>> is_wide([1, 2, 4, 64]), is_wide([1, 2, 3]), is_wide([0, 100])
    (True, False, False)
    """
    return len(values) > 0 and min(values) > 0 and max(values) / min(values) > 20


def _draw_line(chart: Any, line: Curve) -> None:
    color, marker = SERIES[line.number % len(SERIES)], MARKERS[line.number % len(MARKERS)]
    every = max(1, -(-len(line.x) // _MARKED))
    chart.plot(line.x, line.y, color=color, marker=marker, markevery=every)
    if line.chosen is not None:
        place = [line.x[line.chosen]], [line.y[line.chosen]]
        chart.plot(*place, marker="o", markersize=12, markerfacecolor="none", markeredgecolor=TEXT, markeredgewidth=1.5)


def _set_ticks(axis: Any, kind: Axis, values: Sequence[float]) -> None:
    """Plain numbers on the ticks: few enough to stand apart, and whole where the values are."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    if kind.log:
        decades = len(values) > 0 and max(values) / min(values) > 100
        axis.set_major_locator(LogLocator(subs=(1.0,) if decades else (1.0, 2.0, 5.0), numticks=7))
        axis.set_minor_formatter(NullFormatter())
    else:
        axis.set_major_locator(MaxNLocator(6, integer=all(float(value).is_integer() for value in values)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.6g}"))
