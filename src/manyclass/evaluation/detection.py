"""Detection: how well a score tells rows of one kind from those of another, such as known classes from unknown ones."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyclass._core.checks import check_fraction


def auroc(positives: ArrayLike, negatives: ArrayLike) -> float:
    """Compute the area under the curve of true against false positives.

    It is the probability that one of the positives scores higher than one of the negatives, where equals count one
    half.

    Parameters
    ----------
    positives : array-like of shape (m,)
        Scores of what is to be found, such as rows of known classes.
    negatives : array-like of shape (n,)
        Scores of all else.

    Returns
    -------
    float
        Area, 0.5 for chance.

    Examples
    --------
    >>> auroc([3, 2], [1, 2])
    0.875
    """
    high, low = _as_scores(positives, "positives"), np.sort(_as_scores(negatives, "negatives"))
    below, not_above = np.searchsorted(low, high, "left"), np.searchsorted(low, high, "right")
    return float((below + not_above).sum() / (2 * len(low) * len(high)))


def false_positive_rate(positives: ArrayLike, negatives: ArrayLike, kept: float = 0.95) -> float:
    """Compute the share of negatives that score as high as it takes to keep so much of the positives.

    Parameters
    ----------
    positives : array-like of shape (m,)
        Scores of what is to be found, such as rows of known classes.
    negatives : array-like of shape (n,)
        Scores of all else.
    kept : float, default=0.95
        Share of the positives that are kept, at least.

    Returns
    -------
    float
        Share of the negatives.

    Examples
    --------
    >>> false_positive_rate([4, 3, 2, 1], [2.5, 0], kept=0.75), false_positive_rate([4, 3, 2, 1], [2.5, 0], kept=0.5)
    (0.5, 0.0)
    """
    check_fraction(kept, "kept")
    high, low = np.sort(_as_scores(positives, "positives"))[::-1], _as_scores(negatives, "negatives")
    # 0.95 of 20 is 19, whatever float64 makes of it.
    least = high[int(np.ceil(kept * len(high) - 1e-9)) - 1]
    return float((low >= least).mean())


def _as_scores(values: Any, name: str) -> NDArray[np.float64]:
    scores = np.asarray(values, np.float64)
    if scores.ndim != 1 or not len(scores) or np.isnan(scores).any():
        raise ValueError(f"{name} must be a vector of at least one score, none of them NaN; got shape {scores.shape}")
    return scores
