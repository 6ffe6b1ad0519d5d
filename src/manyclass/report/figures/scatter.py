"""Scatter: classes as points of a plane, some of them with their names.

No label lies on another or on a point; those that find no place are left out.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyclass._core.text import shorten
from manyclass.report.figures.svg import LINE, SERIES, TITLED, draw_svg
from manyclass.report.html import Markup

_WIDTH, _HEIGHT, _MARGIN = 420, 400, 12

_BORDER = 5  # from the edge of the sheet to what lies beyond it

_FAR = 3.0  # times the width of the middle half: Tukey's outer fence

_CRUSHED = 1 / 3  # of the drawing, in less of which outliers would leave all others

_SIZES = {"o": 16, **dict.fromkeys("<>^v", 40)}

_FONT, _LETTER = 9.5, 0.68  # size of a label, and how wide a letter is at most on average, as a fraction of it

_LONGEST, _MOST = 20, 45


def draw_embedding(
    key: str, description: str, classes: Sequence[str], x: Sequence[float], y: Sequence[float]
) -> Markup:
    """Draw classes as points; each says its name when pointed at, and as many as there is room for are labeled.

    Parameters
    ----------
    key : str
        What the ids of the drawing begin with.
    description : str
        The drawing in words.
    classes : sequence of str
        The names.
    x, y : sequence of float
        Where each class is.

    Returns
    -------
    Markup
        The SVG element.
    """
    given = np.column_stack([x, y]).astype(np.float64).reshape(-1, 2)
    limits = robust_limits(given)
    placed = _scale_to_page(given, limits)
    points = np.clip(placed, _BORDER, np.array([_WIDTH, _HEIGHT]) - _BORDER)
    beyond = _directions(placed, points)
    names = [shorten(name, _LONGEST) for name in classes]
    widths = np.array([_FONT * _LETTER * len(name) for name in names])
    labels = place_labels(points, widths, 1.25 * _FONT, (_WIDTH, _HEIGHT), 4.0, _MOST)

    def draw(figure: Any) -> None:
        figure.set_layout_engine("none")
        chart = figure.add_axes((0, 0, 1, 1))
        chart.set(xlim=(0, _WIDTH), ylim=(0, _HEIGHT))
        chart.set_axis_off()
        origin = _scale_to_page(np.zeros((1, 2)), limits)[0]
        chart.axvline(origin[0], color=LINE, linewidth=0.8)
        chart.axhline(origin[1], color=LINE, linewidth=0.8)
        for marker in dict.fromkeys(beyond):
            here = points[[mark == marker for mark in beyond]]
            chart.scatter(
                *here.T, s=_SIZES[marker], color=SERIES[0], alpha=0.75, linewidths=0, marker=marker, gid=TITLED
            )
        for label in labels:
            middle = (label.left + label.right) / 2, (label.bottom + label.top) / 2
            side = _anchored_side(points[label.point], label.left, label.right)
            place = {"left": label.left, "right": label.right, "center": middle[0]}[side]
            chart.text(place, middle[1], names[label.point], ha=side, va="center", fontsize=_FONT)

    titles = [
        name for marker in dict.fromkeys(beyond) for name, mark in zip(classes, beyond, strict=True) if mark == marker
    ]
    return draw_svg(key, description, _HEIGHT, draw, titles, _WIDTH)


def _anchored_side(point: NDArray[np.float64], left: float, right: float) -> str:
    """Which end of a label is at its point, however wide the reader's letters are."""
    return "left" if left > point[0] else "right" if right < point[0] else "center"


_Limits = tuple[NDArray[np.float64], NDArray[np.float64]]


def robust_limits(points: NDArray[np.float64]) -> _Limits:
    """The lowest and highest (x, y) of the points that are not outliers of an axis.

    Outliers are farther from the middle half of all than three times its width, where a few of them would leave less
    than a third of the axis to all others.
    """
    low, high = np.quantile(points, [0.25, 0.75], axis=0)
    reach = _FAR * (high - low)
    inside = np.ma.masked_where((points < low - reach) | (points > high + reach), points)
    least, most = np.asarray(inside.min(axis=0)), np.asarray(inside.max(axis=0))
    crushed = most - least < _CRUSHED * np.ptp(points, axis=0)
    return np.where(crushed, least, points.min(axis=0)), np.where(crushed, most, points.max(axis=0))


def outlier_names(classes: Sequence[str], x: Sequence[float], y: Sequence[float]) -> list[str]:
    """The classes that lie beyond the border of their drawing."""
    points = np.column_stack([x, y]).astype(np.float64).reshape(-1, 2)
    low, high = robust_limits(points)
    beyond: NDArray[np.bool_] = np.any((points < low) | (points > high), axis=1)
    return [name for name, out in zip(classes, beyond.tolist(), strict=True) if out]


def _scale_to_page(points: NDArray[np.float64], limits: _Limits) -> NDArray[np.float64]:
    """Points on a sheet with a margin, which what lies between the limits fills."""
    low, high = limits
    span = np.where(high > low, high - low, 1.0)
    sheet = np.array([_WIDTH, _HEIGHT]) - 2 * _MARGIN
    placed: NDArray[np.float64] = _MARGIN + (points - low) / span * sheet
    return placed


def _directions(placed: NDArray[np.float64], points: NDArray[np.float64]) -> list[str]:
    """The marker of each point: a dot, or an arrow to where it would be beyond the border."""
    (dx, dy), far = (placed - points).T, np.abs(placed - points).argmax(axis=1)
    arrows = np.where(far == 0, np.where(dx > 0, ">", "<"), np.where(dy > 0, "^", "v"))
    found: list[str] = np.where((dx == 0) & (dy == 0), "o", arrows).tolist()
    return found


class Label(NamedTuple):
    """A label: whose it is, and its box."""

    point: int
    left: float
    bottom: float
    right: float
    top: float


def place_labels(
    points: NDArray[np.float64],
    widths: NDArray[np.float64],
    height: float,
    size: tuple[float, float],
    gap: float,
    most: int,
) -> list[Label]:
    """At most so many labels of `points` (n, 2) in a field of `size` (width, height), in the points' units.

    Points far from the middle come first: there is room around them, and they are what stands out.
    """
    far = np.linalg.norm(points - points.mean(axis=0), axis=1) if len(points) else np.zeros(0)
    taken: list[Label] = []
    for index in np.argsort(-far, kind="stable").tolist():
        if len(taken) == most:
            break
        for box in _candidate_boxes(index, points[index], widths[index], height, gap):
            if _inside(box, size) and not _covers(box, points) and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                break
    return taken


def _candidate_boxes(
    index: int, point: NDArray[np.float64], width: float, height: float, gap: float
) -> Iterator[Label]:
    """To the right of a point, to the left, above and below it."""
    x, y = point
    for left, bottom in (
        (x + gap, y - height / 2),
        (x - gap - width, y - height / 2),
        (x - width / 2, y + gap),
        (x - width / 2, y - gap - height),
    ):
        yield Label(index, left, bottom, left + width, bottom + height)


def _inside(box: Label, size: tuple[float, float]) -> bool:
    return box.left >= 0 and box.bottom >= 0 and box.right <= size[0] and box.top <= size[1]


def _covers(box: Label, points: NDArray[np.float64]) -> bool:
    x, y = points.T
    return bool(((x >= box.left) & (x <= box.right) & (y >= box.bottom) & (y <= box.top)).any())


def _overlap(a: Label, b: Label) -> bool:
    return a.left < b.right and b.left < a.right and a.bottom < b.top and b.bottom < a.top
