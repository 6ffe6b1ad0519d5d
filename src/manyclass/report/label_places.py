"""Where labels of points go, so that none lies on another or on a point: those that find no place are left out."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Label(NamedTuple):
    """A label: whose it is, and its box."""

    point: int
    left: float
    bottom: float
    right: float
    top: float


def label_places(
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
        for box in _boxes(index, points[index], widths[index], height, gap):
            if _inside(box, size) and not _covers(box, points) and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                break
    return taken


def _boxes(index: int, point: NDArray[np.float64], width: float, height: float, gap: float) -> Iterator[Label]:
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
