"""Where data, losses and penalties meet: rows with their classes, and the mean loss plus penalty over all of them.

Solvers see X by the products of an `Objective`, the loss by its `WeightedLoss`, and the penalty by its gauge and ridge.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.label_lists import LabelLists
from manyclass._core.typing import Doubles, Floats
from manyclass._core.worker_groups import say_computed_here
from manyclass.data.matrix import Matrix
from manyclass.data.row_space import RowSpaceMatrix
from manyclass.losses.loss import ScoreLoss
from manyclass.penalties.penalty import Penalty
from manyclass.solvers.row_shards import open_row_sums
from manyclass.solvers.row_sums import HeldRows, LossGradient, RowSums, Scores
from manyclass.solvers.weighted_loss import WeightedLoss

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
    labels : LabelLists, default=None
        The classes of every row of X, where it may have several or none; `y` is then the rarest, or k for none.
    """

    X: Matrix
    y: NDArray[np.int32]  # one for every row of X
    k: int
    weights: NDArray[np.float32]  # one for every row of X
    index: NDArray[np.intp]
    labels: LabelLists | None = None

    @classmethod
    def of_lists(cls, X: Matrix, labels: LabelLists, k: int, weights: Any = None) -> "Problem":
        """Make the problem of all rows, with any number of classes each.

        Parameters
        ----------
        X : Matrix of shape (n, d)
            The rows.
        labels : LabelLists
            The classes of every row, from 0 to k - 1.
        k : int
            The number of classes.
        weights : array-like of shape (n,), default=None
            The weights of the rows; 1 by default.

        Returns
        -------
        Problem
            The problem.
        """
        ranks = np.argsort(np.argsort(labels.sizes(k), kind="stable"), kind="stable")
        rarest = np.full(len(labels), k)
        np.minimum.at(rarest, labels.rows, ranks[labels.classes])
        y = np.append(np.argsort(ranks), k)[rarest]
        return replace(cls.whole(X, y, k, weights), labels=labels)

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
        return replace(self, index=index)

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
        return self.label_lists(self.index).sizes(self.k)

    def label_lists(self, rows: Any) -> LabelLists:
        """Look up the classes of some rows of X.

        Parameters
        ----------
        rows : slice or ndarray of intp of shape (m,)
            The rows.

        Returns
        -------
        LabelLists
            Their classes, one or any number each.
        """
        return LabelLists.single(self.y[rows]) if self.labels is None else self.labels.take(rows)


class Objective:
    """The mean loss of all rows plus a penalty of the weights.

    ``F(W, b) = sum_i w_i L(X_i W + b, y_i) / sum_i w_i + penalty(W)``; b is not penalized, and zero without an
    intercept. No result depends on the number of threads. Where there are workers, each holds a part of the rows, and
    only sums over them travel (`sums`), until `close` ends that.

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
        self.sums: RowSums = open_row_sums(problem.X, self.rows, budget)
        self.gauge, self.ridge = penalty.parts()
        self._passes_before = 0.0

    @property
    def passes(self) -> float:
        """Products with all of X so far, a float."""
        return self.sums.passes - self._passes_before

    def close(self) -> None:
        """Let go of what was kept of the rows, and of workers that hold some."""
        self.sums.close()

    def here(self, solver: str) -> "Objective":
        """Make the same objective for a solver that needs the rows in this process.

        Parameters
        ----------
        solver : str
            The name of the solver, for the warning where workers hold the rows.

        Returns
        -------
        Objective
            The objective; itself where this process holds the rows.
        """
        if self.sums.is_here:
            return self
        say_computed_here(f"the solver {solver!r}", "its steps need all rows together; 'auto' may choose another")
        other = self.with_penalty(self.penalty)
        other.sums = self.sums.held()
        other._passes_before = other.sums.passes
        return other

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
        other.__dict__.update(self.__dict__, penalty=penalty, _passes_before=self.sums.passes)
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
        other.k, other.rows, other.sums = len(classes), self.rows.of_classes(classes), self.sums.of_classes(classes)
        other._passes_before = other.sums.passes
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
        other.sums, other._passes_before = HeldRows(other.X, other.rows, self.budget), 0.0
        return other

    @property
    def held(self) -> HeldRows:
        """The rows of this process, `HeldRows`; an error where workers hold them."""
        if self.sums.is_here:
            return self.sums.held()
        raise TypeError("products with all rows need them in this process, and workers hold them; use `Objective.here`")

    def keeps_scores(self) -> bool:
        """Say whether all scores fit into the budget.

        Returns
        -------
        bool
            Whether they do; never where workers hold the rows.
        """
        return self.sums.is_here and self.sums.held().keeps_scores()

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
        return self.held.matmat(A, rows)

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
        return self.held.rmatmat(R, rows)

    def loss_of(self, scores: Scores) -> float:
        """Evaluate the mean loss.

        Parameters
        ----------
        scores : Weights or callable
            The weights, or the function rows -> X W + b for a slice of the rows of this process.

        Returns
        -------
        float
            The mean loss, without the penalty.
        """
        return self.sums.loss_of(scores)

    def gradient(self, scores: Scores) -> LossGradient:
        """Evaluate the mean loss and its gradients by W and b.

        Parameters
        ----------
        scores : Weights or callable
            The weights, or the function rows -> X W + b for a slice of the rows of this process.

        Returns
        -------
        LossGradient
            The mean loss, and its gradients W (d, k) and b (k,), without the penalty.
        """
        found = self.sums.gradient(scores)
        return found if self.fit_intercept else found._replace(b=np.zeros(self.k))


def _row_weights(problem: Problem) -> Doubles:
    """Weights of the rows that count, divided by their sum (n,)."""
    weights = np.zeros(problem.X.shape[0])
    np.add.at(weights, problem.index, problem.weights[problem.index].astype(np.float64))
    total = float(weights.sum())
    if not total > 0:
        raise ValueError(f"weights must have a sum above 0; got {total}; give at least one row a positive weight")
    return weights / total
