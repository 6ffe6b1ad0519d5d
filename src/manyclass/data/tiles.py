"""Products of a matrix that can only hand out its rows: tile by tile through BLAS.

The tiles depend on the shape alone and are added in their order, so the bits do not depend on the number of threads.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._blas import in_order

Floats = NDArray[np.floating[Any]]

TILE_BYTES = 4 << 20
TILE_ROWS = 256  # fewer rows would leave BLAS packing W for most of its time
PANEL_BYTES = 64 << 20
LONG = 1024  # numbers that BLAS may add up in float32


def matmat(tile: Callable[[slice], Floats], shape: tuple[int, int], W: Floats) -> Floats:
    """X W (n, k), where tile(rows) gives some rows of X (n, d)."""
    n, d = shape
    out = np.empty((n, W.shape[1]), W.dtype)

    def fill(rows: slice) -> None:
        _product(tile(rows), W, out[rows])

    for _ in in_order(fill, spans(n, _height(d, W.itemsize))):
        pass
    return out


def rmatmat(tile: Callable[[slice], Any], shape: tuple[int, int], R: Floats, height: int | None = None) -> Floats:
    """X' R (d, k), from tiles of `height` rows, by default about 4 MB and at most `LONG` rows.

    Each tile is one product in its own dtype, not so long that its sums drift; tiles are added in float64.
    """
    n, d = shape
    tiles = spans(n, height or min(LONG, _height(d, R.itemsize)))
    out = np.empty((d, R.shape[1]), R.dtype)
    # Every thread holds a product of its own, so wide ones are made a panel of columns at a time.
    for columns in spans(R.shape[1], max(1, PANEL_BYTES // (8 * max(1, d)))):
        total = np.zeros((d, columns.stop - columns.start))
        for part in in_order(_part(tile, R[:, columns]), tiles):
            total += part
        out[:, columns] = total
    return out


def _product(X: Floats, W: Floats, out: Floats) -> None:
    """X W for some rows; long ones are added up in float64, some columns at a time, lest their sums drift."""
    if X.shape[1] <= LONG:
        np.matmul(X, W, out=out)
        return
    total = np.zeros((len(X), W.shape[1]))
    for columns in spans(X.shape[1], LONG):
        total += X[:, columns] @ W[columns]
    out[:] = total


def spans(n: int, size: int) -> list[slice]:
    """[0, n) in consecutive slices of `size`.

    >>> spans(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return [slice(start, min(n, start + size)) for start in range(0, n, size)]


def _height(d: int, itemsize: int) -> int:
    return max(TILE_ROWS, TILE_BYTES // max(1, d * itemsize))


def _part(tile: Callable[[slice], Any], R: Floats) -> Callable[[slice], Floats]:
    return lambda rows: tile(rows).T @ R[rows]
