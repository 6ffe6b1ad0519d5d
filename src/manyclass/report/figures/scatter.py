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
    points = _scale_to_page(np.column_stack([x, y]).astype(np.float64).reshape(-1, 2))
    names = [shorten(name, _LONGEST) for name in classes]
    widths = np.array([_FONT * _LETTER * len(name) for name in names])
    labels = place_labels(points, widths, 1.25 * _FONT, (_WIDTH, _HEIGHT), 4.0, _MOST)

    def draw(figure: Any) -> None:
        figure.set_layout_engine("none")
        chart = figure.add_axes((0, 0, 1, 1))
        chart.set(xlim=(0, _WIDTH), ylim=(0, _HEIGHT))
        chart.set_axis_off()
        origin = _scale_to_page(np.column_stack([x, y]).reshape(-1, 2), np.zeros((1, 2)))[0]
        chart.axvline(origin[0], color=LINE, linewidth=0.8)
        chart.axhline(origin[1], color=LINE, linewidth=0.8)
        chart.scatter(*points.T, s=16, color=SERIES[0], alpha=0.75, linewidths=0, gid=TITLED)
        for label in labels:
            middle = (label.left + label.right) / 2, (label.bottom + label.top) / 2
            side = _anchored_side(points[label.point], label.left, label.right)
            place = {"left": label.left, "right": label.right, "center": middle[0]}[side]
            chart.text(place, middle[1], names[label.point], ha=side, va="center", fontsize=_FONT)

    return draw_svg(key, description, _HEIGHT, draw, list(classes), _WIDTH)


def _anchored_side(point: NDArray[np.float64], left: float, right: float) -> str:
    """Which end of a label is at its point, however wide the reader's letters are."""
    return "left" if left > point[0] else "right" if right < point[0] else "center"


def _scale_to_page(points: NDArray[Any], others: NDArray[Any] | None = None) -> NDArray[np.float64]:
    """Points, or others along with them, on a sheet with a margin; both axes fill it."""
    low, high = points.min(axis=0), points.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    sheet = np.array([_WIDTH, _HEIGHT]) - 2 * _MARGIN
    placed: NDArray[np.float64] = _MARGIN + ((points if others is None else others) - low) / span * sheet
    return placed


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
