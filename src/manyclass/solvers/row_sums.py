"""Sums over all rows: all that batch solvers ask of them, whether this process holds the rows or workers do.

Scores are told by the weights that make them, W and b, so that they need not travel: every call carries what it needs.
Of products X A the last is kept, as is the S = X W that is asked for more than once; with or without them an answer has
the same bits. `HeldRows` are rows of one process; `row_shards.SharedRows` adds up the sums of several of these.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from manyclass._core.parallel import thread_map
from manyclass._core.typing import Doubles, Floats, Labels
from manyclass.data.dense import DenseMatrix
from manyclass.data.matrix import Matrix, spans
from manyclass.data.moments import scatter
from manyclass.solvers.weighted_loss import WeightedLoss

Scorer = Callable[[slice], Floats]

# (R (m, k) of rows of some classes, these classes): rows of another point of the dual problem
DualRows = Callable[[Floats, Labels], Floats]


@runtime_checkable
class Scored(Protocol):
    """Weights, which know the scores of rows."""

    @property
    def left(self) -> Floats:
        """What X is multiplied by: W, or its left factor."""

    def scores(self, rows: "HeldRows") -> Scorer:
        """X W + b of a slice of the rows."""


class Factored(Scored, Protocol):
    """Weights W = A B', with A (d, r) and B (k, r), and b (k,)."""

    @property
    def A(self) -> Floats: ...  # noqa: N802, mathematics keeps its letters

    @property
    def B(self) -> Floats: ...  # noqa: N802

    @property
    def b(self) -> Doubles: ...

    @property
    def apart(self) -> bool:
        """Whether X A is made column by column."""


# Weights, or a function that knows the scores of rows of this process.
Scores = Scored | Scorer


class LossGradient(NamedTuple):
    """The mean loss, and its gradients by W (d, k) and by b (k,)."""

    loss: float
    W: Floats
    b: Doubles


class FactorGradient(NamedTuple):
    """The mean loss, and its gradients by A (d, r), by B (k, r) and by b (k,), where scores are X A B' + b."""

    loss: float
    A: Floats
    B: Doubles
    b: Doubles


class RowSums(Protocol):
    """What solvers ask of all rows. R (n, k) is the gradient of the loss of each row by its scores, and Q = p R."""

    @property
    def passes(self) -> float:
        """Products with all of X."""

    def class_sums(self) -> Doubles:
        """sum p_i X_i over the rows of each class (k, d)."""

    def loss_of(self, scores: Scores) -> float:
        """The mean loss."""

    def gradient(self, scores: Scores) -> LossGradient:
        """The mean loss and its gradients by W and b."""

    def factor_gradient(self, point: Factored, left: bool = True) -> FactorGradient:
        """The mean loss and its gradients by the factors and b; that by A is empty (d, 0) without `left`."""

    def intercept_gradient(self, scores: Scores, b: Doubles) -> Doubles:
        """The gradient by b (k,), which is added to the scores."""

    def label_sums(self, scores: Scores) -> Doubles:
        """The sum of Q_i over the rows of each class (k, k)."""

    def dual_gradient(self, scores: Scores, dual: DualRows) -> Doubles:
        """X'Q (d, k) of other dual rows."""

    def conjugate_sum(self, scores: Scores, dual: DualRows, t: float) -> float:
        """sum_i p_i L*(t R_i) of other dual rows."""

    def squared_latent(self, point: Factored) -> float:
        """sum_i p_i |X_i A|^2."""

    def largest_score(self, W: Floats) -> float:
        """The largest |X W|."""

    def covariance(self, center: Doubles) -> Doubles:
        """sum p_i (X_i - center)(X_i - center)' (d, d)."""

    @property
    def is_here(self) -> bool:
        """Whether this process holds the rows."""

    def count(self, passes: float) -> None:
        """Count products with all of X that were made elsewhere."""

    def held(self) -> "HeldRows":
        """The same rows, in this process."""

    def of_classes(self, classes: NDArray[np.intp]) -> "RowSums":
        """Those of some classes alone; rows of the others have no weight."""

    def close(self) -> None:
        """Let go of the rows."""


