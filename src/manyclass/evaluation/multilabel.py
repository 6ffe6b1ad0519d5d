"""Rows with several labels: F1 over all labels, over classes and over rows; average precision; precision at k.

Labels are lists of labels, an indicator matrix, dense or sparse, or `LabelLists` of positions. With TP, FP and FN the
numbers of labels that were predicted rightly, wrongly and not at all, F1 = 2 TP / (2 TP + FP + FN), and 0 where nothing
was to be predicted and nothing was.
"""

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyclass._core.checks import check_count, check_finite
from manyclass._core.label_lists import LabelLists, LabelPairs
from manyclass._core.typing import Doubles, Floats

Average = Literal["micro", "macro", "samples"]

AnyLabels = Any  # what `LabelPairs.of` reads, or LabelLists


def f1_score(y: AnyLabels, predicted: AnyLabels, average: Average = "micro", n_classes: int | None = None) -> float:
    """Compute F1 of predicted labels: over all pairs of rows and labels, or as a mean over classes or rows.

    Parameters
    ----------
    y : list of list, matrix of shape (n, k), or LabelLists
        The labels of every row.
    predicted : list of list, matrix of shape (n, k), or LabelLists
        The labels that were predicted.
    average : {"micro", "macro", "samples"}, default="micro"
        Over all pairs together; the mean over classes, of which rare ones count as much as frequent ones; or the mean
        over rows.
    n_classes : int, default=None
        Classes that a mean over them is of; by default those that occur in y or among the predictions, or the columns.

    Returns
    -------
    float
        F1, a fraction of 1.

    Examples
    --------
    >>> f1_score([["cat", "dog"], ["cat"]], [["cat"], ["cat", "bird"]])
    0.6666666666666666
    >>> f1_score([["cat", "dog"], ["cat"]], [["cat"], ["cat", "bird"]], "macro")
    0.3333333333333333
    """
    if average not in get_args(Average):
        raise ValueError(f"average must be one of {', '.join(get_args(Average))}; got {average!r}")
    truth, guess, k = _as_pair(y, predicted)
    if average == "samples":
        return float(_f1(truth.hits(guess), truth.counts, guess.counts).mean())
    both = _common(truth, guess).sizes(k)
    counts = both, truth.sizes(k), guess.sizes(k)
    if average == "micro":
        return float(_f1(*(count.sum(keepdims=True) for count in counts))[0])
    n_classes = k if n_classes is None else check_count(n_classes, "n_classes")
    return float(_f1(*counts).sum() / n_classes)


def mean_label_precision(y: AnyLabels, scores: ArrayLike) -> float:
    """Compute the mean over classes of the average precision with which scores rank rows for each (macro mAP).

    It is the area by rectangles, as scikit-learn has it, and of the classes that a row has.

    Parameters
    ----------
    y : list of list of int, matrix of shape (n, k), or LabelLists
        The positions of the labels of every row.
    scores : array-like of shape (n, k)
        The scores.

    Returns
    -------
    float
        The mean; NaN if no row has a label.

    Examples
    --------
    >>> mean_label_precision([[0], [0, 1], []], [[0.9, 0.2], [0.1, 0.8], [0.5, 0.9]])
    0.6666666666666666
    """
    found = label_precisions(y, scores)
    return float(np.nanmean(found)) if np.isfinite(found).any() else float("nan")


def label_precisions(y: AnyLabels, scores: ArrayLike) -> Doubles:
    """Compute the average precision of every class.

    Parameters
    ----------
    y : list of list of int, matrix of shape (n, k), or LabelLists
        The positions of the labels of every row.
    scores : array-like of shape (n, k)
        The scores.

    Returns
    -------
    ndarray of shape (k,)
        The average precisions, NaN for classes without rows.
    """
    S, lists = _as_scores(y, scores)
    found = np.full(S.shape[1], np.nan)
    by_class = lists.rows[np.argsort(lists.classes, kind="stable")]
    ends = np.concatenate([[0], np.cumsum(lists.sizes(S.shape[1]))])
    for c in np.flatnonzero(np.diff(ends)):
        mine = S[by_class[ends[c] : ends[c + 1]], c]
        above = len(S) - np.searchsorted(np.sort(S[:, c]), mine)
        found[c] = ((len(mine) - np.searchsorted(np.sort(mine), mine)) / above).mean()
    return found


