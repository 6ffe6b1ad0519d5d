"""Accuracy with many classes: top-k, per class or over all examples, and which classes are taken for which."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyclass._core.checks import check_count, check_length
from manyclass.evaluation.labels import as_pair, label_positions

_BLOCK = 1 << 20  # scores that are looked at together


class Confusion(NamedTuple):
    """Number of times that one class was predicted for another.

    Parameters
    ----------
    truth : label
        True class.
    predicted : label
        Predicted class.
    times : int
        Number of examples.
    """

    truth: Any
    predicted: Any
    times: int


def top_k_accuracy(
    y: ArrayLike, scores: ArrayLike, k: int = 5, per_class: bool = True, classes: ArrayLike | None = None
) -> float:
    """Compute the fraction of examples whose class is among the k that score highest.

    Ties count against the classifier: an example is right if fewer than k other classes score at least as high as its
    own, whatever the order of the columns. A classifier that scores all classes equally is never right for k <
    n_classes; for k >= n_classes all examples are right.

    Parameters
    ----------
    y : array-like of shape (n_examples,)
        Columns of the true classes, or labels out of `classes`.
    scores : array-like of shape (n_examples, n_classes)
        Scores without NaN.
    k : int, default=5
        Number of classes.
    per_class : bool, default=True
        Whether the mean is that of the accuracies of the classes in y, so that each counts the same; otherwise every
        example counts the same.
    classes : array-like of shape (n_classes,), default=None
        Labels of the columns.

    Returns
    -------
    float
        Accuracy between 0 and 1.

    Examples
    --------
    >>> scores = [[0.7, 0.2, 0.1], [0.5, 0.4, 0.1], [0.2, 0.2, 0.6]]
    >>> top_k_accuracy([0, 0, 1], scores, k=1), top_k_accuracy([0, 0, 1], scores, k=3)
    (0.5, 1.0)
    >>> top_k_accuracy(["cat", "cat", "dog"], scores, k=1, per_class=False, classes=["cat", "dog", "owl"])
    0.6666666666666666
    """
    where, hits, n_classes = _hits(y, scores, k, classes)
    return _mean_over_classes(where, hits, n_classes) if per_class else float(hits.mean())


def class_accuracies(
    y: ArrayLike, scores: ArrayLike, k: int = 1, classes: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Compute the top-k accuracy of every class.

    Parameters
    ----------
    y : array-like of shape (n_examples,)
        Columns of the true classes, or labels out of `classes`.
    scores : array-like of shape (n_examples, n_classes)
        Scores without NaN.
    k : int, default=1
        Number of classes among which the true one must be.
    classes : array-like of shape (n_classes,), default=None
        Labels of the columns.

    Returns
    -------
    ndarray of shape (n_classes,)
        Accuracies, NaN for classes that y lacks.

    Examples
    --------
    >>> class_accuracies([0, 0, 1], [[2, 1, 0], [1, 2, 0], [0, 2, 1]])
    array([0.5, 1. , nan])
    """
    return _by_class(*_hits(y, scores, k, classes))


def accuracy(y: ArrayLike, predicted: ArrayLike, per_class: bool = True) -> float:
    """Compute the fraction of examples whose predicted label is right.

    Parameters
    ----------
    y : array-like of shape (n_examples,)
        True labels.
    predicted : array-like of shape (n_examples,)
        Predicted labels.
    per_class : bool, default=True
        Whether every class in y counts the same; otherwise every example does.

    Returns
    -------
    float
        Accuracy between 0 and 1.

    Examples
    --------
    >>> accuracy([0, 0, 0, 1], [0, 0, 2, 2]), accuracy([0, 0, 0, 1], [0, 0, 2, 2], per_class=False)
    (0.3333333333333333, 0.5)
    """
    truth, guess = as_pair(y, predicted)
    hits = truth == guess
    if not per_class:
        return float(hits.mean())
    present, where = np.unique(truth, return_inverse=True)
    return _mean_over_classes(where, hits, len(present))


def confusions(y: ArrayLike, predicted: ArrayLike, top: int = 20) -> list[Confusion]:
    """Find the pairs of different labels (true, predicted) that occur most.

    Parameters
    ----------
    y : array-like of shape (n_examples,)
        True labels.
    predicted : array-like of shape (n_examples,)
        Predicted labels.
    top : int, default=20
        Largest number of pairs.

    Returns
    -------
    list of Confusion
        Pairs that occur, the most frequent first; equally frequent ones in the order of their labels.

    Examples
    --------
    >>> confusions(["cat", "cat", "dog"], ["dog", "dog", "owl"], top=1)
    [Confusion(truth='cat', predicted='dog', times=2)]
    """
    check_count(top, "top")
    truth, guess = as_pair(y, predicted)
    labels, where = np.unique(np.concatenate([truth, guess]), return_inverse=True)
    from_, to = np.split(where.astype(np.int64), 2)
    pairs, counts = np.unique((from_ * len(labels) + to)[from_ != to], return_counts=True)
    most = np.argsort(-counts, kind="stable")[:top]
    from_, to = np.divmod(pairs[most], len(labels))
    found = zip(labels[from_].tolist(), labels[to].tolist(), counts[most].tolist(), strict=True)
    return [Confusion(*pair) for pair in found]


def _hits(
    y: ArrayLike, scores: ArrayLike, k: int, classes: ArrayLike | None
) -> tuple[NDArray[np.intp], NDArray[np.bool_], int]:
    """(the column of each example's class, whether it is among the k highest, the number of classes)."""
    check_count(k, "k")
    S = np.asarray(scores)
    if S.ndim != 2:
        raise ValueError(f"scores must have one row per example and one column per class; got shape {S.shape}")
    if S.dtype.kind not in "fiub":
        raise ValueError(f"scores must hold real numbers; got dtype {S.dtype}")
    where = label_positions(y, classes, S.shape[1])
    check_length(where, len(S), "y", "scores")
    hits = np.empty(len(S), bool)
    size = max(1, _BLOCK // S.shape[1])
    for start in range(0, len(S), size):
        at = slice(start, start + size)
        hits[at] = _at_least_as_high(S[at], where[at], start) <= k
    return where, hits, S.shape[1]


def _at_least_as_high(S: NDArray[Any], where: NDArray[np.intp], start: int) -> NDArray[np.intp]:
    """How many classes score at least as high as the right one, which is among them."""
    # The smallest number of a row is NaN if any is.
    nan = np.isnan(S.min(axis=1)) if S.dtype.kind == "f" else np.zeros(len(S), bool)
    if nan.any():
        raise ValueError(f"scores must not be NaN; row {start + int(nan.argmax())} has one")
    own = np.take_along_axis(S, where[:, None], axis=1)
    ahead: NDArray[np.intp] = np.count_nonzero(own <= S, axis=1)
    return ahead


def _by_class(where: NDArray[np.intp], hits: NDArray[np.bool_], n_classes: int) -> NDArray[np.float64]:
    counts = np.bincount(where, minlength=n_classes)
    right = np.bincount(where[hits], minlength=n_classes)
    accuracies = np.full(n_classes, np.nan)
    np.divide(right, counts, out=accuracies, where=counts > 0)
    return accuracies


def _mean_over_classes(where: NDArray[np.intp], hits: NDArray[np.bool_], n_classes: int) -> float:
    return float(np.nanmean(_by_class(where, hits, n_classes)))
