"""Paired bootstrap: whether one method is better than another on the same queries, or by chance of the queries."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyclass._core.checks import check_count

_BLOCK = 1 << 20  # numbers that are drawn together


class Comparison(NamedTuple):
    """Result of a paired comparison of methods a and b.

    Parameters
    ----------
    difference : float
        Mean of a - b.
    low : float
        Lower end of the confidence interval.
    high : float
        Upper end of the confidence interval.
    p : float
        Two-sided p-value of the difference.
    """

    difference: float
    low: float
    high: float
    p: float


def paired_bootstrap(
    a: ArrayLike,
    b: ArrayLike,
    n_resamples: int = 10_000,
    confidence: float = 0.95,
    random_state: int | np.random.Generator | None = None,
    groups: ArrayLike | None = None,
) -> Comparison:
    """Compare two methods by their values for the same queries, such as average precisions.

    Queries are resampled with replacement. The interval lies between percentiles of the resampled mean differences. p
    is two-sided: the fraction of resamples (the observed one included) whose mean is at least as far from the observed
    difference as that is from 0. Queries that are NaN for both methods are left out.

    Queries that belong together, such as images of one class that search for each other, are hard or easy together, and
    intervals that treat them as independent are too short. With `groups`, whole groups are resampled.

    Parameters
    ----------
    a : array-like of shape (n_queries,)
        Values of the first method.
    b : array-like of shape (n_queries,)
        Values of the second method.
    n_resamples : int, default=10_000
        Number of resamples.
    confidence : float, default=0.95
        Confidence level of the interval.
    random_state : int, Generator or None, default=None
        Seed.
    groups : array-like of shape (n_queries,), default=None
        Group of each query.

    Returns
    -------
    Comparison
        Mean difference, interval and p-value.

    Examples
    --------
    >>> paired_bootstrap([0.75, 0.5, 1.0], [0.5, 0.25, 0.75], random_state=0)
    Comparison(difference=0.25, low=0.25, high=0.25, p=...)
    """
    differences, sums, counts = _group_sums(*_paired_differences(a, b), groups)
    check_count(n_resamples, "n_resamples")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be a number between 0 and 1; got {confidence!r}")
    observed = float(differences.mean())
    means = _resampled_means(sums, counts, n_resamples, np.random.default_rng(random_state))
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    # Sums in another order differ by rounding, which must not tell equals apart.
    slack = 1e-12 * float(np.abs(differences).max())
    extreme = np.count_nonzero(np.abs(means - observed) >= abs(observed) - slack)
    return Comparison(observed, float(low), float(high), (1 + extreme) / (1 + n_resamples))


def _paired_differences(a: ArrayLike, b: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """(a - b of the queries that count, which ones count)."""
    first, second = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError(f"a and b must be vectors of the same length; got shapes {first.shape} and {second.shape}")
    left_out = np.isnan(first)
    if (wrong := left_out != np.isnan(second)).any():
        raise ValueError(
            f"a and b must be NaN for the same queries; query {int(wrong.argmax())} is NaN for one of them"
        )
    if left_out.all() or np.isinf(first).any() or np.isinf(second).any():
        raise ValueError(f"a and b must hold finite numbers for at least one query; got {a!r} and {b!r}")
    differences: NDArray[np.float64] = (first - second)[~left_out]
    return differences, ~left_out


def _group_sums(
    differences: NDArray[np.float64], kept: NDArray[np.bool_], groups: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """(the differences, their sum in every group, how many each has); without groups every query is one."""
    if groups is None:
        return differences, differences, np.ones_like(differences)
    labels = np.asarray(groups)
    if labels.shape != kept.shape:
        raise ValueError(f"groups must have one label for each query ({len(kept)}); got shape {labels.shape}")
    _, of = np.unique(labels[kept], return_inverse=True)
    counts = np.bincount(of).astype(np.float64)
    return differences, np.bincount(of, differences).astype(np.float64), counts


def _resampled_means(
    sums: NDArray[np.float64], counts: NDArray[np.float64], n_resamples: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    n = len(sums)
    means = np.empty(n_resamples)
    size = max(1, _BLOCK // n)
    for start in range(0, n_resamples, size):
        stop = min(start + size, n_resamples)
        drawn = rng.integers(n, size=(stop - start, n))
        means[start:stop] = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    return means
