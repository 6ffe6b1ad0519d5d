"""ClassMoments: the sums over weighted rows, class by class, that ridge regression of classes needs; added and removed.

Rows count only by these sums, so a fit on more or fewer rows is a fit on sums that were added or subtracted.
"""

from contextlib import closing
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyclass._core.label_lists import LabelLists
from manyclass._core.parallel import one_blas_thread
from manyclass._core.typing import Doubles
from manyclass.data.matrix import Matrix
from manyclass.data.moments import TILE, sum_panels, symmetric
from manyclass.data.views import RowSelection
from manyclass.solvers.problem import Problem
from manyclass.solvers.row_blocks import open_blocks


class ClassMoments(NamedTuple):
    """Of rows x_i with weights c_i, everything in float64 and around their weighted mean mu."""

    mean: Doubles  # (d,): mu
    scatter: Doubles  # (d, d): sum_i c_i (x_i - mu)(x_i - mu)'
    sums: Doubles  # (k, d): sum of c_i (x_i - mu) over the rows of each class
    weights: Doubles  # (k,): sum of c_i over them
    counts: NDArray[np.int64]  # (k,): how many they are

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.weights.sum())

    @classmethod
    def empty(cls, k: int, d: int) -> "ClassMoments":
        """Those of no rows."""
        return cls(np.zeros(d), np.zeros((d, d)), np.zeros((k, d)), np.zeros(k), np.zeros(k, np.int64))

    @classmethod
    def of(cls, problem: Problem) -> "ClassMoments":
        """Two passes over the rows, or a few if d is many thousands.

        Where rows may have several classes or none, those of the classes do not add up to those of all, which then are
        one class more, the last.

        >>> from manyclass.data.dense import DenseMatrix
        >>> X = DenseMatrix(np.array([[1.0, 0.0], [3.0, 2.0], [2.0, 4.0]]))
        >>> moments = ClassMoments.of(Problem.whole(X, [0, 0, 1], 2))
        >>> moments.mean, moments.sums
        (array([2., 2.]), array([[ 0., -2.],
               [ 0.,  2.]]))
        """
        X, labels, c = weighted_rows(problem)
        k, single = problem.k, problem.labels is None
        if not single:
            k, labels = k + 1, labels.with_class(k)
        weights: Doubles = np.bincount(labels.classes, c[labels.rows], k).astype(np.float64)
        # Differences from some rows keep the digits that a sum of large numbers would lose.
        near = X.rows(np.linspace(0, len(X) - 1, min(len(X), TILE)).astype(np.intp)).mean(axis=0, dtype=np.float64)
        sums = np.zeros((k, problem.d))
        with one_blas_thread(), closing(open_blocks(X, labels, c)) as blocks:
            for classes, found in blocks.sums("class_sums", near):
                sums[classes] += found
            shift = sums.sum(axis=0) / weights.sum() if single else sums[-1] / weights[-1]
            sums -= weights[:, None] * shift
            mean, d = near + shift, problem.d
            squares = symmetric(d, lambda at: sum_panels(d, at, blocks.sums("scatter", mean, at)))
        return cls(mean, squares, sums, weights, labels.sizes(k).astype(np.int64))

    def plus(self, other: "ClassMoments") -> "ClassMoments":
        """Those of the rows of both, which have the same classes."""
        return self._combined(other, 1)

    def minus(self, other: "ClassMoments") -> "ClassMoments":
        """Those of the rows without the others, which were among them; only gross cases of others are noticed."""
        left = self._combined(other, -1)
        least = left.scatter.diagonal().min() / self.scatter.diagonal().max(initial=1e-300)
        if not (least >= -_ROUNDING and left.weights.min() >= -_ROUNDING * self.total):
            raise ValueError("rows to remove must be rows that were learned, with the same weights; got others")
        return left

    def at(self, places: NDArray[np.intp], k: int) -> "ClassMoments":
        """The same rows where their classes have these places among k."""
        sums, weights, counts = np.zeros((k, len(self.mean))), np.zeros(k), np.zeros(k, np.int64)
        sums[places], weights[places], counts[places] = self.sums, self.weights, self.counts
        return self._replace(sums=sums, weights=weights, counts=counts)

    def only(self, kept: NDArray[Any]) -> "ClassMoments":
        """Without classes that have no rows any more; or all, in another order."""
        return self._replace(sums=self.sums[kept], weights=self.weights[kept], counts=self.counts[kept])

    def _combined(self, other: "ClassMoments", sign: int) -> "ClassMoments":
        weights = self.weights + sign * other.weights
        total, shift = float(weights.sum()), other.mean - self.mean
        move = sign * other.total / total * shift
        # Around the new mean: each scatter grows by its weight times the square of the way that its mean goes.
        squares = self.scatter + sign * other.scatter
        squares += (sign * self.total * other.total / total) * np.outer(shift, shift)
        # Sums of the others are around their own mean, which is `shift` away from ours.
        sums = self.sums + sign * (other.sums + other.weights[:, None] * shift)
        sums -= weights[:, None] * move
        return ClassMoments(self.mean + move, squares, sums, weights, self.counts + sign * other.counts)


_ROUNDING = 1e-9  # of sums in float64


def weighted_rows(problem: Problem) -> tuple[Matrix, LabelLists, Doubles]:
    """The rows that count, as a matrix (n, d), with their classes (n,) and their weights (n,)."""
    whole = len(problem.index) == len(problem.X)
    X = problem.X if whole else RowSelection(problem.X, problem.index)
    return X, problem.label_lists(problem.index), problem.weights[problem.index].astype(np.float64)
