"""Held-out scores: what all other rows say of a row, for every class, some rows at a time.

Two views of a row, of which neither has seen its label: ridge machines of all other rows, by the exact leave-one-out of
the closed form, and the labels of its nearest other rows. To do it all again with rows weighted by the probability that
their labels are right was tried: it found 1 point less of the flips to any class, and 2 more of those to the most
similar one, on Caltech, and 1 less of both on Omniglot.
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from manyclass._core.algebra.linalg import unit_rows
from manyclass._core.parallel import one_blas_thread
from manyclass._core.typing import Embeddings, Labels, Singles
from manyclass.data.matrix import Matrix, spans
from manyclass.data.moments import center_rows, column_means
from manyclass.retrieval.search import best_candidates
from manyclass.solvers.closed_form import closed_form
from manyclass.solvers.fixed_strength import FixedStrength
from manyclass.solvers.leave_one_out import LeaveOneOut
from manyclass.solvers.problem import Problem

N_NEIGHBORS = 20

# Votes fall with the distance, and every class has a little of one. Measured, precision at the number of flips, letters
# and Caltech: 0.966 and 0.922, and 0.950 and 0.842 where ten neighbors vote alike.
_SHARPNESS, _UNSEEN = 10.0, 0.1

# Rows among which neighbors are sought; of more, so many that are spread evenly, lest the time grow with the square.
_MOST = 1 << 17


class View(Protocol):
    """Scores of rows by what other rows say."""

    def scores(self, rows: NDArray[np.intp]) -> Singles:
        """(m, k), for positions (m,)."""


class LeftOutMachines:
    """Ridge machines of all rows but the one that is scored; their strength is sought by rows left out."""

    def __init__(self, X: Matrix, y: Labels, k: int):
        self._problem = Problem.whole(X, y, k)
        self._system, moments = closed_form(self._problem)
        found = LeaveOneOut(self._system, self._problem, float(len(X))).search()
        self.strength = float(found.strengths[found.best()])
        # Of more rows than columns, whose strength is known, all are left out in a quarter of the time.
        self._fixed = None if moments is None else FixedStrength(X, moments, self.strength)
        self._B = self._system.B.astype(np.float32)

    def scores(self, rows: NDArray[np.intp]) -> Singles:
        """(m, k), for positions (m,)."""
        labels, p = self._problem.label_lists(rows), np.full(len(rows), 1 / len(self._problem))
        if self._fixed is not None:
            return self._fixed.left_out_scores(rows, labels)
        with one_blas_thread():
            Z = self._system.coordinates(self._problem.X, rows, np.float32)
            return self._system.left_out_scores(Z, labels, p, self.strength, self._B).astype(np.float32, copy=False)


class NeighborVotes:
    """log(votes + a little) of the classes of the nearest other rows, which vote by how near they are.

    A neighbor of cosine s votes with exp(10 (s - s1)), s1 that of the nearest.
    """

    def __init__(self, neighbors: "Neighbors", y: Labels, k: int):
        self._neighbors, self._y, self._k = neighbors, y, k

    def scores(self, rows: NDArray[np.intp]) -> Singles:
        """(m, k), for positions (m,)."""
        near, cosines = self._neighbors.of(rows)
        m, k = len(rows), self._k
        places = np.arange(m)[:, None] * k + self._y[near]
        votes = np.exp(_SHARPNESS * (cosines - cosines.max(axis=1, keepdims=True, initial=-1)))
        sums = np.bincount(places.ravel(), votes.ravel(), m * k).reshape(m, k)
        logs: Singles = np.log(sums + _UNSEEN).astype(np.float32)
        return logs


class Neighbors:
    """The nearest other rows of every row, by cosines of columns less their means and in units of their deviations.

    Parameters
    ----------
    X : Matrix of shape (n, d)
        The rows.
    n_neighbors : int
        How many; all others if there are fewer.
    report : callable
        Called with the number of rows done.
    """

    def __init__(self, X: Matrix, n_neighbors: int = N_NEIGHBORS, report: Callable[[int], None] = lambda done: None):
        Z, n = standard_rows(X), len(X)
        asked = np.unique(np.linspace(0, n - 1, min(n, _MOST)).astype(np.int64))
        index, j = None if len(asked) == n else asked, min(n_neighbors, len(asked) - 1)
        self._near, self._cosines = np.empty((n, j), np.int32), np.empty((n, j), np.float32)
        for at in spans(n, 1024):
            cosines, found = best_candidates(Z[at], [(0, Z, index)], j + 1)
            others = found != np.arange(at.start, at.stop)[:, None]
            others[others.all(axis=1), -1] = False  # copies came before the row itself, or it is not among the asked
            self._near[at] = found[others].reshape(-1, j)
            self._cosines[at] = cosines[others].reshape(-1, j)
            report(at.stop)

    def of(self, rows: NDArray[np.intp]) -> tuple[NDArray[np.int32], Singles]:
        """(their positions (m, j), their cosines (m, j)), the nearest first."""
        return self._near[rows], self._cosines[rows]


def standard_rows(X: Matrix) -> Embeddings:
    """Rows (n, d) of unit length, after columns have mean 0 and deviation 1; those that never vary are 0.

    >>> from manyclass.data.dense import DenseMatrix
    >>> standard_rows(DenseMatrix(np.array([[0.0, 5.0], [2.0, 5.0]]))).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    n, d = X.shape
    mean, squares = column_means(X), np.zeros(d)
    blocks = spans(n, max(1, (4 << 20) // (8 * d)))
    for at in blocks:
        squares += np.square(center_rows(X, at, mean)).sum(axis=0)
    scale = np.divide(1.0, np.sqrt(squares / n), out=np.zeros(d), where=squares > 0)
    out = np.empty((n, d), np.float32)
    for at in blocks:
        out[at] = unit_rows(center_rows(X, at, mean) * scale)
    return out
