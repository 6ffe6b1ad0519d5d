"""Mean average precision and mean precision at k of scores of whole databases, by the official protocols."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyclass import _checks
from manyclass.evaluation.average_precision import Area, Ranks, area_of, precision_of
from manyclass.evaluation.protocols import Difficulty, Protocol, Relevance, relevance
from manyclass.evaluation.truth import Truth


def mean_average_precision(
    scores: ArrayLike,
    truth: Truth,
    protocol: Protocol,
    difficulty: Difficulty | None = None,
    area: Area = "trapezoid",
) -> float:
    """Compute the mean of `average_precisions` over the queries that have positives.

    Parameters
    ----------
    scores : array-like of shape (n_queries, n_database)
        Similarities of queries and images; columns are in the order of `truth.names`.
    truth : Truth
        Which images are right for which query.
    protocol : {"holidays", "oxford", "revisited"}
        Protocol, as in `average_precisions`.
    difficulty : {"easy", "medium", "hard"}, default=None
        Difficulty of the revisited protocol.
    area : {"trapezoid", "rectangle"}, default="trapezoid"
        Rule of integration.

    Returns
    -------
    float
        Mean average precision.

    Examples
    --------
    >>> truth = Truth.from_labels([0, 1], database=[1, 0, 1])
    >>> mean_average_precision([[0.1, 0.9, 0.3], [0.2, 0.5, 0.4]], truth, protocol="revisited")
    0.7083333333333333
    """
    return _mean(average_precisions(scores, truth, protocol, difficulty, area))


def average_precisions(
    scores: ArrayLike,
    truth: Truth,
    protocol: Protocol,
    difficulty: Difficulty | None = None,
    area: Area = "trapezoid",
) -> NDArray[np.float64]:
    """Compute the average precision of every query.

    Images with equal scores rank in the order of the database. All images must have a finite score, because average
    precision on the first page of results is another number.

    Parameters
    ----------
    scores : array-like of shape (n_queries, n_database)
        Similarities of queries and images; columns are in the order of `truth.names`.
    truth : Truth
        Which images are right for which query.
    protocol : {"holidays", "oxford", "revisited"}
        "holidays" ignores the query in the ranking, "oxford" counts it, and "revisited" is for queries outside the
        database and has a difficulty.
    difficulty : {"easy", "medium", "hard"}, default=None
        Difficulty of the revisited protocol.
    area : {"trapezoid", "rectangle"}, default="trapezoid"
        Rule of integration.

    Returns
    -------
    ndarray of shape (n_queries,)
        Average precisions, NaN for queries without positives.
    """
    return _each(scores, truth, protocol, difficulty, lambda ranks: area_of(ranks, area))


def mean_precision_at(
    scores: ArrayLike, truth: Truth, k: int, protocol: Protocol, difficulty: Difficulty | None = None
) -> float:
    """Compute the mean of `precision_at` k over the queries that have positives: mP@k of the revisited protocol.

    Parameters
    ----------
    scores : array-like of shape (n_queries, n_database)
        Similarities of queries and images; columns are in the order of `truth.names`.
    truth : Truth
        Which images are right for which query.
    k : int
        Number of images to look at.
    protocol : {"holidays", "oxford", "revisited"}
        Protocol, as in `average_precisions`.
    difficulty : {"easy", "medium", "hard"}, default=None
        Difficulty of the revisited protocol.

    Returns
    -------
    float
        Mean precision at k.
    """
    _checks.count(k, "k")
    return _mean(_each(scores, truth, protocol, difficulty, lambda ranks: precision_of(ranks, k)))


def _each(
    scores: ArrayLike,
    truth: Truth,
    protocol: Protocol,
    difficulty: Difficulty | None,
    measure: Callable[[Ranks], float],
) -> NDArray[np.float64]:
    S = np.asarray(scores)
    expected = (len(truth.queries), len(truth.names))
    if S.shape != expected:
        raise ValueError(
            f"scores must have a row per query and a column for every image of the database, {expected}; got {S.shape}"
        )
    if S.dtype.kind not in "fiub":
        raise ValueError(f"scores must hold real numbers; got dtype {S.dtype}")
    wanted = [relevance(query, protocol, difficulty) for query in truth.queries]
    return np.array([measure(_ranks(S[i], right, i)) for i, right in enumerate(wanted)], np.float64)


def _ranks(scores: NDArray[Any], right: Relevance, number: int) -> Ranks:
    """Places of the positives by falling score, without the junk."""
    _checks.finite(scores[None], "scores", number)
    kinds = np.zeros(len(scores), np.int8)
    kinds[right.positives] = 1
    kinds[right.junk] = -1
    # Backwards twice, so that equal scores keep the order of the database.
    order = (len(scores) - 1 - np.argsort(scores[::-1], kind="stable"))[::-1]
    ranked = kinds[order]
    return np.flatnonzero(ranked[ranked >= 0])


def _mean(values: NDArray[np.float64]) -> float:
    known = values[~np.isnan(values)]
    if not len(known):
        raise ValueError("truth must have a query with positives under this protocol; got none")
    return float(known.mean())
