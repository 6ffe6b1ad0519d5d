"""Images of other sizes: each pixel a weighted sum of its neighbors, along y and along x."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass import _native

# Entry i of an axis is sum_t weights[t, i] * entry starts[i] + t.
Band = tuple[NDArray[np.int32], NDArray[np.float32]]


def resize(image: NDArray[np.float32], height: int, width: int) -> NDArray[np.float32]:
    """A float32 image (h, w) or (h, w, c) at another size, by cubic interpolation; what would alias is smoothed away.

    >>> resize(np.ones((8, 6), np.float32), 4, 3).shape
    (4, 3)
    """
    if image.shape[:2] == (height, width):
        return image
    return _resample(image, _cubic(image.shape[0], height), _cubic(image.shape[1], width))


def smooth(image: NDArray[np.float32], sigma: float) -> NDArray[np.float32]:
    """A float32 image (h, w) or (h, w, c), convolved with a Gaussian of `sigma` pixels; 0 leaves it as it is."""
    if sigma == 0:
        return image
    return _resample(image, _gaussian(image.shape[0], sigma), _gaussian(image.shape[1], sigma))


def _resample(image: NDArray[np.float32], rows: Band, columns: Band) -> NDArray[np.float32]:
    shape = (len(rows[0]), len(columns[0]), *image.shape[2:])
    out = np.empty(shape, np.float32)
    channels = image.shape[2] if image.ndim == 3 else 1
    planes = np.ascontiguousarray(image).reshape(*image.shape[:2], channels)
    _native.resample(planes, *rows, *columns, out.reshape(*shape[:2], channels))
    return out


@lru_cache(maxsize=512)
def _cubic(n: int, m: int) -> Band:
    """From n entries to m, by Keys' cubic kernel, which is stretched where entries become fewer."""
    centers = (np.arange(m) + 0.5) * n / m - 0.5
    scale = max(1.0, n / m)
    return _band(n, centers, 2 * scale, lambda away: _keys(away / scale))


@lru_cache(maxsize=512)
def _gaussian(n: int, sigma: float) -> Band:
    return _band(n, np.arange(n, dtype=np.float64), 4 * sigma, lambda away: np.exp(-0.5 * (away / sigma) ** 2))


def _band(n: int, centers: NDArray[np.float64], reach: float, kernel: Callable[[NDArray[Any]], NDArray[Any]]) -> Band:
    """Weights kernel(distance) of the entries within `reach` of each center; they add up to 1, also at the ends."""
    taps = min(n, int(np.ceil(2 * reach)) + 1)
    starts = np.clip(np.ceil(centers - reach).astype(np.int32), 0, n - taps)
    weights = kernel(np.abs(starts + np.arange(taps)[:, None] - centers))
    return starts, (weights / weights.sum(axis=0)).astype(np.float32)


def _keys(x: NDArray[np.float64]) -> NDArray[np.float64]:
    near, far = 1 + x * x * (1.5 * x - 2.5), 2 + x * (-4 + x * (2.5 - 0.5 * x))
    values: NDArray[np.float64] = np.where(x < 1, near, np.where(x < 2, far, 0.0))
    return values
