"""Classes whose held-out rows have similar losses, in clusters that share a threshold (Ding et al., NeurIPS 2023)."""

import numpy as np
from numpy.typing import NDArray

from manyclass._core.typing import Doubles
from manyclass.estimators.uncertainty.held_out import HeldOut

_LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9)  # of quantiles of losses, by which classes are compared

_STEPS = 100  # of k-means, which ends long before


def cluster_classes(held_out: HeldOut, k: int, coverage: float) -> NDArray[np.intp]:
    """The cluster of every class (k,), from 0 on; -1 of those that have too few rows to say anything of.

    A class needs rows enough for a quantile of `coverage`, and of 0.9. There are half as many clusters as the class
    with the fewest of these has rows, so that clusters have many more rows than classes where classes are many.

    >>> y = np.repeat(np.arange(6), 10)
    >>> losses = (np.tile(np.arange(10), 6) * np.where(y % 2 == 0, 1, 9)).astype(np.float32)
    >>> cluster_classes(HeldOut(*[losses] * 3, y.astype(np.int32), np.ones(60, np.float32)), 6, 0.9)
    array([0, 1, 0, 1, 0, 1])
    """
    counts = np.bincount(held_out.classes, minlength=k)
    least = int(np.ceil(1 / min(1 - coverage, 1 - _LEVELS[-1]) - 1e-9)) - 1
    told = np.flatnonzero(counts >= least)
    n_clusters = int(counts[told].min()) // 2 if len(told) else 0
    of_class = np.full(k, -1)
    if min(n_clusters, len(told)) >= 2:
        places = np.array([_quantiles(held_out.losses[held_out.classes == one], coverage) for one in told])
        of_class[told] = weighted_k_means(places, np.sqrt(counts[told]), min(n_clusters, len(told)))
    return of_class


def _quantiles(losses: NDArray[np.float32], coverage: float) -> Doubles:
    found: Doubles = np.quantile(losses.astype(np.float64), [*_LEVELS, coverage])
    return found


def weighted_k_means(points: Doubles, weights: Doubles, n_clusters: int) -> NDArray[np.intp]:
    """The cluster of every point (m,), from 0 on, of points (m, d) that count by their weights.

    It begins with groups of as many points each in the order of their sums, and so needs no random numbers.

    >>> weighted_k_means(np.array([[0.0], [9.0], [0.1], [9.1], [8.9]]), np.ones(5), 2).tolist()
    [0, 1, 0, 1, 1]
    """
    rank = np.argsort(np.argsort(points.sum(axis=1), kind="stable"), kind="stable")
    of_point = rank * n_clusters // len(points)
    for _ in range(_STEPS):
        shares = np.zeros((n_clusters, len(points)))
        shares[of_point, np.arange(len(points))] = weights
        used = shares.sum(axis=1) > 0
        centers = shares[used] @ points / shares[used].sum(axis=1, keepdims=True)
        distances = ((points[:, None, :] - centers) ** 2).sum(axis=2)
        nearest = np.flatnonzero(used)[distances.argmin(axis=1)]
        if (nearest == of_point).all():
            break
        of_point = nearest
    return np.unique(of_point, return_inverse=True)[1]
