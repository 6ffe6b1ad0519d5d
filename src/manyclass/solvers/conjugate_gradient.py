"""Least squares of all classes by conjugate gradients, as a start for other losses; early stopping regularizes it.

Rows x_i with weights c_i have the target t = 1 in the column of their class and -1 in all others. After m steps from 0
the weights of a class are the best for the squared error among all combinations of A^j b with j < m, where A is the
covariance of the rows, and b that with the targets: those of partial least squares. Few steps know the directions of
large variance alone, as a strong ridge does, and every step is a strength more for one product with A, where a ridge
takes a factorization for each.

Float32 is enough for a start, and takes half the time.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.parallel import for_each
from manyclass._core.typing import Doubles, Singles
from manyclass.data.matrix import Matrix, spans
from manyclass.solvers.problem import Problem

# Rows that are read at a time, and columns or classes of one product of one thread; others give other last bits.
_TILE, PANEL = 512, 256


class NormalEquations:
    """What least squares needs of rows x_i with weights c_i: sums around a center that should be near their mean.

    >>> from manyclass.data.dense import DenseMatrix
    >>> X = np.array([[0.0, 1.0], [2.0, 1.0], [1.0, 3.0], [1.0, 5.0]], np.float32)
    >>> equations = NormalEquations(X[0], 2)
    >>> equations.add(Problem.whole(DenseMatrix(X), [0, 0, 1, 1], 2))
    >>> W, b = equations.solve(2)
    >>> (X @ W.T + b).round(2).tolist()
    [[0.82, -0.82], [0.82, -0.82], [-0.27, 0.27], [-1.36, 1.36]]
    """

    def __init__(self, center: Singles, k: int):
        d = len(center)
        self.center = center  # (d,)
        self.gram = np.zeros((d, d), np.float32)  # the sum of c_i (x_i - center)(x_i - center)'
        self.sums = np.zeros((k, d), np.float32)  # those of c_i (x_i - center) over the rows of each class
        self.weights: Doubles = np.zeros(k)  # those of c_i
        self._n, self._moments = 0, np.zeros(2)  # rows, and the sums of e_i = c_i |x_i - center|^2 and of its squares

    def add(self, problem: Problem) -> None:
        """Add the examples of a problem, in one pass."""
        from scipy.sparse import csr_array

        d = len(self.center)
        for at in spans(len(problem), _TILE):
            rows = problem.index[at]
            T = np.subtract(problem.X.rows(rows), self.center, dtype=np.float32)
            y, c = problem.y[rows], problem.weights[rows]
            classes, places = np.unique(y, return_inverse=True)
            self.sums[classes] += csr_array((c, (places, np.arange(len(y)))), (len(classes), len(y))) @ T
            self.weights += np.bincount(y, c, len(self.weights))
            if (c != 1).any():
                T *= np.sqrt(c)[:, None]
            e = np.einsum("ij,ij->i", T, T).astype(np.float64)
            self._n, self._moments = self._n + len(e), self._moments + np.array([e.sum(), e @ e])
            for_each(self._adder(T), spans(d, PANEL))
        for columns in spans(d, PANEL):
            self.gram[columns, columns.stop :] = self.gram[columns.stop :, columns].T

    @property
    def is_even(self) -> bool:
        """Whether the squares are made by many rows: (sum of e)^2 / (n sum of e^2) is 1 if all count alike.

        It is about 1 - 2 / d for normal rows of d columns. On generated rows of 100 classes a start lost 25 points with
        lognormal weights of deviation 1.5 (0.07), and 4 with balanced weights of a long tail (0.36).
        """
        total, squares = self._moments
        return bool(total**2 >= 0.5 * self._n * squares)

    def steps(self, most: int, classes: Any = slice(None)) -> Iterator[tuple[Singles, Doubles]]:
        """W (m, d) and b (m,) of m classes after 1, 2, ... steps from W = 0; the next step changes W itself."""
        total, shift = np.float32(self.weights.sum()), self._shift()
        mean, targets = self.center.astype(np.float64) + shift, self.target_means()[classes]
        R = self.covariance_with_targets(classes)
        P, W, squares = R.copy(), np.zeros_like(R), _row_products(R, R)
        for _ in range(most):
            Q = P @ self.gram
            Q /= total
            Q -= np.outer(P @ shift, shift)
            length = _quotients(squares, _row_products(P, Q))
            W += length * P
            Q *= length
            R -= Q
            before, squares = squares, _row_products(R, R)
            P *= _quotients(squares, before)
            P += R
            yield W, targets - W @ mean

    def solve(self, n_iter: int) -> tuple[Singles, Doubles]:
        """W (k, d) and b (k,) after so many steps, at least 1."""
        W, b = np.empty_like(self.sums), np.empty(len(self.sums))

        def panel(classes: slice) -> None:
            *_, (W[classes], b[classes]) = self.steps(n_iter, classes)

        for_each(panel, spans(len(W), PANEL))
        return W, b

    def target_means(self) -> Doubles:
        """The mean of the targets (k,)."""
        means: Doubles = 2 * self.weights / self.weights.sum() - 1
        return means

    def covariance_with_targets(self, classes: Any = slice(None)) -> Singles:
        """The mean of t_i (x_i - mean) (m, d), for each of m classes."""
        B = self.sums[classes] - np.outer(self.weights[classes].astype(np.float32), self._shift())
        B *= np.float32(2 / self.weights.sum())
        return B  # type: ignore[no-any-return]

    def mean_scores(self, W: Singles) -> tuple[float, float]:
        """What rows score by their own class, and by another one, on average, for W (k, d) and the best b."""
        means = self.target_means()
        covered = sum(float(np.vdot(self.covariance_with_targets(at), W[at])) for at in spans(len(W), PANEL))
        own = covered / 2 + float((means + 1) @ means) / 2
        return own, (float(means.sum()) - own) / (len(W) - 1)

    def _shift(self) -> Singles:
        """The way from the center to the mean (d,)."""
        shift: Singles = (self.sums.sum(axis=0, dtype=np.float64) / self.weights.sum()).astype(np.float32)
        return shift

    def _adder(self, T: Singles) -> Any:
        def add(columns: slice) -> None:
            self.gram[columns.start :, columns] += T[:, columns.start :].T @ T[:, columns]

        return add


def some_mean(X: Matrix, index: NDArray[np.intp]) -> Singles:
    """The mean of some of these rows (d,)."""
    some = index[np.linspace(0, len(index) - 1, min(len(index), _TILE)).astype(np.intp)]
    mean: Singles = X.rows(some).mean(axis=0, dtype=np.float64).astype(np.float32)
    return mean


def _row_products(A: Singles, B: Singles) -> Singles:
    products: Singles = np.einsum("kd,kd->k", A, B)
    return products


def _quotients(a: Singles, b: Singles) -> Singles:
    """a / b (m, 1), and 0 for a class that is solved, which stays where it is."""
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)[:, None]