class HeldRows:
    """Rows X (n, d) of this process with their classes and weights; `budget` is the bytes of scores held at a time.

    Those of a W that is no product of factors are kept if it `remembers`: solvers of this process keep their own.
    """

    def __init__(self, X: Matrix, rows: WeightedLoss, budget: int, remembers: bool = False):
        self.X, self.rows, self.budget, self.remembers = X, rows, budget, remembers
        self.n, self.d = X.shape
        self.k, self.dtype = rows.k, X.dtype
        self.passes, self.is_here = 0.0, True
        self._latent: tuple[Floats, Floats, bool] | None = None  # A, X A, and whether column by column
        self._scores: tuple[Floats, Floats] | None = None  # B' and X A B', or W and X W

    def of_classes(self, classes: NDArray[np.intp]) -> "HeldRows":
        """Those of some classes alone."""
        return HeldRows(self.X, self.rows.of_classes(classes), self.budget, self.remembers)

    def held(self) -> "HeldRows":
        """These."""
        return self

    def count(self, passes: float) -> None:
        """Count products with all of X that were made elsewhere."""
        self.passes += passes

    def close(self) -> None:
        """Forget what was kept."""
        self._latent = self._scores = None

    def parts(self) -> list[slice]:
        """The rows in pieces whose scores, and two arrays like them, fit into the budget."""
        return spans(self.n, max(1, min(self.n, self.budget // max(1, 3 * self.k * self.dtype.itemsize))))

    def keeps_scores(self) -> bool:
        """Whether all scores fit into the budget."""
        return len(self.parts()) <= 1

    def matmat(self, A: Any, rows: slice | None = None) -> Floats:
        """X A (m, r) of all rows, or some."""
        X = self.X if rows is None else self.X.row_slice(rows)
        self.passes += X.shape[0] / max(1, self.n)
        return X.matmat(np.asarray(A, self.dtype))

    def rmatmat(self, R: Any, rows: slice | None = None) -> Floats:
        """X'R (d, r) over all rows, or some."""
        X = self.X if rows is None else self.X.row_slice(rows)
        self.passes += X.shape[0] / max(1, self.n)
        return X.rmatmat(np.asarray(R, self.dtype))

    def latent(self, A: Floats, apart: bool = False) -> Floats:
        """X A (n, r), of which the last is kept.

        Columns that are multiplied apart, one by one, are known again where A has others beside them.
        """
        last = self._latent
        if last is None or last[2] != apart or not np.array_equal(last[0], A):
            known = last[:2] if apart and last and last[2] else (A[:, :0], A[:, :0])
            self._latent = self._scores = None
            Z = self._columns_apart(A, *known) if apart else self.matmat(A)
            last = self._latent = np.array(A), Z, apart
        return last[1]

    def low_rank_scores(self, A: Floats, B: Floats, apart: bool = False) -> Scorer:
        """X A B' of some rows."""
        Z, right = self.latent(A, apart), np.ascontiguousarray(B.T, self.dtype)
        if not self.keeps_scores():
            return lambda rows: DenseMatrix(Z[rows]).matmat(right)
        if self._scores is None or not np.array_equal(self._scores[0], right):
            self._scores = None
            self._scores = right, DenseMatrix(Z).matmat(right)
        return self._scores[1].__getitem__

    def dense_scores(self, W: Floats) -> Scorer:
        """X W of some rows."""
        if not (self.remembers and self.keeps_scores()):
            return lambda rows: self.matmat(W, rows)
        if self._latent is not None or self._scores is None or not np.array_equal(self._scores[0], W):
            self._latent = self._scores = None
            self._scores = np.array(W), self.matmat(W)
        return self._scores[1].__getitem__

    def class_sums(self) -> Doubles:
        """sum p_i X_i over the rows of each class (k, d)."""
        from scipy.sparse import csr_matrix

        y, p = self.rows.y, self.rows.p
        total = np.zeros((self.k, self.d))
        for start, X in self.X.blocks():
            rows = slice(start, start + len(X))
            one_hot = csr_matrix((p[rows], (y[rows], np.arange(len(X)))), (self.k, len(X)))
            total += one_hot @ X.astype(np.float64)
        self.passes += 1
        return total

    def loss_of(self, scores: Scores) -> float:
        """The mean loss."""
        loss, scorer = 0.0, self._scorer(scores)
        for rows in self.parts():
            loss += sum(thread_map(partial(self._loss, scorer(rows), rows.start), self.rows.chunks(rows)))
        return loss

    def gradient(self, scores: Scores) -> LossGradient:
        """The mean loss and its gradients by W and b."""
        loss, W, b = 0.0, np.zeros((self.d, self.k), self.dtype), np.zeros(self.k)
        scorer = self._scorer(scores)
        for rows in self.parts():
            S = scorer(rows)
            R = np.empty_like(S)
            for part, sums in thread_map(partial(self._gradient, S, R, rows.start), self.rows.chunks(rows)):
                loss, b = loss + part, b + sums
            W += self.rmatmat(R, rows)
        return LossGradient(loss, W, b)

    def factor_gradient(self, point: Factored, left: bool = True) -> FactorGradient:
        """The mean loss and its gradients by the factors and b; no scores are held but those of a chunk of rows."""
        A, B, rows, r = point.A, point.B, self.rows, point.A.shape[1]
        # A column of ones for b; and weights multiply the narrow arrays, never the wide scores.
        Z = np.hstack([self.latent(A, point.apart), np.ones((self.n, 1), self.dtype)])
        factor = B.astype(Z.dtype)
        right = np.ascontiguousarray(np.vstack([B.T, point.b]), Z.dtype)
        RB = np.empty((self.n if left else 0, r), Z.dtype)

        def work(chunk: slice) -> tuple[float, Floats]:
            p = rows.p[chunk]
            weights = p[:, None].astype(Z.dtype)
            R = Z[chunk] @ right
            values = rows.loss.in_place(R, rows.y[chunk])
            if left:
                np.matmul(R, factor, out=RB[chunk])
                RB[chunk] *= weights
            return float(p @ values), R.T @ (Z[chunk] * weights)

        loss, dB = 0.0, np.zeros((self.k, r + 1))
        for part in thread_map(work, rows.chunks(slice(0, self.n))):
            loss += part[0]
            dB += part[1]
        dA = self.rmatmat(RB) if left else np.zeros((self.d, 0), self.dtype)
        return FactorGradient(loss, dA, dB[:, :r].copy(), dB[:, r].copy())

    def intercept_gradient(self, scores: Scores, b: Doubles) -> Doubles:
        """The gradient by b (k,), which is added to the scores."""
        scorer, shift = self._scorer(scores), b.astype(self.dtype)

        def work(rows: slice) -> Doubles:
            S = scorer(rows) + shift
            self.rows.in_place(S, rows)
            return np.asarray(S.sum(axis=0, dtype=np.float64))

        return sum(thread_map(work, self.rows.chunks(slice(0, self.n))), np.zeros(self.k))

    def label_sums(self, scores: Scores) -> Doubles:
        """The sum of Q_i over the rows of each class (k, k)."""
        from scipy.sparse import csr_matrix

        rows, total, scorer = self.rows, np.zeros((self.k, self.k)), self._scorer(scores)
        for part in self.parts():
            y, p = rows.y[part], rows.p[part]
            R = rows.loss.value_and_gradient(scorer(part), y)[1]
            total += csr_matrix((p, (y, np.arange(len(y)))), (self.k, len(y))) @ R.astype(np.float64)
        return total

    def dual_gradient(self, scores: Scores, dual: DualRows) -> Doubles:
        """X'Q (d, k) of other dual rows."""
        rows, G, scorer = self.rows, np.zeros((self.d, self.k)), self._scorer(scores)
        for part in self.parts():
            y = rows.y[part]
            R = dual(rows.loss.value_and_gradient(scorer(part), y)[1], y)
            R *= rows.p[part][:, None].astype(R.dtype)
            G += self.rmatmat(R, part)
        return G

    def conjugate_sum(self, scores: Scores, dual: DualRows, t: float) -> float:
        """sum_i p_i L*(t R_i) of other dual rows."""
        rows, total, scorer = self.rows, 0.0, self._scorer(scores)

        def work(S: Floats, start: int, chunk: slice) -> float:
            p, y = rows.p[chunk], rows.y[chunk]
            counts = p > 0
            R = dual(rows.loss.value_and_gradient(S[chunk.start - start : chunk.stop - start], y)[1], y)
            return float(p[counts] @ rows.loss.conjugate(R[counts] * R.dtype.type(t), y[counts]))

        for part in self.parts():
            total += sum(thread_map(partial(work, scorer(part), part.start), rows.chunks(part)))
        return total

    def squared_latent(self, point: Factored) -> float:
        """sum_i p_i |X_i A|^2."""
        Z = self.latent(point.A, point.apart)
        return float(self.rows.p @ np.square(Z, dtype=np.float64).sum(axis=1))

    def largest_score(self, W: Floats) -> float:
        """The largest |X W|."""
        return max((float(np.abs(self.matmat(W, rows)).max(initial=0.0)) for rows in self.parts()), default=0.0)

    def covariance(self, center: Doubles) -> Doubles:
        """sum p_i (X_i - center)(X_i - center)' (d, d)."""
        roots, middle = np.sqrt(self.rows.p).astype(self.dtype)[:, None], center.astype(self.dtype)

        def tile(at: slice) -> Floats:
            rows: Floats = self.X.rows(at) - middle
            rows *= roots[at]
            return rows

        with np.errstate(over="ignore", invalid="ignore"):
            return scatter(tile, self.n, self.d)

    def _scorer(self, scores: Scores) -> Scorer:
        return scores.scores(self) if isinstance(scores, Scored) else scores

    def _columns_apart(self, A: Floats, known: Floats, products: Floats) -> Floats:
        """X A, each column by itself unless it is among those whose products are known."""
        places = {column.tobytes(): j for j, column in enumerate(known.T)}
        Z = np.empty((self.n, A.shape[1]), self.dtype)
        for j, column in enumerate(A.T):
            place = places.get(column.tobytes())
            Z[:, j] = self.matmat(column[:, None])[:, 0] if place is None else products[:, place]
        return Z

    def _loss(self, S: Floats, start: int, chunk: slice) -> float:
        return self.rows.at(S[chunk.start - start : chunk.stop - start], chunk)[0]

    def _gradient(self, S: Floats, R: Floats, start: int, chunk: slice) -> tuple[float, Doubles]:
        """The loss of a chunk and the column sums of its gradient, which goes into R."""
        here = slice(chunk.start - start, chunk.stop - start)
        R[here] = S[here]
        return self.rows.in_place(R[here], chunk), R[here].sum(axis=0, dtype=np.float64)
