"""Rankings: average precision of one, by trapezoids or rectangles, and its precision at k; and their means.

The means are over queries whose scores rank a whole database, by the official protocols.
"""

from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyclass._core.checks import check_count, check_finite
from manyclass.evaluation.ground_truth import Truth
from manyclass.evaluation.labels import as_labels, check_same_kind
from manyclass.evaluation.protocols import Difficulty, Protocol, Relevance, relevance

Area = Literal["trapezoid", "rectangle"]

Ranks = NDArray[np.intp]


def average_precision(order: ArrayLike, positives: ArrayLike, junk: ArrayLike = (), area: Area = "trapezoid") -> float:
    """Compute the average precision of one ranking: the area under precision against recall.

    Junk images are removed from the ranking first. With r_j the ranks of the P positives from 0 on, j = 0 .. P - 1,

        trapezoid:  1 / P  sum_j  (j / r_j + (j + 1) / (r_j + 1)) / 2        (j / r_j is 1 where r_j = 0)
        rectangle:  1 / P  sum_j  (j + 1) / (r_j + 1)

    Holidays, Oxford, Paris and their revisited forms are scored by trapezoids; trec_eval and scikit-learn use
    rectangles. Every positive must be in `order`, because a page of results has another average precision than the
    whole ranking.

    Parameters
    ----------
    order : array-like of shape (n_images,)
        Images, integers or strings, best first.
    positives : array-like of shape (n_positives,)
        Images that are right.
    junk : array-like of shape (n_junk,), default=()
        Images that are neither right nor wrong.
    area : {"trapezoid", "rectangle"}, default="trapezoid"
        Rule of integration.

    Returns
    -------
    float
        Average precision, NaN if there are no positives.

    Raises
    ------
    ValueError
        If the ranking lacks a positive or has an image twice, or if an image is both positive and junk.

    Examples
    --------
    >>> average_precision(["b", "a", "x", "c"], positives=["a", "c"], junk=["x"])
    0.41666666666666663
    >>> average_precision(["b", "a", "x", "c"], positives=["a", "c"], junk=["x"], area="rectangle")
    0.5833333333333333
    """
    return area_of(_ranks_of_positives(order, positives, junk), area)


def precision_at(order: ArrayLike, positives: ArrayLike, k: int, junk: ArrayLike = ()) -> float:
    """Compute the fraction of positives among the first k images of a ranking, without junk.

    As in the revisited protocol, k is at most the rank of the last positive, so that a query with fewer than k
    positives can reach 1.

    Parameters
    ----------
    order : array-like of shape (n_images,)
        Images, integers or strings, best first.
    positives : array-like of shape (n_positives,)
        Images that are right.
    k : int
        Number of images to look at.
    junk : array-like of shape (n_junk,), default=()
        Images that are neither right nor wrong.

    Returns
    -------
    float
        Precision at k, NaN if there are no positives.

    Examples
    --------
    >>> precision_at([7, 3, 5, 9, 1], positives=[7, 5], k=2), precision_at([7, 3, 5, 9, 1], positives=[7, 5], k=5)
    (0.5, 0.6666666666666666)
    """
    check_count(k, "k")
    return precision_of(_ranks_of_positives(order, positives, junk), k)


def area_of(ranks: Ranks, area: Area) -> float:
    """Average precision by the places of all positives, ascending from 0."""
    if area not in get_args(Area):
        raise ValueError(f"area must be 'trapezoid' or 'rectangle'; got {area!r}")
    if not len(ranks):
        return float("nan")
    found = np.arange(len(ranks), dtype=np.float64)
    after = (found + 1) / (ranks + 1)
    if area == "rectangle":
        return float(after.mean())
    before = np.divide(found, ranks, out=np.ones(len(ranks)), where=ranks > 0)
    return float((before + after).mean() / 2)


def precision_of(ranks: Ranks, k: int) -> float:
    """Precision among the first k, or those up to the last positive, by the places of all positives."""
    if not len(ranks):
        return float("nan")
    looked_at = min(k, int(ranks[-1]) + 1)
    return float(np.count_nonzero(ranks < looked_at) / looked_at)


def _ranks_of_positives(order: ArrayLike, positives: ArrayLike, junk: ArrayLike) -> Ranks:
    """Places of the positives in an order of names or numbers, without the junk."""
    ranked, right, ignored = _as_images(order, "order"), _as_images(positives, "positives"), _as_images(junk, "junk")
    for images, name in ((right, "positives"), (ignored, "junk")):
        if len(images):
            check_same_kind(images, ranked, name, "order")
    if len(both := np.intersect1d(right, ignored)):
        raise ValueError(f"positives and junk must be different images; got {both[0].item()!r} in both")
    distinct, counts = np.unique(ranked, return_counts=True)
    if (counts > 1).any():
        raise ValueError(f"order must hold every image once; got {distinct[counts > 1][0].item()!r} twice")
    right = np.unique(right)
    if missing := len(right) - np.count_nonzero(np.isin(right, distinct)):
        raise ValueError(f"order must hold all {len(right)} positives, as a whole ranking does; it lacks {missing}")
    return np.flatnonzero(np.isin(ranked[~np.isin(ranked, ignored)], right))


def _as_images(values: ArrayLike, name: str) -> NDArray[Any]:
    images = np.asarray(values)
    return images if images.shape == (0,) else as_labels(images, name)


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
    return _mean_of_known(average_precisions(scores, truth, protocol, difficulty, area))


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
    return _measure_queries(scores, truth, protocol, difficulty, lambda ranks: area_of(ranks, area))


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
    check_count(k, "k")
    return _mean_of_known(_measure_queries(scores, truth, protocol, difficulty, lambda ranks: precision_of(ranks, k)))


def _measure_queries(
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
    check_finite(scores[None], "scores", number)
    kinds = np.zeros(len(scores), np.int8)
    kinds[right.positives] = 1
    kinds[right.junk] = -1
    # Backwards twice, so that equal scores keep the order of the database.
    order = (len(scores) - 1 - np.argsort(scores[::-1], kind="stable"))[::-1]
    ranked = kinds[order]
    return np.flatnonzero(ranked[ranked >= 0])


def _mean_of_known(values: NDArray[np.float64]) -> float:
    known = values[~np.isnan(values)]
    if not len(known):
        raise ValueError("truth must have a query with positives under this protocol; got none")
    return float(known.mean())
