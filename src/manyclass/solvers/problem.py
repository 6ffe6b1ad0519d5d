"""Where data, losses and penalties meet: rows with their classes, and the mean loss plus penalty over all of them.

Solvers see X by the products of an `Objective`, the loss by its `WeightedLoss`, and the penalty by its gauge and ridge.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyclass._core.parallel import thread_map
from manyclass._core.typing import Doubles, Floats
from manyclass.data.matrix import Matrix, spans
from manyclass.data.row_space import RowSpaceMatrix
from manyclass.losses.loss import ScoreLoss
from manyclass.penalties.penalty import Penalty

# Least columns per row and numbers of X, most rows, and most bytes (32 per pair of rows), for which coordinates pay.
FACTOR, NUMBERS, ROWS, BYTES = 4, 1 << 20, 1 << 14, 1 << 28


@dataclass(frozen=True)
class Problem:
    """Rows of X with a class and a weight each.

    A subset, such as rows held out, shares X with the whole.

    Parameters
    ----------
    X : Matrix of shape (n, d)
        The rows.
    y : ndarray of int32 of shape (n,)
        The class of every row of X, from 0 to k - 1.
    k : int
        The number of classes.
    weights : ndarray of float32 of shape (n,)
        The weight of every row of X.
    index : ndarray of intp of shape (m,)
        The rows that count.
    """

    X: Matrix
    y: NDArray[np.int32]  # one for every row of X
    k: int
    weights: NDArray[np.float32]  # one for every row of X
    index: NDArray[np.intp]

    @classmethod
    def whole(cls, X: Matrix, y: Any, k: int, weights: Any = None) -> "Problem":
        """Make the problem of all rows.

        Parameters
        ----------
        X : Matrix of shape (n, d)
            The rows.
        y : array-like of shape (n,)
            The class of every row, from 0 to k - 1.
        k : int
            The number of classes.
        weights : array-like of shape (n,), default=None
            The weights of the rows; 1 by default.

        Returns
        -------
        Problem
            The problem.
        """
        weights = np.ones(len(y), np.float32) if weights is None else np.asarray(weights, np.float32)
        return cls(X, np.asarray(y, np.int32), k, weights, np.arange(len(y)))

    def part(self, index: NDArray[np.intp]) -> "Problem":
        """Make the same problem on some rows of X.

        Parameters
        ----------
        index : ndarray of intp of shape (m,)
            The rows.

        Returns
        -------
        Problem
            The smaller problem, which shares X.
        """
        return Problem(self.X, self.y, self.k, self.weights, index)

    def in_row_space(self, most: int) -> "Problem":
        """See the rows by their coordinates in the span of all of them, from which `X.lift` brings weights back.

        Parameters
        ----------
        most : int
            The most rows for which what follows is worth a product of all rows with one another.

        Returns
        -------
        Problem
            The same problem, with fewer columns; itself where that does not pay.
        """
        n, d = self.X.shape
        pays = FACTOR * n <= d and n * d >= NUMBERS and n <= min(ROWS, most, (max(BYTES, self.X.nbytes) / 32) ** 0.5)
        Z = RowSpaceMatrix(self.X) if pays else None
        return replace(self, X=Z) if Z and Z.shape[1] and Z.is_well_conditioned else self  # of zeros nothing is left

    def with_columns_of(self, other: "Problem") -> "Problem":
        """See the rows in the columns of another problem, that came with the same columns.

        Parameters
        ----------
        other : Problem
            The other problem.

        Returns
        -------
        Problem
            The same problem, in the coordinates of the other.
        """
        return replace(self, X=other.X.coordinates(self.X))

    def __len__(self) -> int:
        return len(self.index)

    @property
    def d(self) -> int:
        """The number of columns of X, an int."""
        return self.X.shape[1]

    @property
    def sizes(self) -> NDArray[np.intp]:
        """The number of examples of each class, an ndarray of shape (k,)."""
        return np.bincount(self.y[self.index], minlength=self.k)


Scorer = Callable[[slice], Floats]

# Scores that one thread works on at a time: they should stay in its cache.
_CHUNK = 1 << 18


class LossGradient(NamedTuple):
    """The mean loss, and its gradients by W (d, k) and by b (k,)."""

    loss: float
    W: Floats
    b: Doubles


class WeightedLoss:
    """sum_i p_i L(S_i, y_i), chunk by chunk of rows; p (n,) adds up to 1, and class by class to `class_fractions`."""

    def __init__(self, loss: ScoreLoss, y: NDArray[np.intp], p: Doubles, k: int):
        self.loss = loss
        self.y = y
        self.p = p
        self.k = k
        self.class_fractions: Doubles = np.bincount(y, p, k).astype(np.float64, copy=False)

    def chunks(self, rows: slice) -> list[slice]:
        """Consecutive chunks of these rows; they depend on the shape alone."""
        size = max(32, min(1024, _CHUNK // max(1, self.k)))
        return [slice(start, min(start + size, rows.stop)) for start in range(rows.start, rows.stop, size)]

    def at(self, S: Floats, rows: slice) -> tuple[float, Floats]:
        """The sum over some rows, and p_i dL_i (m, k)."""
        R = S.copy()
        return self.in_place(R, rows), R

    def in_place(self, S: Floats, rows: slice) -> float:
        """The sum over some rows; S (m, k) becomes p_i dL_i."""
        p = self.p[rows]
        return float(p @ self.loss.in_place(S, self.y[rows], p))

    def at_intercept(self, b: Doubles) -> tuple[float, Doubles]:
        """The sum where all rows have the scores b (k,), and its gradient by b."""

        def work(rows: slice) -> tuple[float, Doubles]:
            R = np.tile(b, (rows.stop - rows.start, 1))
            return self.in_place(R, rows), R.sum(axis=0)

        loss, gradient = 0.0, np.zeros(self.k)
        for part, sums in thread_map(work, self.chunks(slice(0, len(self.y)))):
            loss, gradient = loss + part, gradient + sums
        return loss, gradient


class Objective:
    """The mean loss of all rows plus a penalty of the weights.

    ``F(W, b) = sum_i w_i L(X_i W + b, y_i) / sum_i w_i + penalty(W)``; b is not penalized, and zero without an
    intercept. No result depends on the number of threads. The attribute `passes` counts products with all of X.

    Parameters
    ----------
    problem : Problem
        The rows, their classes and weights.
    loss : ScoreLoss
        The loss of the scores of a row.
    penalty : Penalty
        The penalty of the weights.
    fit_intercept : bool, default=True
        Whether to fit b.
    budget : int, default=1073741824
        Bytes of scores to hold at a time; the rows are taken in as many chunks as that requires.
    """

    def __init__(
        self,
        problem: Problem,
        loss: ScoreLoss,
        penalty: Penalty,
        fit_intercept: bool = True,
        budget: int = 1 << 30,
    ):
        self.X: Matrix = problem.X
        self.n, self.d = problem.X.shape
        self.k = problem.k
        self.dtype: np.dtype[Any] = problem.X.dtype
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.budget = budget
        self.rows = WeightedLoss(loss, np.asarray(problem.y, np.intp), _row_weights(problem), problem.k)
        self.passes = 0.0
        self.gauge, self.ridge = penalty.parts()

    def with_penalty(self, penalty: Penalty) -> "Objective":
        """Make an objective of the same rows and loss under another penalty.

        Parameters
        ----------
        penalty : Penalty
            The penalty.

        Returns
        -------
        Objective
            The objective, whose passes are counted anew.
        """
        other = object.__new__(Objective)
        other.__dict__.update(self.__dict__, penalty=penalty, passes=0.0)
        other.gauge, other.ridge = penalty.parts()
        return other

    def of_classes(self, classes: NDArray[np.intp]) -> "Objective":
        """Restrict the objective to some classes.

        Parameters
        ----------
        classes : ndarray of intp of shape (m,)
            The classes; rows of the others must have no weight.

        Returns
        -------
        Objective
            The objective of W (d, m).
        """
        other = self.with_penalty(self.penalty)
        numbers = np.zeros(self.k, np.intp)
        numbers[classes] = np.arange(len(classes))
        other.k = len(classes)
        other.rows = WeightedLoss(self.rows.loss, numbers[self.rows.y], self.rows.p, other.k)
        return other

    def of_rows(self, rows: NDArray[np.intp]) -> "Objective":
        """Restrict the objective to some rows, which it holds.

        Parameters
        ----------
        rows : ndarray of intp of shape (m,)
            The rows.

        Returns
        -------
        Objective
            The mean over these rows.
        """
        from manyclass.data.dense import DenseMatrix

        other, p = self.with_penalty(self.penalty), self.rows.p[rows]
        other.X, other.n = DenseMatrix(self.X.rows(rows)), len(rows)
        other.rows = WeightedLoss(self.rows.loss, self.rows.y[rows], p / max(float(p.sum()), 1e-300), self.k)
        return other

    def parts(self) -> list[slice]:
        """Cut the rows such that the scores of each piece, and two arrays like them, fit into the budget.

        Returns
        -------
        list of slice
            Consecutive rows.
        """
        return spans(self.n, max(1, min(self.n, self.budget // max(1, 3 * self.k * self.dtype.itemsize))))

    def keeps_scores(self) -> bool:
        """Say whether all scores fit into the budget.

        Returns
        -------
        bool
            Whether they do.
        """
        return len(self.parts()) == 1

    def matmat(self, A: Any, rows: slice | None = None) -> Floats:
        """Multiply rows of X by a matrix.

        Parameters
        ----------
        A : array-like of shape (d, m)
            The matrix.
        rows : slice, default=None
            Which rows; all by default.

        Returns
        -------
        ndarray of shape (n, m)
            The product X A.
        """
        X = self.X if rows is None else self.X.row_slice(rows)
        self.passes += X.shape[0] / max(1, self.n)
        return X.matmat(np.asarray(A, self.dtype))

    def rmatmat(self, R: Any, rows: slice | None = None) -> Floats:
        """Multiply the transpose of rows of X by a matrix.

        Parameters
        ----------
        R : array-like of shape (n, m)
            The matrix.
        rows : slice, default=None
            Which rows; all by default.

        Returns
        -------
        ndarray of shape (d, m)
            The product X'R.
        """
        X = self.X if rows is None else self.X.row_slice(rows)
        self.passes += X.shape[0] / max(1, self.n)
        return X.rmatmat(np.asarray(R, self.dtype))

    def loss_of(self, scores: Scorer) -> float:
        """Evaluate the mean loss.

        Parameters
        ----------
        scores : callable
            The function rows -> X W + b for a slice of the rows.

        Returns
        -------
        float
            The mean loss, without the penalty.
        """
        loss = 0.0
        for rows in self.parts():
            loss += sum(thread_map(partial(self._loss, scores(rows), rows.start), self.rows.chunks(rows)))
        return loss

    def gradient(self, scores: Scorer) -> LossGradient:
        """Evaluate the mean loss and its gradients by W and b.

        Parameters
        ----------
        scores : callable
            The function rows -> X W + b for a slice of the rows.

        Returns
        -------
        LossGradient
            The mean loss, and its gradients W (d, k) and b (k,), without the penalty.
        """
        loss, W, b = 0.0, np.zeros((self.d, self.k), self.dtype), np.zeros(self.k)
        for rows in self.parts():
            S = scores(rows)
            R = np.empty_like(S)
            for part, sums in thread_map(partial(self._gradient, S, R, rows.start), self.rows.chunks(rows)):
                loss, b = loss + part, b + sums
            W += self.rmatmat(R, rows)
        return LossGradient(loss, W, b if self.fit_intercept else np.zeros(self.k))

    def _loss(self, S: Floats, start: int, chunk: slice) -> float:
        return self.rows.at(S[chunk.start - start : chunk.stop - start], chunk)[0]

    def _gradient(self, S: Floats, R: Floats, start: int, chunk: slice) -> tuple[float, Doubles]:
        """The loss of a chunk and the column sums of its gradient, which goes into R."""
        here = slice(chunk.start - start, chunk.stop - start)
        R[here] = S[here]
        return self.rows.in_place(R[here], chunk), R[here].sum(axis=0, dtype=np.float64)


def _row_weights(problem: Problem) -> Doubles:
    """Weights of the rows that count, divided by their sum (n,)."""
    weights = np.zeros(problem.X.shape[0])
    np.add.at(weights, problem.index, problem.weights[problem.index].astype(np.float64))
    total = float(weights.sum())
    if not total > 0:
        raise ValueError(f"weights must have a sum above 0; got {total}; give at least one row a positive weight")
    return weights / total
