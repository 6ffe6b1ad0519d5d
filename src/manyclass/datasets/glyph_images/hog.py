"""Histograms of oriented gradients of small images: how much edge of which direction lies where."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_DIRECTIONS = 8

_GRIDS = (8, 4)  # cells along a side

_AT_ONCE = 256  # images, whose votes take 8 times their pixels


def glyph_features(images: NDArray[Any]) -> NDArray[np.float32]:
    """Compute histograms of gradient directions of small gray images.

    Every pixel votes with the length of its gradient for the two nearest of 8 directions and for the nearest cells of
    an 8 x 8 and of a 4 x 4 grid; the square roots of the sums are normalized, for each grid and then together.

    Parameters
    ----------
    images : array-like of shape (n_images, height, width)
        Gray images of at least 8 x 8 pixels.

    Returns
    -------
    ndarray of shape (n_images, 640), float32
        Rows of unit length; zeros for an image without edges.

    Examples
    --------
    >>> glyph_features(np.eye(16)[None]).shape
    (1, 640)
    """
    images = np.asarray(images)
    if images.ndim != 3 or min(images.shape[1:]) < 8:
        raise ValueError(f"images must have shape (n, height, width), both at least 8; got {images.shape}")
    if images.dtype.kind not in "fiub":
        raise ValueError(f"images must hold real numbers; got dtype {images.dtype}")
    pools = [(_pooling(images.shape[1], grid), _pooling(images.shape[2], grid)) for grid in _GRIDS]
    out = np.empty((len(images), _DIRECTIONS * sum(grid * grid for grid in _GRIDS)), np.float32)
    for start in range(0, len(images), _AT_ONCE):
        votes = gradient_votes(images[start : start + _AT_ONCE].astype(np.float32))
        grids = [_normalize_rows(np.sqrt((P @ votes @ Q.T).reshape(len(votes), -1))) for P, Q in pools]
        out[start : start + _AT_ONCE] = _normalize_rows(np.concatenate(grids, axis=1))
    return out


def gradient_votes(images: NDArray[np.float32]) -> NDArray[np.float32]:
    """(m, directions, s, s): the length of the gradient, divided between the two nearest directions."""
    dy, dx = np.gradient(images, axis=(1, 2))
    length = np.hypot(dx, dy)
    position = np.arctan2(dy, dx) * np.float32(_DIRECTIONS / (2 * np.pi))
    directions = np.arange(_DIRECTIONS, dtype=np.float32)[:, None, None]
    away = np.abs((position[:, None] - directions + _DIRECTIONS / 2) % _DIRECTIONS - _DIRECTIONS / 2)
    votes: NDArray[np.float32] = np.maximum(0, 1 - away) * length[:, None]
    return votes


def _pooling(side: int, grid: int) -> NDArray[np.float32]:
    """P (grid, side): weight of every pixel in every cell, falling linearly to the centers of its neighbors."""
    pixels = (np.arange(side) + 0.5) * grid / side - 0.5
    weights: NDArray[Any] = np.maximum(0, 1 - np.abs(pixels - np.arange(grid)[:, None]))
    return weights.astype(np.float32)


def _normalize_rows(A: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths: NDArray[np.float32] = np.sqrt(np.einsum("ij,ij->i", A, A))[:, None]
    lengths[lengths == 0] = 1
    return A / lengths
