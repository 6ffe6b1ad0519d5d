"""Chance: how similar unrelated images are, so that a score can be judged.

The scores of a query against a pool of unrelated images are a sample of what chance gives. Within the sample the chance
p of a score is counted. Beyond it, where all interesting scores lie, the tail is taken to fall exponentially from the
u that a twentieth of the pool exceeds, with the median excess of those:

    p(s) = 1/20 * 2^(-(s - u) / median excess)      for s > u

Tails of similarities fall faster as a rule (those of a Gaussian do), so that p is rather too high: the error is on the
side of *no match*. The median lets some of the pool be related to the query after all.

Among N unrelated images N p are expected to have such a score, and the best one has it with probability
1 - exp(-N p). So the same score means less in a larger gallery.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]

_TAIL = 20  # the part of the pool that is the tail, as 1 in so many
_LEAST = 40  # a smaller pool has no tail to speak of


def percentiles(scores: NDArray[Any], pool: NDArray[Any]) -> Doubles:
    """How many of the pool's scores (q, m) lie below each of scores (q, k), in percent.

    >>> percentiles(np.array([[0.0, 2.5, 9.0]]), np.array([[1.0, 2.0, 3.0, 4.0]]))
    array([[  0.,  50., 100.]])
    """
    ordered = np.sort(pool, axis=1)
    below = [np.searchsorted(row, s, side="left") for row, s in zip(ordered, scores, strict=True)]
    part: Doubles = np.array(below, np.float64).reshape(scores.shape) / pool.shape[1]
    return 100 * part


def chances(scores: NDArray[Any], pool: NDArray[Any]) -> Doubles:
    """The chance that an unrelated image has at least such a score, (q, k), from the pool's scores (q, m)."""
    ordered = np.sort(pool.astype(np.float64), axis=1)
    m = ordered.shape[1]
    found = [m - np.searchsorted(row, s, side="left") for row, s in zip(ordered, scores, strict=True)]
    counted: Doubles = (1.0 + np.array(found, np.float64).reshape(scores.shape)) / (m + 1)
    if m < _LEAST:
        return counted
    tail = m // _TAIL
    u = ordered[:, m - tail - 1]
    excess = np.median(ordered[:, m - tail :], axis=1) - u
    with np.errstate(divide="ignore", invalid="ignore"):
        fall = np.where(scores > u[:, None], (scores - u[:, None]) / excess[:, None], 0.0)
    chance: Doubles = np.where(scores > u[:, None], tail / m * np.exp2(-fall), counted)
    return chance


def most_expected(false_match: float) -> float:
    """The most expected false matches N p at which the best image is still called a match."""
    return float(-np.log1p(-false_match))
