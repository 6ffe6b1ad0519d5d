"""p-values and E-values: how similar unrelated images are, so that a score can be judged.

The scores of a query against a background set of unrelated images are a sample of the null distribution. Within the
sample the p-value of a score is counted. Beyond it, where all interesting scores lie, the tail is taken to fall
exponentially from the u that a twentieth of the background set exceeds, with the median excess of those:

    p(s) = 1/20 * 2^(-(s - u) / median excess)      for s > u

Tails of similarities fall faster as a rule (those of a Gaussian do), so that p is rather too high: the error is on the
side of *no match*; those of skewed ones (of sparse features, or of a narrow kernel) fall more slowly, and p is too low.
The median lets some of the background set be related to the query after all. Where more of it equal u, as scores of
sparse vectors may, the tail are those above it, in place of a twentieth; if there are none, p is only counted.

Among N unrelated images N p are expected to have such a score: that is the E-value. The best one has it with
probability 1 - exp(-N p). So the same score means less in a larger gallery.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.typing import Doubles

_TAIL = 20  # the fraction of the background that is the tail, as 1 in so many

_LEAST = 40  # a smaller background has no tail to speak of


def percentiles(scores: NDArray[Any], background: NDArray[Any]) -> Doubles:
    """How many of the background's scores (q, m) lie below each of scores (q, k), in percent.

    >>> percentiles(np.array([[0.0, 2.5, 9.0]]), np.array([[1.0, 2.0, 3.0, 4.0]]))
    array([[  0.,  50., 100.]])
    """
    ordered = np.sort(background, axis=1)
    below = [np.searchsorted(row, s, side="left") for row, s in zip(ordered, scores, strict=True)]
    fraction: Doubles = np.array(below, np.float64).reshape(scores.shape) / background.shape[1]
    return 100 * fraction


def p_values(scores: NDArray[Any], background: NDArray[Any]) -> Doubles:
    """p-values (q, k): how likely an unrelated image scores at least as high, by the background's scores (q, m)."""
    ordered = np.sort(background.astype(np.float64), axis=1)
    m = ordered.shape[1]
    found = [m - np.searchsorted(row, s, side="left") for row, s in zip(ordered, scores, strict=True)]
    counted: Doubles = (1.0 + np.array(found, np.float64).reshape(scores.shape)) / (m + 1)
    if m < _LEAST:
        return counted
    u = ordered[:, m - m // _TAIL - 1]
    above, excess = _tail(ordered, u)
    beyond = (scores > u[:, None]) & (above > 0)[:, None]
    fall = np.where(beyond, scores - u[:, None], 0.0) / np.where(above > 0, excess, 1.0)[:, None]
    p: Doubles = np.where(beyond, above[:, None] / m * np.exp2(-fall), counted)
    return p


def _tail(ordered: Doubles, u: Doubles) -> tuple[NDArray[np.intp], Doubles]:
    """How many of each row lie above u (q,), and by how much the middle one of them does."""
    m = ordered.shape[1]
    above = np.count_nonzero(ordered > u[:, None], axis=1)
    middle = np.stack([m - above + (above - 1) // 2, m - above + above // 2], axis=1)
    return above, np.take_along_axis(ordered, np.minimum(middle, m - 1), axis=1).mean(axis=1) - u


def bulk_p_values(scores: NDArray[Any], background: NDArray[Any]) -> Doubles:
    """The same where some of the background may be related to the query, as where it is drawn from the gallery itself.

    Only the bulk of the background is believed: beyond its median m the tail falls exponentially through the quantile
    t that a tenth exceeds, p(s) = 1/2 * 5^(-(s - m) / (t - m)). Below m p is counted. Galleries of Caltech features
    of 16, 50 and 101 classes, with a half of them for background, have at least one image above the line for 71, 75
    and 78 % of queries so, for 5, 33 and 50 % by `p_values`, and for 85, 81 and 76 by those of a background without
    the class of the query; 99.8, 98.6 and 88.0 % of what is above the line is of that class.

    >>> bulk_p_values(np.array([[0.0, 5.0, 9.0, 13.0]]), np.arange(11.0)[None]).round(3)
    array([[1.  , 0.5 , 0.1 , 0.02]])
    """
    middle, tenth = np.quantile(background.astype(np.float64), [0.5, 0.9], axis=1)[:, :, None]
    counted = p_values(scores, background)
    width = np.where(tenth > middle, tenth - middle, 1.0)
    fallen = 0.5 * 5.0 ** (-np.maximum(scores - middle, 0.0) / width)
    p: Doubles = np.where((scores < middle) | (tenth <= middle), counted, fallen)
    return p


def expected_false_matches(scores: NDArray[Any], background: NDArray[Any], n: int) -> Doubles:
    """E-values (q, k): how many of n unrelated images are expected to score at least as high."""
    return n * p_values(scores, background)


def max_expected_matches(false_match: float) -> float:
    """The largest E-value N p at which the best image is still a match."""
    return float(-np.log1p(-false_match))


def judge_scores(
    scores: NDArray[Any], background: NDArray[Any] | None, n: int, false_match: float, by_bulk: bool = False
) -> dict[str, NDArray[Any]]:
    """Percentiles, E-values among n images, and whether the best is a match; nothing without a background set.

    `by_bulk` believes only the bulk of the background, some of which may be related to a query.
    """
    if background is None:
        return {}
    expected = n * (bulk_p_values if by_bulk else p_values)(scores, background)
    return {"percentiles": percentiles(scores, background), **_judged(expected, false_match)}


def judge_by_bulk(
    scores: NDArray[Any], background: NDArray[Any], n: int, false_match: float
) -> dict[str, NDArray[Any]]:
    """E-values among n images, and whether the best is a match, where some of the background may be related."""
    return _judged(n * bulk_p_values(scores, background), false_match)


def _judged(expected: Doubles, false_match: float) -> dict[str, NDArray[Any]]:
    matched = expected.min(axis=1, initial=np.inf) <= max_expected_matches(false_match)
    return {"expected_false_matches": expected, "matched": matched}


_VERDICTS = {
    True: "matched: the best is more alike than chance explains",
    False: "no match: chance explains the best score",
    None: "not judged, as the gallery has too few images and knows no unrelated ones",
}


def verdict(matched: bool | None, p_value: float | None, caution: str | None, copy: bool) -> str:
    """Whether a query is matched, and how likely a stranger would be; or why nobody can say, in words.

    >>> verdict(True, 0.012, None, copy=False)
    'matched: the best is more alike than chance explains (p = 0.012)'
    """
    if copy:
        return "matched: the best has the same features"
    if caution is not None:
        return f"not judged: {caution}"
    return _VERDICTS[matched] + ("" if p_value is None else f" (p = {p_value:.3g})")
