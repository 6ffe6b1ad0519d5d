"""Points: where a solver stands, W whole or in factors, and b."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.algebra.singular import rank_above_rounding
from manyclass._core.parallel import one_blas_thread
from manyclass._core.typing import Doubles, Floats
from manyclass.data.matrix import Matrix
from manyclass.solvers.problem import Objective
from manyclass.solvers.row_sums import HeldRows, Scorer

Factors = tuple[Floats, Doubles, Floats]


@dataclass(frozen=True)
class DenseWeights:
    """W (d, k) as it is, and b (k,)."""

    W: Floats
    b: Doubles

    @property
    def left(self) -> Floats:
        """W."""
        return self.W

    def scores(self, rows: HeldRows) -> Scorer:
        """X W + b of some rows."""
        scores, b = rows.dense_scores(self.W), self.b.astype(rows.dtype)
        return lambda some: scores(some) + b

    def to_dense(self) -> Floats:
        """W (d, k)."""
        return self.W

    def lift(self, X: Matrix) -> "DenseWeights":
        """The weights of the columns that the rows of X came with."""
        return DenseWeights(X.lift(self.W), self.b)

    def to_low_rank(self) -> "LowRankWeights":
        """The same W in factors."""
        return balance_factors(self)

    def of_classes(self, classes: NDArray[np.intp]) -> "DenseWeights":
        """Some of the columns of W."""
        return DenseWeights(self.W[:, classes], self.b[classes])

    def scatter_classes(self, k: int, classes: NDArray[np.intp], b: Doubles) -> "DenseWeights":
        """These classes among k, the others with W = 0, and b (k,)."""
        W = np.zeros((len(self.W), k), self.W.dtype)
        W[:, classes] = self.W
        return DenseWeights(W, b)

    def factors(self) -> Factors:
        """U (d, r), s (r,), V (k, r) with W = U diag(s) V'."""
        with one_blas_thread():
            U, s, Vt = np.linalg.svd(self.W.astype(np.float64), full_matrices=False)
        return _cut(U, s, Vt.T, self.W.dtype)


@dataclass(frozen=True)
class LowRankWeights:
    """W = A B', with A (d, r) and B (k, r), and b (k,)."""

    A: Floats
    B: Floats
    b: Doubles

    apart = False  # whether X A is made column by column

    @property
    def left(self) -> Floats:
        """A."""
        return self.A

    def scores(self, rows: HeldRows) -> Scorer:
        """X W + b of some rows."""
        scores, b = rows.low_rank_scores(self.A, self.B, self.apart), self.b.astype(rows.dtype)
        return lambda some: scores(some) + b

    def lift(self, X: Matrix) -> "LowRankWeights":
        """The weights of the columns that the rows of X came with."""
        return LowRankWeights(X.lift(self.A), self.B, self.b)

    def to_low_rank(self) -> "LowRankWeights":
        """Itself, which is in factors."""
        return self

    def of_classes(self, classes: NDArray[np.intp]) -> "LowRankWeights":
        """Some of the columns of W."""
        return LowRankWeights(self.A, self.B[classes], self.b[classes])

    def scatter_classes(self, k: int, classes: NDArray[np.intp], b: Doubles) -> "LowRankWeights":
        """These classes among k, the others with W = 0, and b (k,)."""
        B = np.zeros((k, self.B.shape[1]), self.B.dtype)
        B[classes] = self.B
        return LowRankWeights(self.A, B, b)

    def to_dense(self) -> Floats:
        """W (d, k)."""
        with one_blas_thread():
            product: Floats = self.A @ self.B.T
        return product

    def factors(self) -> Factors:
        """U (d, r), s (r,), V (k, r) with W = U diag(s) V'."""
        with one_blas_thread():
            P, C = np.linalg.qr(self.A.astype(np.float64))
            Q, D = np.linalg.qr(self.B.astype(np.float64))
            U, s, Vt = np.linalg.svd(C @ D.T)
            return _cut(P @ U, s, Q @ Vt.T, self.A.dtype)


class AtomWeights(LowRankWeights):
    """Of atoms that come and go: products with those that stay are known."""

    apart = True


Weights = DenseWeights | LowRankWeights


def balance_factors(point: Weights) -> LowRankWeights:
    """The same W in as many columns as its rank, its singular values shared evenly by both factors."""
    U, s, V = point.factors()
    roots = np.sqrt(s)
    return LowRankWeights((U * roots).astype(U.dtype), (V * roots).astype(V.dtype), point.b)


def as_contiguous(point: Weights) -> Weights:
    """The same point, with arrays whose rows lie one after the other."""
    arrays: dict[str, Any] = {name: np.ascontiguousarray(array) for name, array in vars(point).items()}
    return type(point)(**arrays)


def zero_weights(objective: Objective, b: Doubles) -> LowRankWeights:
    """W = 0, in no factors at all."""
    return LowRankWeights(np.zeros((objective.d, 0), objective.dtype), np.zeros((objective.k, 0), objective.dtype), b)


def _cut(U: Doubles, s: Doubles, V: Doubles, dtype: Any) -> Factors:
    """Without the singular values that are nothing but rounding."""
    r = rank_above_rounding(s, dtype)
    return U[:, :r].astype(dtype), s[:r], V[:, :r].astype(dtype)
