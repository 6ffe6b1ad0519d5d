"""Answers that are nodes of a tree: how often they are right, how deep, and how much of the way is right."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def hierarchical_scores(truth: ArrayLike, found: ArrayLike) -> dict[str, Any]:
    """Judge answers that may be any node of a tree by the way from the root to them.

    An answer is right if it is the true node or above it. Precision and recall count the nodes on both ways, the root
    left out, over all rows (Kiritchenko et al., 2006): an answer that is careful loses recall, one that is wrong both.

    Parameters
    ----------
    truth : array-like of int of shape (n, levels)
        The nodes from the root to the true one of each row, the root first, then -1; as `Taxonomy.lineages` gives.
    found : array-like of int of shape (n, levels)
        The same for the answers.

    Returns
    -------
    dict
        `right`, the fraction of answers that are right; `mean_depth` of the answers, the root having depth 0;
        `precision`, `recall` and `f1` of nodes; and `accuracy_at_depth`, a list: for the rows whose true node is at
        least so deep, the fraction whose answer has the right node at that depth.

    Examples
    --------
    >>> truth, found = [[0, 1, 2], [0, 1, 3]], [[0, 1, -1], [0, 1, 2]]
    >>> scores = hierarchical_scores(truth, found)
    >>> scores["right"], scores["mean_depth"], scores["accuracy_at_depth"]
    (0.5, 1.5, [1.0, 1.0, 0.0])
    """
    A, B = _lineages(truth, "truth"), _lineages(found, "found")
    if len(A) != len(B) or not len(A):
        raise ValueError(f"truth and found must have as many rows, at least one; got {len(A)} and {len(B)}")
    levels = max(A.shape[1], B.shape[1])
    A, B = _widened(A, levels), _widened(B, levels)
    same, true, told = (A == B) & (A >= 0), A >= 0, B >= 0
    common, asked, answered = (float(part[:, 1:].sum()) for part in (same, true, told))
    precision, recall = common / answered if answered else 1.0, common / asked if asked else 1.0
    return {
        "right": float(np.mean((same | ~told).all(axis=1))),
        "mean_depth": float(np.mean(told.sum(axis=1) - 1)),
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / (precision + recall) if common else 0.0,
        "accuracy_at_depth": [float(same[rows, depth].mean()) for depth, rows in enumerate(true.T) if rows.any()],
    }


def _lineages(values: ArrayLike, name: str) -> NDArray[np.intp]:
    array = np.asarray(values)
    if array.ndim != 2 or array.dtype.kind not in "iu" or not array.shape[1]:
        raise ValueError(f"{name} must be an array of node numbers of shape (n, levels); got shape {array.shape}")
    there = array >= 0
    if not there[:, 0].all() or (there[:, 1:] & ~there[:, :-1]).any():
        raise ValueError(f"{name} must have the root first in each row, and -1 after the last node alone")
    return array.astype(np.intp)


def _widened(array: NDArray[np.intp], levels: int) -> NDArray[np.intp]:
    return np.pad(array, ((0, 0), (0, levels - array.shape[1])), constant_values=-1)
