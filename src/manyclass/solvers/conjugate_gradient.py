"""Least squares of all classes by conjugate gradients, as a start for other losses; early stopping regularizes it.

Rows x_i with weights c_i have the target t = 1 in the column of their class and -1 in all others. After m steps from 0
the weights of a class are the best for the squared error among all combinations of A^j b with j < m, where A is the
covariance of the rows, and b that with the targets: those of partial least squares. Few steps know the directions of
large variance alone, as a strong ridge does, and every step is a strength more for one product with A, where a ridge
takes a factorization for each.

Float32 is enough for a start, and takes half the time.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from manyclass._core.parallel import for_each
from manyclass._core.typing import Doubles, Singles
from manyclass.data.matrix import spans
from manyclass.solvers.problem import Problem

# Rows that are read at a time, and columns or classes of one product of one thread; others give other last bits.
_TILE, _PANEL = 1024, 256


@dataclass(frozen=True)
class NormalEquations:
    """What least squares needs of rows x_i with weights c_i: sums around a center that is near their mean.

    >>> from manyclass.data.dense import DenseMatrix
    >>> X = np.array([[0.0, 1.0], [2.0, 1.0], [1.0, 3.0], [1.0, 5.0]], np.float32)
    >>> equations = NormalEquations.of(Problem.whole(DenseMatrix(X), [0, 0, 1, 1], 2))
    >>> *_, (W, b) = equations.steps(2)
    >>> (X @ W.T + b).round(2).tolist()
    [[0.82, -0.82], [0.82, -0.82], [-0.27, 0.27], [-1.36, 1.36]]
    """

    center: Singles  # (d,)
    gram: Singles  # (d, d): the sum of c_i (x_i - center)(x_i - center)'
    sums: Singles  # (k, d): those of c_i (x_i - center) over the rows of each class
    weights: Doubles  # (k,): those of c_i

    @classmethod
    def of(cls, problem: Problem, center: Singles | None = None) -> "NormalEquations":
        """One pass over the rows; by default some of them say where the center is."""
        from scipy.sparse import csr_array

        X, index, k, d = problem.X, problem.index, problem.k, problem.d
        if center is None:
            some = index[np.linspace(0, len(index) - 1, min(len(index), _TILE)).astype(np.intp)]
            center = X.rows(some).mean(axis=0, dtype=np.float64).astype(np.float32)
        gram, sums = np.zeros((d, d), np.float32), np.zeros((k, d), np.float32)
        for at in spans(len(index), _TILE):
            rows = index[at]
            T, y, c = np.subtract(X.rows(rows), center, dtype=np.float32), problem.y[rows], problem.weights[rows]
            classes, places = np.unique(y, return_inverse=True)
            sums[classes] += csr_array((c, (places, np.arange(len(y)))), (len(classes), len(y))) @ T
            if (c != 1).any():
                T *= np.sqrt(c)[:, None]
            for_each(lambda columns, T=T: _add_product(gram, T, columns), spans(d, _PANEL))
        for columns in spans(d, _PANEL):
            gram[columns, columns.stop :] = gram[columns.stop :, columns].T
        y = problem.y[index]
        return cls(center, gram, sums, np.bincount(y, problem.weights[index], k).astype(np.float64))

    def plus(self, other: "NormalEquations") -> "NormalEquations":
        """Those of the rows of both, which have the same center."""
        mine, others = (vars(one) for one in (self, other))
        return NormalEquations(self.center, *(mine[name] + others[name] for name in ("gram", "sums", "weights")))

    def steps(self, most: int) -> Iterator[tuple[Singles, Doubles]]:
        """W (k, d) and b (k,) after 1, 2, ... steps from W = 0; the next step changes W itself."""
        total, shift = np.float32(self.weights.sum()), self._shift()
        mean = self.center.astype(np.float64) + shift
        R = self.covariance_with_targets()
        P, W, Q = R.copy(), np.zeros_like(R), np.empty_like(R)
        squares = _row_products(R, R)
        for _ in range(most):

            def multiply(classes: slice) -> None:
                Q[classes] = P[classes] @ self.gram
                Q[classes] /= total
                Q[classes] -= np.outer(P[classes] @ shift, shift)

            for_each(multiply, spans(len(P), _PANEL))
            curvatures = _row_products(P, Q)
            # A class that is solved already stays where it is.
            lengths = np.divide(squares, curvatures, out=np.zeros_like(squares), where=curvatures > 0)[:, None]
            W += lengths.astype(np.float32) * P
            R -= lengths.astype(np.float32) * Q
            before, squares = squares, _row_products(R, R)
            P *= np.divide(squares, before, out=np.zeros_like(squares), where=before > 0).astype(np.float32)[:, None]
            P += R
            yield W, self.target_means() - W @ mean

    def target_means(self) -> Doubles:
        """The mean of the targets (k,)."""
        means: Doubles = 2 * self.weights / self.weights.sum() - 1
        return means

    def covariance_with_targets(self) -> Singles:
        """b (k, d): the mean of t_i (x_i - mean), for every class."""
        B = self.sums - np.outer(self.weights.astype(np.float32), self._shift())
        B *= np.float32(2 / self.weights.sum())
        return B

    def mean_scores(self, W: Singles) -> tuple[float, float]:
        """What the rows score by their own class, and by another one, on average, with the best b for W."""
        k, means = len(W), self.target_means()
        own = float(np.vdot(self.covariance_with_targets(), W)) / 2 + float((means + 1) @ means) / 2
        return own, (float(means.sum()) - own) / (k - 1)

    def _shift(self) -> Singles:
        """The way from the center to the mean (d,)."""
        shift: Singles = (self.sums.sum(axis=0, dtype=np.float64) / self.weights.sum()).astype(np.float32)
        return shift


def _add_product(gram: Singles, T: Singles, columns: slice) -> None:
    gram[columns.start :, columns] += T[:, columns.start :].T @ T[:, columns]


def _row_products(A: Singles, B: Singles) -> Doubles:
    products: Any = np.einsum("kd,kd->k", A, B)
    return products.astype(np.float64)  # type: ignore[no-any-return]
