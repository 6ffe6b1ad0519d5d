"""Classes as points of a plane, some of them with their names."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.report.drawing import LINE, SERIES, drawing
from manyclass.report.label_places import label_places
from manyclass.report.markup import Markup
from manyclass.report.svg import TITLED
from manyclass.report.words import shortened

_WIDTH, _HEIGHT, _MARGIN = 420, 400, 12
_FONT, _LETTER = 9.5, 0.68  # size of a label, and how wide a letter is at most on average, as a share of it
_LONGEST, _MOST = 20, 45


def draw_embedding(key: str, words: str, classes: Sequence[str], x: Sequence[float], y: Sequence[float]) -> Markup:
    """The classes at (x, y); each says its name when pointed at, and as many as there is room for are labeled."""
    points = _on_paper(np.column_stack([x, y]).astype(np.float64).reshape(-1, 2))
    names = [shortened(name, _LONGEST) for name in classes]
    widths = np.array([_FONT * _LETTER * len(name) for name in names])
    labels = label_places(points, widths, 1.25 * _FONT, (_WIDTH, _HEIGHT), 4.0, _MOST)

    def draw(figure: Any) -> None:
        figure.set_layout_engine("none")
        chart = figure.add_axes((0, 0, 1, 1))
        chart.set(xlim=(0, _WIDTH), ylim=(0, _HEIGHT))
        chart.set_axis_off()
        origin = _on_paper(np.column_stack([x, y]).reshape(-1, 2), np.zeros((1, 2)))[0]
        chart.axvline(origin[0], color=LINE, linewidth=0.8)
        chart.axhline(origin[1], color=LINE, linewidth=0.8)
        chart.scatter(*points.T, s=16, color=SERIES[0], alpha=0.75, linewidths=0, gid=TITLED)
        for label in labels:
            middle = (label.left + label.right) / 2, (label.bottom + label.top) / 2
            side = _side(points[label.point], label.left, label.right)
            place = {"left": label.left, "right": label.right, "center": middle[0]}[side]
            chart.text(place, middle[1], names[label.point], ha=side, va="center", fontsize=_FONT)

    return drawing(key, words, _HEIGHT, draw, list(classes), _WIDTH)


def _side(point: NDArray[np.float64], left: float, right: float) -> str:
    """Which end of a label is at its point, however wide the reader's letters are."""
    return "left" if left > point[0] else "right" if right < point[0] else "center"


def _on_paper(points: NDArray[Any], others: NDArray[Any] | None = None) -> NDArray[np.float64]:
    """Points, or others along with them, on a sheet with a margin; both axes fill it."""
    low, high = points.min(axis=0), points.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    sheet = np.array([_WIDTH, _HEIGHT]) - 2 * _MARGIN
    placed: NDArray[np.float64] = _MARGIN + ((points if others is None else others) - low) / span * sheet
    return placed
