"""Average precision of one ranking, by trapezoids or rectangles, and its precision at k."""

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyclass import _checks
from manyclass.evaluation.labels import as_labels, same_kind

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
    return area_of(_ranks(order, positives, junk), area)


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
    _checks.count(k, "k")
    return precision_of(_ranks(order, positives, junk), k)


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


def _ranks(order: ArrayLike, positives: ArrayLike, junk: ArrayLike) -> Ranks:
    """Places of the positives in an order of names or numbers, without the junk."""
    ranked, right, ignored = _images(order, "order"), _images(positives, "positives"), _images(junk, "junk")
    for images, name in ((right, "positives"), (ignored, "junk")):
        if len(images):
            same_kind(images, ranked, name, "order")
    if len(both := np.intersect1d(right, ignored)):
        raise ValueError(f"positives and junk must be different images; got {both[0].item()!r} in both")
    distinct, counts = np.unique(ranked, return_counts=True)
    if (counts > 1).any():
        raise ValueError(f"order must hold every image once; got {distinct[counts > 1][0].item()!r} twice")
    right = np.unique(right)
    if missing := len(right) - np.count_nonzero(np.isin(right, distinct)):
        raise ValueError(f"order must hold all {len(right)} positives, as a whole ranking does; it lacks {missing}")
    return np.flatnonzero(np.isin(ranked[~np.isin(ranked, ignored)], right))


def _images(values: ArrayLike, name: str) -> NDArray[Any]:
    images = np.asarray(values)
    return images if images.shape == (0,) else as_labels(images, name)
