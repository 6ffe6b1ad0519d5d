"""Pooling: maps of activations (m, C, h, w) to one vector (m, C) per image."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from manyclass._core.algebra.linalg import l2_normalize
from manyclass._core.checks import check_one_of
from manyclass._core.typing import Doubles

Maps = NDArray[np.float32]

_POWER = 3.0  # of the generalized mean

_LEAST = 1e-6  # at which it cuts activations, as its authors do


def pool(maps: Maps, pooling: str) -> NDArray[np.float32]:
    """The vectors, of unit length, or zero where all activations are; "gem", which cuts them, has no zeros."""
    check_one_of(pooling, "pooling", POOLINGS)
    return l2_normalize(POOLINGS[pooling](maps)).astype(np.float32)


def mean_pool(maps: Maps) -> Doubles:
    """The mean over positions."""
    return np.asarray(maps.mean(axis=(2, 3), dtype=np.float64))


def max_pool(maps: Maps) -> Doubles:
    """The maximum over positions."""
    return np.asarray(maps.max(axis=(2, 3)), np.float64)


def gem_pool(maps: Maps) -> Doubles:
    """GeM: (mean of a^p)^(1/p) over positions, with p = 3, of activations cut at 1e-6 from below."""
    powers = np.maximum(maps, _LEAST).astype(np.float64) ** _POWER
    means: Doubles = powers.mean(axis=(2, 3)) ** (1 / _POWER)
    return means


def spoc_pool(maps: Maps) -> Doubles:
    """SPoC (Babenko and Lempitsky, 2015): the sum over positions, those in the center weighing more."""
    return np.asarray(np.einsum("mchw,hw->mc", maps.astype(np.float64), center_weights(*maps.shape[2:])))


def center_weights(height: int, width: int) -> NDArray[np.float64]:
    """exp(-r^2 / (2 s^2)) at distance r from the center, with s a third of the way to the nearest border.

    >>> center_weights(3, 3).round(3)
    array([[0.018, 0.135, 0.018],
           [0.135, 1.   , 0.135],
           [0.018, 0.135, 0.018]])
    """
    y, x = (np.arange(size) + 0.5 - size / 2 for size in (height, width))
    spread = min(height, width) / 6
    weights: NDArray[np.float64] = np.exp(-(y[:, None] ** 2 + x**2) / (2 * spread**2))
    return weights


POOLINGS: dict[str, Callable[[Maps], Doubles]] = {
    "spoc": spoc_pool,
    "mean": mean_pool,
    "max": max_pool,
    "gem": gem_pool,
}