def label_precision_at(
    y: AnyLabels, top: ArrayLike, k: int | None = None, propensities: ArrayLike | None = None
) -> float:
    """Compute precision at k: of the k best classes of a row, how many it has, over k; the mean over rows.

    With propensities p, the probabilities that a label is noted where it is right (Jain et al., KDD 2016), every hit
    counts 1 / p, so that rare labels count more, and the mean is divided by the largest that any k classes could have.

    Parameters
    ----------
    y : list of list of int, matrix of shape (n, n_classes), or LabelLists
        The positions of the labels of every row.
    top : array-like of int of shape (n, at least k)
        Positions of the best classes of every row, the best first.
    k : int, default=None
        How many of them; all by default.
    propensities : array-like of shape (n_classes,), default=None
        Those of the classes, such as `label_propensities` gives; 1 by default.

    Returns
    -------
    float
        Precision at k, or propensity-scored precision at k.

    Examples
    --------
    >>> label_precision_at([[0, 2], [1]], [[2, 1], [1, 0]], k=1)
    1.0
    >>> label_precision_at([[0, 2], [1]], [[2, 1], [0, 1]], k=1, propensities=[1, 1, 0.5])
    0.6666666666666666
    """
    best = np.asarray(top)
    if best.ndim != 2 or best.dtype.kind not in "iu":
        raise ValueError(f"top must be a matrix of positions of classes; got shape {best.shape}, dtype {best.dtype}")
    k = best.shape[1] if k is None else check_count(k, "k")
    if k > best.shape[1]:
        raise ValueError(f"top must have at least k = {k} columns; got {best.shape[1]}")
    lists = _as_lists(y, len(best))
    classes = 1 + max(int(lists.classes.max(initial=0)), int(best.max(initial=0)))
    worth = np.ones(classes) if propensities is None else 1 / _as_propensities(propensities, classes)
    taken = best[:, :k]
    own = np.isin(np.arange(len(best))[:, None] * classes + taken, lists.rows * classes + lists.classes)
    gained = float((own * worth[taken]).sum())
    if propensities is None:
        return gained / (k * len(best))
    return gained / max(_most_worth(lists, worth, k), 1e-300)


def label_propensities(sizes: ArrayLike, n: int, a: float = 0.55, b: float = 1.5) -> Doubles:
    """Model how likely a label is to be noted where it is right: 1 / (1 + C (size + b)^-a), C = (log n - 1)(b + 1)^a.

    It is the model of Jain et al. (KDD 2016), whose a and b were found on Wikipedia; Amazon's are 0.6 and 2.6.

    Parameters
    ----------
    sizes : array-like of shape (k,)
        How many of the training rows have each label.
    n : int
        How many training rows there are.
    a : float, default=0.55
        The exponent.
    b : float, default=1.5
        What is added to the size.

    Returns
    -------
    ndarray of shape (k,)
        The propensities, between 0 and 1.

    Examples
    --------
    >>> label_propensities([1, 100, 10_000], 10_000).round(3).tolist()
    [0.109, 0.483, 0.921]
    """
    N = np.asarray(sizes, np.float64)
    if N.ndim != 1 or (N < 0).any():
        raise ValueError(f"sizes must be a vector of counts; got shape {N.shape}")
    C = max(np.log(check_count(n, "n")) - 1, 0) * (b + 1) ** a  # of fewer than three rows it would be below 0
    return np.asarray(1 / (1 + C * (N + b) ** -a))


