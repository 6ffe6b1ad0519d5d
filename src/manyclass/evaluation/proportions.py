"""Proportions: how well a share is known from so many rows, whether two differ, and what chance alone would give."""

import math

import numpy as np
from numpy.typing import ArrayLike

from manyclass.evaluation.bootstrap import Comparison

_Z = 1.959964  # two-sided 95 % of a normal distribution

_MOST = 10**12  # rows beyond which float64 would lose the difference of one


def wilson_interval(right: int, rows: int) -> tuple[float, float]:
    """Wilson's 95 % interval of the share of all rows, of `right` among `rows` that were drawn; (0, 1) without rows.

    >>> [round(end, 3) for end in wilson_interval(63, 73)]
    [0.766, 0.924]
    >>> wilson_interval(0, 0)
    (0.0, 1.0)
    """
    right, n = _shrink(right, rows)
    if not n:
        return 0.0, 1.0
    return _score_interval(right / n, n)


def _score_interval(p: float, n: float) -> tuple[float, float]:
    """Wilson's interval of a share p of n rows, which need not be whole."""
    middle = (p + _Z * _Z / (2 * n)) / (1 + _Z * _Z / n)
    half = _Z / (1 + _Z * _Z / n) * math.sqrt(p * (1 - p) / n + _Z * _Z / (4 * n * n))
    # The ends of shares of 0 and 1 are these, up to rounding.
    return (0.0 if p == 0 else middle - half), (1.0 if p == 1 else middle + half)


def mean_class_interval(right: ArrayLike, rows: ArrayLike) -> tuple[float, float]:
    """A 95 % interval of the mean over classes of their shares, each `right` among `rows` that were drawn of it.

    The variance of a class is p (1 - p) / (rows - 1), which has no bias; that of a class of one row is told by the mean
    of all. The interval is Wilson's of as many rows, drawn at large, as would have the same variance.

    >>> [round(end, 2) for end in mean_class_interval([9, 3], [10, 10])]
    [0.42, 0.76]
    """
    shares, n = np.asarray(right, float) / np.asarray(rows, float), np.asarray(rows, float)
    p, alike = float(shares.mean()), len(n) ** 2 / float((1 / n).sum())
    each = np.where(n > 1, shares * (1 - shares) / np.maximum(n - 1, 1), p * (1 - p))
    variance = float(each.sum()) / len(n) ** 2
    # Without any variance to see, as of shares of 0 and 1: as many as if all classes had the same share.
    return _score_interval(p, p * (1 - p) / variance if variance > 0 else alike)


def paired_difference(first_alone: int, second_alone: int, rows: int) -> Comparison:
    """Compare two classifiers on the same rows, by how many one of them alone has right.

    The interval of the difference of their shares is Bonett and Price's, at 95 %; p is that of McNemar's test, mid-p.

    >>> found = paired_difference(21, 9, 500)
    >>> [round(value, 3) for value in found]
    [0.024, 0.002, 0.046, 0.029]
    """
    if not rows:
        return Comparison(0.0, -1.0, 1.0, 1.0)
    p, q = (first_alone + 1) / (rows + 2), (second_alone + 1) / (rows + 2)
    half = _Z * math.sqrt((p + q - (p - q) ** 2) / (rows + 2))
    either, most = first_alone + second_alone, max(first_alone, second_alone)
    beyond = binomial_tail(most + 1, either, 0.5) if most < either else 0.0
    chance = min(1.0, binomial_tail(most, either, 0.5) + beyond) if either else 1.0
    return Comparison((first_alone - second_alone) / rows, max(-1.0, p - q - half), min(1.0, p - q + half), chance)


def difference_interval(first: tuple[int, int], second: tuple[int, int], weight: float = 1.0) -> tuple[float, float]:
    """Newcombe's 95 % interval of the difference of two shares, each (right, rows) of rows of its own.

    It is that of p - weight q, made of the intervals of p and q (Zou and Donner's for other weights than 1).

    >>> [round(end, 3) for end in difference_interval((56, 70), (48, 80))]
    [0.052, 0.334]
    """
    (a, m), (b, n) = _shrink(*first), _shrink(*second)
    if not (m and n):
        return -weight, 1.0
    p, q = a / m, weight * b / n
    (p_low, p_high), (q_low, q_high) = wilson_interval(a, m), (weight * end for end in wilson_interval(b, n))
    return p - q - math.hypot(p - p_low, q_high - q), p - q + math.hypot(p_high - p, q - q_low)


def binomial_tail(times: int, trials: int, probability: float) -> float:
    """The probability of at least so many successes in independent trials, P(X >= times).

    >>> round(binomial_tail(2, 3, 0.5), 3), binomial_tail(0, 3, 0.5)
    (0.5, 1.0)
    """
    from scipy.special import betainc

    times, n = _shrink(times, trials)
    return 1.0 if times == 0 else float(betainc(times, n - times + 1, probability))


def _shrink(part: int, whole: int) -> tuple[int, int]:
    """Counts of which the first is no more than the second, and both such that their arithmetic holds."""
    whole = min(max(whole, 0), _MOST)
    return min(max(part, 0), whole), whole
