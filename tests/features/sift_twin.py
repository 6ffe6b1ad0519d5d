"""Dense SIFT of one gray image, slow and obvious, in float64."""

import numpy as np
from numpy.typing import NDArray


def votes(gray: NDArray) -> NDArray:
    """(h, w, 8): lengths of gradients, shared between the two nearest directions."""
    dy, dx = np.gradient(gray.astype(np.float64))
    place = np.arctan2(dy, dx) / (np.pi / 4) % 8
    low, share, length = np.floor(place).astype(int) % 8, place % 1, np.hypot(dx, dy)
    out = np.zeros((*gray.shape, 8))
    y, x = np.indices(gray.shape)
    out[y, x, low] = (1 - share) * length
    out[y, x, (low + 1) % 8] += share * length
    return out


def cells(pixels: NDArray, cell: int) -> NDArray:
    """Around every pixel, those within `cell` of it, weighed by a pyramid; those of the edge go on beyond it."""
    h, w = pixels.shape[:2]
    wide = np.pad(pixels, ((cell, cell), (cell, cell), (0, 0)), mode="edge")
    total = np.zeros_like(pixels)
    for dy in range(-cell, cell + 1):
        for dx in range(-cell, cell + 1):
            weight = (1 - abs(dy) / cell) * (1 - abs(dx) / cell)
            total += weight * wide[cell + dy : cell + dy + h, cell + dx : cell + dx + w]
    return total


def patch_at(sums: NDArray, y: int, x: int, cell: int, root: bool) -> NDArray:
    """The patch whose first cell has its center at pixel (y, x)."""
    window = [mean_window(i, cell) for i in range(4)]
    patch = np.outer(window, window)[..., None] * sums[y : y + 3 * cell + 1 : cell, x : x + 3 * cell + 1 : cell]
    if not patch.any():
        return np.zeros(128)
    patch = np.minimum(patch.ravel() / np.linalg.norm(patch), 0.2)
    return np.sqrt(patch / patch.sum()) if root else patch / np.linalg.norm(patch)


def mean_window(i: int, cell: int) -> float:
    """The mean, over the pixels of cell i along an axis, of a Gaussian of two cells around the center of the patch."""
    away = [(i - 1.5) * cell + k for k in range(1 - cell, cell)]
    return float(np.mean([np.exp(-0.5 * (a / (2 * cell)) ** 2) for a in away]))


def patches(gray: NDArray, step: int, cell: int, root: bool = False) -> NDArray:
    """All patches of a grid that is as near to the middle as whole pixels allow, row by row."""
    sums = cells(votes(gray), cell)
    top, left = ((length - 3 * cell - 1) % step // 2 for length in gray.shape)
    rows = range(top, gray.shape[0] - 3 * cell, step)
    columns = range(left, gray.shape[1] - 3 * cell, step)
    return np.array([patch_at(sums, y, x, cell, root) for y in rows for x in columns])
