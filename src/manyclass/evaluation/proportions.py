"""Proportions: how well a share is known from so many rows, whether two differ, and what chance alone would give."""

import math

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
    p = right / n
    middle = (p + _Z * _Z / (2 * n)) / (1 + _Z * _Z / n)
    half = _Z / (1 + _Z * _Z / n) * math.sqrt(p * (1 - p) / n + _Z * _Z / (4 * n * n))
    # The ends of shares of 0 and 1 are these, up to rounding.
    return (0.0 if right == 0 else middle - half), (1.0 if right == n else middle + half)


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
