"""Least squares of all classes by conjugate gradients, as a start for other losses; early stopping regularizes it.

Rows x_i with weights c_i have the target t = 1 in the columns of their classes and -1 in others. After m steps from 0
the weights of a class are the best for the squared error among all combinations of A^j b with j < m, where A is the
covariance of the rows, and b that with the targets: those of partial least squares. Few steps know the directions of
large variance alone, as a strong ridge does, and every step is a strength more for one product with A, where a ridge
takes a factorization for each.

Float32 is enough for a start, and takes half the time.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.parallel import for_each, one_blas_thread
from manyclass._core.typing import Doubles, Singles
from manyclass.data.matrix import Matrix, spans
from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd.judging import softmax_temperature
from manyclass.solvers.sgd.linear_weights import LinearWeights

# Rows that are read at a time, and columns or classes of one product of one thread; others give other last bits.
_TILE, _PANEL = 512, 256


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
        self._all: tuple[Singles, float] | None = None  # both of all rows, where they may have several classes
        self._n, self._moments = 0, np.zeros(2)  # rows, and the sums of e_i = c_i |x_i - center|^2 and of its squares

    def add(self, problem: Problem) -> None:
        """Add the examples of a problem, in one pass."""
        from scipy.sparse import csr_array

        d = len(self.center)
        for at in spans(len(problem), _TILE):
            rows = problem.index[at]
            T = np.subtract(problem.X.rows(rows), self.center, dtype=np.float32)
            labels, c = problem.label_lists(rows), problem.weights[rows]
            classes, places = np.unique(labels.classes, return_inverse=True)
            self.sums[classes] += csr_array((c[labels.rows], (places, labels.rows)), (len(classes), len(c))) @ T
            self.weights += np.bincount(labels.classes, c[labels.rows], len(self.weights))
            if problem.labels is not None:
                row_sum, weight = self._all or (np.zeros(d, np.float32), 0.0)
                self._all = row_sum + c @ T, weight + float(c.sum(dtype=np.float64))
            if (c != 1).any():
                T *= np.sqrt(c)[:, None]
            e = np.einsum("ij,ij->i", T, T).astype(np.float64)
            self._n, self._moments = self._n + len(e), self._moments + np.array([e.sum(), e @ e])
            for_each(self._adder(T), spans(d, _PANEL))
        for columns in spans(d, _PANEL):
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
        total, shift = np.float32(self.total), self._shift()
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

        for_each(panel, spans(len(W), _PANEL))
        return W, b

    def target_means(self) -> Doubles:
        """The mean of the targets (k,)."""
        means: Doubles = 2 * self.weights / self.total - 1
        return means

    def covariance_with_targets(self, classes: Any = slice(None)) -> Singles:
        """The mean of t_i (x_i - mean) (m, d), for each of m classes."""
        B = self.sums[classes] - np.outer(self.weights[classes].astype(np.float32), self._shift())
        B *= np.float32(2 / self.total)
        return B  # type: ignore[no-any-return]

    def mean_scores(self, W: Singles) -> tuple[float, float]:
        """What rows score by their own class, and by another one, on average, for W (k, d) and the best b."""
        means = self.target_means()
        covered = sum(float(np.vdot(self.covariance_with_targets(at), W[at])) for at in spans(len(W), _PANEL))
        own = covered / 2 + float((means + 1) @ means) / 2
        each = float(self.weights.sum() / self.total)  # classes that a row has, on average
        return own / each, (float(means.sum()) - own) / (len(W) - each)

    def nearest_means(self, X: Singles, classes: NDArray[np.intp]) -> NDArray[np.intp]:
        """Which of these classes has the mean that is nearest, for every row of X (n,)."""
        weights = self.weights[classes]
        means = self.sums[classes] / np.where(weights > 0, weights, 1.0).astype(np.float32)[:, None]
        # Squared distances, less that of x from the center, by half.
        D = np.where(weights > 0, 0.5 * _row_products(means, means) + means @ self.center, np.inf) - X @ means.T
        nearest: NDArray[np.intp] = classes[D.argmin(axis=1)]
        return nearest

    def _shift(self) -> Singles:
        """The way from the center to the mean (d,)."""
        sums = self.sums.sum(axis=0, dtype=np.float64) if self._all is None else self._all[0]
        shift: Singles = (sums / self.total).astype(np.float32)
        return shift

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.weights.sum() if self._all is None else self._all[1])

    def _adder(self, T: Singles) -> Any:
        def add(columns: slice) -> None:
            self.gram[columns.start :, columns] += T[:, columns.start :].T @ T[:, columns]

        return add


class LeastSquaresStart:
    """Machines of least squares by conjugate gradients, with the margins that one-vs-rest wants.

    Steps go on as long as the angle between scores and targets of rows that were held out gets smaller: their squared
    error, if scores had the best factor, which they are given for the margins anyway. Of six data sets, it is least at
    the step whose accuracy is best, or within 0.3 points of it, but for one (Tiny-ImageNet: 21.7 and 23.0 %). Where it
    still gets smaller after 16 steps, rows are so many for their columns that squares are no guide to a margin loss: of
    512 random features of letters (16,000 rows), 60 steps have 90.5 % right where the hinge has 94.9. Nor are they
    where the nearest mean of a class is right more often: a class that lies between others has no machine of least
    squares. Of 100 classes whose means span 8 of 128 dimensions they had 50 % right, and what began with them ended 3
    points lower than from zero.

    Parameters
    ----------
    train : Problem
        The examples to train on.
    judged : Problem
        Those to judge by, which a refit trains on too.
    sample : Problem, default=None
        Some of these, by which steps are judged; None for all.
    """

    def __init__(self, train: Problem, judged: Problem, sample: Problem | None = None):
        self._problem, self._judged, self._sample = train, judged, judged if sample is None else sample
        self._found: LinearWeights | None = None

    def find_steps(self) -> int:
        """After how many steps to stop; 0 where machines should begin from nothing, or few rows make the squares."""
        k = self._problem.k
        classes = np.unique(np.linspace(0, k - 1, min(k, _PANEL)).astype(np.intp))
        held = self._sample
        X = held.X.rows(held.index).astype(np.float32, copy=False)
        own = held.label_lists(held.index).are_of(classes)
        means, best, kept = self._equations.target_means()[classes], 0.0, None
        with one_blas_thread():
            for n_iter, (W, b) in enumerate(self._equations.steps(_MOST_STEPS * self._equations.is_even, classes)):
                cosine = _cosine(X @ W.T, b, own, means)
                if kept is not None and not cosine > best:
                    if self._means_are_better(X, *kept, classes):
                        return 0
                    self._found = self._with_margins(*kept) if len(classes) == k else None
                    return n_iter
                if not cosine > best:  # squares teach nothing
                    return 0
                best, kept = cosine, (W.copy(), b)
        return 0

    def machines(self, n_iter: int, refit: bool = False) -> LinearWeights:
        """Those of so many steps, on the examples to train on, or then on those held out too."""
        if refit:
            self._equations.add(self._judged)
        elif self._found is not None:
            return self._found
        return self._with_margins(*self._equations.solve(min(n_iter, _MOST_STEPS)))

    def _means_are_better(self, X: Singles, W: Singles, b: Doubles, classes: NDArray[np.intp]) -> bool:
        """Whether the nearest mean is right more often than the largest score among these classes, by more than chance.

        Rows of other classes, which both have wrong, do not count. Of rows with several classes it cannot be told.
        """
        if self._sample.labels is not None:
            return False
        y = self._sample.y[self._sample.index]
        found = classes[(X @ W.T + b).argmax(axis=1)]
        gains = (self._equations.nearest_means(X, classes) == y).astype(float) - (found == y)
        return bool(gains.sum() > 2 * np.sqrt(gains @ gains))

    @cached_property
    def _equations(self) -> NormalEquations:
        train = self._problem
        equations = NormalEquations(some_mean(train.X, train.index), train.k)
        equations.add(train)
        return equations

    def _with_margins(self, W: Singles, b: Doubles) -> LinearWeights:
        """Scaled and moved such that rows score 1 by their own class and -1 by others, on average."""
        own, others = self._equations.mean_scores(W)
        scale = 2 / max(own - others, _LEAST_GAP)
        W *= np.float32(scale)
        return LinearWeights.around(W, (scale * (b - others) - 1).astype(np.float32))


class SoftmaxStart(LeastSquaresStart):
    """The same machines, with scores times the factor by which softmax fits rows that were held out best.

    It has the parameters of `LeastSquaresStart`.
    """

    _factor: np.float32 | None = None

    def machines(self, n_iter: int, refit: bool = False) -> LinearWeights:
        """Those of so many steps; the factor of a refit is that of before, as all rows are then known to machines."""
        if self._factor is None or not refit:
            found = super().machines(n_iter)
        if self._factor is None:
            T = softmax_temperature(found, self._sample)
            self._factor = np.float32(1 / T if np.isfinite(T) else 1.0)
        if refit:
            found = super().machines(n_iter, refit=True)
        self._found = None  # as it is scaled now
        found.W *= self._factor
        found.biases *= self._factor
        return found


_MOST_STEPS = 16  # of a start

_LEAST_GAP = 1e-4  # between mean scores; below it is rounding


def _cosine(S: Singles, b: Doubles, own: NDArray[np.bool_], means: Doubles) -> float:
    """That of the angle between scores S + b (n, m) and targets, both less the targets' means, but for a factor."""
    S += (b - means).astype(np.float32)
    size = np.sqrt(float(np.vdot(S, S)))
    # Targets are 2 where a score is of the row's own class, and 0 elsewhere, less 1 + mean.
    along = 2 * float(S[own].sum(dtype=np.float64)) - float(S.sum(axis=0, dtype=np.float64) @ (1 + means))
    return along / size if size else 0.0


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
