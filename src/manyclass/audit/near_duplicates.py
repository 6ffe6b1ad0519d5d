"""duplicates: rows that are the same but for little, within a set or between two, and the groups that they form."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.checks import check_count, check_number
from manyclass._core.typing import Doubles, ProgressFactory, no_progress
from manyclass.audit.cosine_join import CosineJoin
from manyclass.data.inputs import open_rows
from manyclass.retrieval.vectors import Positions

THRESHOLD = 0.95

MOST_PAIRS = 1_000_000


@dataclass(frozen=True)
class Duplicates:
    """Pairs of rows that are nearly the same, the most similar first.

    Parameters
    ----------
    pairs : ndarray of shape (m, 2), int64
        Numbers of rows: of X, the smaller first; or of Y and then of X.
    similarities : ndarray of shape (m,)
        Cosines of the pairs.
    n_rows : int
        Rows that pairs are of: those of X, or those of Y.
    between : bool, default=False
        Whether the first of a pair is a row of Y.
    """

    pairs: Positions
    similarities: Doubles
    n_rows: int
    between: bool = False

    def __len__(self) -> int:
        return len(self.pairs)

    def groups(self) -> list[NDArray[np.int64]]:
        """Join pairs that have a row in common.

        Returns
        -------
        list of ndarray of int64
            Numbers of the rows of every group, ascending; the largest group first. Of pairs between two sets, the rows
            of X follow those of Y, counted on from the last of them.
        """
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        ends = self.pairs + ([0, self.n_rows] if self.between else [0, 0])
        rows, places = np.unique(ends, return_inverse=True)
        if not len(rows):
            return []
        a, b = places.reshape(ends.shape).T
        graph = coo_array((np.ones(len(a), np.int8), (a, b)), shape=(len(rows), len(rows)))
        numbers = connected_components(graph, directed=False)[1]
        order = np.argsort(numbers, kind="stable")
        found: list[NDArray[np.int64]] = np.split(rows[order], np.cumsum(np.bincount(numbers))[:-1])
        return sorted(found, key=lambda group: (-len(group), int(group[0])))

    def redundant(self) -> NDArray[np.int64]:
        """List the rows that could go: all of every group but its first.

        Returns
        -------
        ndarray of int64
            Numbers of rows, ascending.
        """
        return np.sort(np.concatenate([np.zeros(0, np.int64), *(group[1:] for group in self.groups())]))


def duplicates(
    X: Any,
    Y: Any = None,
    *,
    threshold: float = THRESHOLD,
    limit: int = MOST_PAIRS,
    progress: ProgressFactory | None = None,
) -> Duplicates:
    """Find all pairs of rows whose cosine reaches a threshold: near-duplicates within a set, or leaks between two.

    The length of a row does not count, and a row of zeros is near to none.

    The search is exact, in blocks, and never holds all cosines; see `manyclass.audit.cosine_join`. It takes n^2 / 2
    products, each of a part of the columns.

    Parameters
    ----------
    X : matrix-like of shape (n, d)
        Anything that `as_matrix` takes, codes too.
    Y : matrix-like of shape (m, d), default=None
        Other rows, such as those to test on; pairs are of a row of Y and one of X then.
    threshold : float, default=0.95
        The least cosine of a pair. On features of networks, 0.95 finds copies that were resized, cropped a little or
        saved again, and few others; histograms of which most are alike need more.
    limit : int, default=1,000,000
        Pairs to find at most. More are refused: a list of them is of no use, and the threshold is too low.
    progress : callable, default=None
        Called as progress("comparing", "rows") for a context manager that gives a function of (done, total).

    Returns
    -------
    Duplicates
        The pairs, the most similar first.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [0.99, 0.01], [2.0, 0.0]])
    >>> found = duplicates(X, threshold=0.99)
    >>> found.pairs.tolist(), found.groups()
    ([[0, 3], [0, 2], [2, 3]], [array([0, 2, 3])])
    """
    check_threshold(threshold)
    check_count(limit, "limit")
    rows, others = open_rows(X), None if Y is None else open_rows(Y, "Y")
    if others is not None and others.shape[1] != rows.shape[1]:
        raise ValueError(f"Y must have the {rows.shape[1]} columns of X; got {others.shape[1]}")
    join = CosineJoin(rows, threshold, limit)
    asked = rows if others is None else others
    pairs, cosines = [np.zeros((0, 2), np.int64)], [np.zeros(0)]
    with (progress or no_progress)("comparing", "rows") as report:
        for done, found, similar in join.own_pairs() if others is None else join.pairs_with(others):
            pairs.append(found)
            cosines.append(similar)
            report(done, len(asked))
    found, similar = np.concatenate(pairs), np.concatenate(cosines)
    order = np.lexsort((found[:, 1], found[:, 0], -similar))
    return Duplicates(found[order], similar[order], len(asked), others is not None)


def check_threshold(threshold: float) -> None:
    """Refuse what is no cosine of rows that are alike."""
    check_number(threshold, "threshold", "a cosine above 0, and at most 1", above=0, most=1)