def _f1(both: NDArray[Any], truth: NDArray[Any], guess: NDArray[Any]) -> Doubles:
    total = truth + guess
    return np.asarray(np.divide(2.0 * both, total, out=np.zeros(len(total)), where=total > 0))


def _common(truth: LabelLists, guess: LabelLists) -> LabelLists:
    """The labels that rows have in both."""
    k = 1 + max(int(lists.classes.max(initial=0)) for lists in (truth, guess))
    kept = np.isin(truth.rows * k + truth.classes, guess.rows * k + guess.classes)
    return LabelLists.of_pairs(truth.rows[kept], truth.classes[kept], len(truth))


def _most_worth(lists: LabelLists, worth: Doubles, k: int) -> float:
    """The largest sum that k classes of every row can have."""
    values = worth[lists.classes]
    order = np.lexsort((-values, lists.rows))
    place = np.arange(len(values)) - lists.starts[:-1][lists.rows]  # rows stay where they are
    return float(values[order][place < k].sum())


def _as_pair(y: AnyLabels, predicted: AnyLabels) -> tuple[LabelLists, LabelLists, int]:
    """True and predicted labels as positions among the same k classes."""
    if isinstance(y, LabelLists) and isinstance(predicted, LabelLists):
        truth, guess = y, predicted
        k = 1 + max(int(lists.classes.max(initial=-1)) for lists in (truth, guess))
    else:
        pairs = [LabelPairs.of(one, name) for one, name in ((y, "y"), (predicted, "predicted"))]
        if len({pair.columns for pair in pairs}) != 1:
            raise ValueError("y and predicted must both be lists of labels, or matrices with the same columns")
        together = np.concatenate([pair.labels for pair in pairs if len(pair.labels)] or [np.zeros(0)])
        classes = np.unique(together) if pairs[0].columns is None else np.arange(pairs[0].columns)
        k = len(classes)
        truth, guess = (
            LabelLists.of_pairs(pair.rows, np.searchsorted(classes, pair.labels) if len(pair.labels) else [], pair.n)
            for pair in pairs
        )
    if len(truth) != len(guess) or not len(truth):
        raise ValueError(f"predicted must have labels for each of {len(truth)} rows of y; got {len(guess)}")
    return truth, guess, k


def _as_lists(y: AnyLabels, n: int) -> LabelLists:
    """Positions of the labels of n rows."""
    if isinstance(y, LabelLists):
        lists = y
    else:
        pairs = LabelPairs.of(y)
        if len(pairs.labels) and (pairs.labels.dtype.kind not in "iu" or pairs.labels.min() < 0):
            raise ValueError(f"y must hold positions of classes; got dtype {pairs.labels.dtype}; use LabelLists")
        lists = LabelLists.of_pairs(pairs.rows, pairs.labels.astype(np.int64), pairs.n)
    if len(lists) != n or not n:
        raise ValueError(f"y must have labels for each of {n} rows; got {len(lists)}")
    return lists


def _as_scores(y: AnyLabels, scores: ArrayLike) -> tuple[Floats, LabelLists]:
    S = np.asarray(scores)
    if S.ndim != 2 or S.dtype.kind != "f":
        raise ValueError(f"scores must be a matrix of floats; got shape {S.shape}, dtype {S.dtype}")
    check_finite(S, "scores")
    lists = _as_lists(y, len(S))
    if lists.classes.max(initial=-1) >= S.shape[1]:
        raise ValueError(f"y must hold positions below {S.shape[1]}, the columns of scores; got {lists.classes.max()}")
    return S, lists


def _as_propensities(propensities: ArrayLike, k: int) -> Doubles:
    p = np.asarray(propensities, np.float64)
    if p.ndim != 1 or len(p) < k or not ((p > 0) & (p <= 1)).all():
        raise ValueError(f"propensities must be numbers above 0 and at most 1, one for each of {k} classes")
    return p
