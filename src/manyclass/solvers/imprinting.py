"""Imprinted machines: a class from a few rows, beside machines that are there, against what is known of other rows.

A new class with the mean m gets the machine of the square loss against negatives of mean mu and covariance C,

    w = a (C + strength I)^-1 (m - mu),     b = level - w'mu,

the direction that an exemplar machine has, with as many positives as there are. To the old machines, rows of the new
class are rows that they have never seen, and of none of their classes; the mean and the standard deviation of their
scores on these are known. The new machine treats the old classes alike: its level and its scale a are such that its
scores on negatives have that mean and that deviation, if each negative is left out of C when it is scored. So it
neither swallows the others nor starves beside them, however many they are and however they were fitted. Measured on
three sets: with 1.25 times the deviation 5 to 14 of a hundred new rows more are found, but of all rows up to one of a
hundred less are right. What is fitted to a few rows is certain of these rows alone, and nearly never wins
(docs/results/add_a_class.md).

Only the mean and the covariance of negatives count, so that rows of any kind will do that have these: `mixed_rows` are
a few that stand for many.
"""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyclass._core.parallel import one_blas_thread
from manyclass._core.typing import Doubles, Floats
from manyclass.data.matrix import Matrix, spans

MIXED = 128  # rows that are kept; measured on Caltech-101's features: 32 to all 2,730 give the same accuracy

_NUMBERS, _ROWS = 1 << 22, 1 << 15  # that are mixed at most: 50 ms on one core

_BLOCK = 1 << 17  # of these, numbers that are worked on at a time: 1 MB


