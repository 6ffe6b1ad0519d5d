"""The classes of highest score, found a panel of classes at a time: all scores are never held at once."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from manyclass._core.parallel import thread_map
from manyclass._core.typing import Floats
from manyclass.data.matrix import spans
from manyclass.solvers.row_sums import Scorer

# Rows enough to make a good product, unless they are very long, and panels whose scores stay in the cache.
_ROWS, _CLASSES = 64, 1024

_BYTES = 2 << 20

Places = NDArray[np.intp]


def top_classes(block: Callable[[slice], Scorer], shape: tuple[int, int], k: int, top: int = 1) -> Places:
    """Find the classes of highest score for each of n rows, the best first; of equals the first.

    Blocks and panels depend on the shapes alone, and so the bits do not depend on the number of threads.

    Parameters
    ----------
    block : callable
        The function (rows) that reads a slice of the rows, and gives the function (classes) of their scores (m, p)
        for a slice of classes.
    shape : tuple of int
        (n, d), the shape of X.
    k : int
        The number of classes.
    top : int, default=1
        How many classes to find, at most k.

    Returns
    -------
    ndarray of intp of shape (n, top)
        The classes.

    Examples
    --------
    >>> S = np.array([[1, 3, 3], [2, 1, 0]])
    >>> top_classes(lambda rows: lambda classes: S[rows, classes], (2, 1), 3, top=2)
    array([[1, 2],
           [0, 1]])
    """
    n, d = shape
    height = max(1, min(_ROWS, _BYTES // (2 * max(1, d)), _BYTES // (16 * top)))
    # As many classes as have a copy of their weights in float64, which rows of float64 need, in so many bytes.
    panels = spans(k, max(8, min(_CLASSES, _BYTES // (8 * max(1, d)))))
    found = thread_map(lambda rows: _best(block(rows), panels, top), spans(n, height))
    return np.concatenate([np.zeros((0, top), np.intp), *found])


def _best(scores: Scorer, panels: list[slice], top: int) -> Places:
    first, *others = panels
    S = scores(first)
    classes = _highest(S, top)
    values = np.take_along_axis(S, classes, axis=1)
    for panel in others:
        # What is best so far stands before the panel, as its classes do: of equals the first stay first.
        S = np.concatenate([values, scores(panel)], axis=1)
        places = _highest(S, top)
        values, old = np.take_along_axis(S, places, axis=1), classes.shape[1]
        known = np.take_along_axis(classes, np.minimum(places, old - 1), axis=1)
        classes = np.where(places < old, known, places - old + panel.start)
    return classes


def _highest(S: Floats, top: int) -> Places:
    """Where the highest numbers of each row are, the highest first, of equals the first; all if they are fewer."""
    if top == 1:
        first: Places = np.argmax(S, axis=1, keepdims=True)
        return first
    if top >= S.shape[1]:
        return np.argsort(-S, axis=1, kind="stable")
    places = np.argpartition(S, -top, axis=1)[:, -top:]
    least = np.take_along_axis(S, places[:, :1], axis=1)
    # A partition picks any of those that equal the least.
    tied = np.count_nonzero(least <= S, axis=1) > top
    places[tied] = np.argsort(-S[tied], axis=1, kind="stable")[:, :top]
    places.sort(axis=1)
    order = np.argsort(-np.take_along_axis(S, places, axis=1), axis=1, kind="stable")
    found: Places = np.take_along_axis(places, order, axis=1)
    return found