def mixed_rows(X: Matrix, index: NDArray[np.intp], most: int = MIXED) -> Floats:
    """A few rows (m, d) with the mean of all of them, and about their covariance; none of them is one of these.

    Each is the mean and a sum of differences from it, with signs that chance gives, the same every time.

    >>> from manyclass.data.dense import DenseMatrix
    >>> rows = np.random.default_rng(0).normal(size=(500, 3)) * [1, 2, 3]
    >>> mixed = mixed_rows(DenseMatrix(rows), np.arange(500))
    >>> mixed.shape, np.allclose(mixed.mean(axis=0), rows.mean(axis=0)), np.round(mixed.std(axis=0) / rows.std(axis=0))
    ((128, 3), True, array([1., 1., 1.]))
    """
    n = min(len(index), max(2, min(_ROWS, _NUMBERS // X.shape[1])))
    few, signs = index[np.linspace(0, len(index) - 1, n).astype(np.intp)], _signs(min(most, n), n)
    mixed, total, weights = np.zeros((len(signs), X.shape[1])), np.zeros(X.shape[1]), np.zeros(len(signs))
    with one_blas_thread():
        for at in spans(n, max(32, _BLOCK // X.shape[1])):
            rows, S = X.rows(few[at]).astype(np.float64), _centered(signs[:, at])
            mixed += S @ rows
            total += rows.sum(axis=0)
            weights += S.sum(axis=1)
    mean = total / n
    mixed -= np.outer(weights, mean)
    mixed /= np.sqrt(n)
    mixed += mean
    return mixed.astype(X.dtype)


def rows_with_covariance(mean: Doubles, C: Doubles, dtype: Any, most: int = MIXED) -> Floats:
    """A few rows (m, d) with this mean (d,), and about this covariance (d, d)."""
    with one_blas_thread():
        values, vectors = np.linalg.eigh(C)
    factor = (vectors * np.sqrt(np.maximum(values, 0))).T
    return _mixed(mean.astype(dtype), factor.astype(dtype), most)


def _mixed(mean: Floats, factor: Floats, m: int) -> Floats:
    """m rows around a mean (d,) that are sums of the rows of a factor (n, d), with signs of chance."""
    with one_blas_thread():
        return np.asarray(_centered(_signs(m, len(factor))).astype(factor.dtype) @ factor + mean)


def _signs(m: int, n: int) -> NDArray[np.int8]:
    """Signs (m, n) of chance, the same every time."""
    return np.random.default_rng(0).integers(2, size=(m, n), dtype=np.int8) * np.int8(2) - np.int8(1)


def _centered(signs: NDArray[np.int8]) -> Doubles:
    """Signs (m, n) whose sums over m are 0, so that a mean stays, exactly."""
    found = (signs - signs.mean(axis=0)) * np.sqrt(len(signs) / max(1, len(signs) - 1))
    return np.asarray(found)


class KnownNegatives(ABC):
    """What is known of rows of other classes: their mean mu (d,), their covariance C, and a strength beside it.

    The strength is the mean of the eigenvalues of C that are not 0.
    """

    mean: Doubles

    @abstractmethod
    def whitened(self, D: Doubles) -> Doubles:
        """Rows D (p, d) times (C + strength I)^-1."""

    @abstractmethod
    def spreads(self, V: Doubles) -> Doubles:
        """The standard deviation (p,) of scores by whitened rows V (p, d), every negative scored by a C without it."""


class NegativeRows(KnownNegatives):
    """Of rows (n, d), two at least."""

    def __init__(self, rows: Floats):
        n, d = rows.shape
        self.mean = rows.mean(axis=0, dtype=np.float64)
        self.factor = F = (rows - self.mean) / np.sqrt(n)  # C = F'F
        self.strength = float(np.einsum("nd,nd->", F, F)) / min(n - 1, d) or 1.0
        with one_blas_thread():
            self._few = n < d
            A = F @ F.T if self._few else F.T @ F
            A[np.diag_indices_from(A)] += self.strength
            self._inverse = np.linalg.inv(A)
            # F (C + strength I)^-1 F' has 1 - strength (F F' + strength I)^-1 on its diagonal.
            rest = self.strength * self._inverse.diagonal() if self._few else 1 - _squares(F @ self._inverse, F)
            self._rest = np.maximum(rest, _LEAST_REST)

    def whitened(self, D: Doubles) -> Doubles:
        if self._few:
            return np.asarray((D - D @ self.factor.T @ self._inverse @ self.factor) / self.strength)
        return np.asarray(D @ self._inverse)

    def spreads(self, V: Doubles) -> Doubles:
        return np.asarray(np.linalg.norm(V @ self.factor.T / self._rest, axis=1))


class NegativeSums(KnownNegatives):
    """Of the mean (d,) and the covariance C (d, d) of n rows, all of which are taken to have the same leverage."""

    def __init__(self, mean: Doubles, C: Doubles, n: int):
        self.mean, self.covariance = mean, C
        strength = float(C.trace()) / min(max(1, n - 1), len(C)) or 1.0
        with one_blas_thread():
            self._inverse = np.linalg.inv(C + strength * np.eye(len(C)))
        self._rest = max(1 - float(np.einsum("ij,ji->", C, self._inverse)) / n, _LEAST_REST)

    def whitened(self, D: Doubles) -> Doubles:
        return D @ self._inverse

    def spreads(self, V: Doubles) -> Doubles:
        return np.sqrt(np.maximum(_squares(V @ self.covariance, V), 0)) / self._rest


_LEAST_REST = 1e-6  # below, 1 - leverage is rounding


def _squares(A: Floats, B: Floats) -> Doubles:
    """The products of the rows of A (n, d) with those of B."""
    return np.asarray(np.einsum("nd,nd->n", A, B, dtype=np.float64))


class FewRows(NamedTuple):
    """What is known of the rows of p new classes."""

    means: Doubles  # (p, d)
    counts: NDArray[np.int64]  # (p,): how many they are
    levels: Doubles  # (p,): the mean of the scores of all old machines on them
    spreads: Doubles  # (p,): their standard deviation


def imprint(few: FewRows, negatives: KnownNegatives) -> tuple[Doubles, Doubles]:
    """Machines (p, d) and biases (p,) of new classes.

    >>> rows = np.random.default_rng(0).normal(size=(200, 4))
    >>> few = FewRows(np.array([[3.0, 0.0, 0.0, 0.0]]), np.array([5]), np.array([-2.0]), np.array([0.5]))
    >>> W, b = imprint(few, NegativeRows(rows))
    >>> S = rows @ W.T + b
    >>> round(float(S.mean()), 6), round(float(S.std()), 2)
    (-2.0, 0.49)
    """
    with one_blas_thread():
        directions = negatives.whitened(few.means - negatives.mean)
        spreads = negatives.spreads(directions)
        # A class in the very middle of all others has no direction, and rows that do not vary no scale.
        scales = np.divide(few.spreads, spreads, out=np.zeros_like(spreads), where=spreads > 0)
        W = scales[:, None] * directions
        return W, few.levels - W @ negatives.mean
