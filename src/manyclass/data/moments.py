"""Moments: mean and covariance of the rows of a matrix that may be larger than memory, and their spectrum."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from manyclass._core.algebra.singular import column_signs
from manyclass._core.parallel import one_blas_thread, thread_map
from manyclass._core.typing import Doubles, Floats
from manyclass.data.matrix import PANEL_BYTES, Matrix, spans

TILE = 1024  # rows that are read at once, and whose products are added up; more or fewer give other last bits


@dataclass(frozen=True)
class Moments:
    """mu (d,), the mean of n rows, and their covariance (d, d), 1/n sum_i (x_i - mu)(x_i - mu)'."""

    n: int
    mean: Doubles
    covariance: Doubles

    @classmethod
    def of(cls, X: Matrix) -> "Moments":
        """Two passes over X, or a few if d is many thousands; float64 throughout, as inverses magnify what is lost.

        >>> from manyclass.data.dense import DenseMatrix
        >>> Moments.of(DenseMatrix(np.array([[1.0, 0.0], [3.0, 2.0]]))).covariance
        array([[1., 1.],
               [1., 1.]])
        """
        mean = column_means(X)
        with one_blas_thread():
            covariance = scatter(lambda at: center_rows(X, at, mean), *X.shape)
        covariance /= len(X)
        return cls(len(X), mean, covariance)


def column_means(X: Matrix) -> Doubles:
    """The mean of the rows (d,)."""
    n, d = X.shape
    # Differences from some rows in the middle of all keep the digits that a sum of large numbers would lose.
    near = X.rows(np.linspace(0, n - 1, min(n, TILE)).astype(np.intp)).mean(axis=0, dtype=np.float64)
    sums = thread_map(lambda at: center_rows(X, at, near).sum(axis=0), spans(n, TILE))
    mean: Doubles = near + sum(sums, np.zeros(d)) / n
    return mean


def mean_square(X: Matrix, mean: Doubles) -> float:
    """The mean of |x_i - mean|^2."""
    return float(sum(thread_map(lambda at: np.square(center_rows(X, at, mean)).sum(), spans(len(X), TILE))) / len(X))


def center_rows(X: Matrix, at: Any, mean: Doubles) -> Doubles:
    """Some rows less the mean."""
    rows: Doubles = np.subtract(X.rows(at), mean, dtype=np.float64)
    return rows


@dataclass(frozen=True)
class Spectrum:
    """The covariance as V diag(s) V', of which only what is above rounding is kept: s (r,) falls, V (d, r)."""

    s: Doubles
    V: Doubles

    @classmethod
    def of(cls, covariance: Doubles) -> "Spectrum":
        """All directions in which rows differ.

        >>> Spectrum.of(np.diag([1.0, 0.0, 4.0])).s
        array([4., 1.])
        """
        import scipy.linalg

        with one_blas_thread():
            s, V = scipy.linalg.eigh(covariance)
        s, V = s[::-1], V[:, ::-1]
        real = s > max(0, s[0]) * (len(s) + TILE) * np.finfo(np.float64).eps
        V = V[:, real]
        return cls(np.ascontiguousarray(s[real]), np.ascontiguousarray(V * column_signs(V)))

    @classmethod
    def of_rows(cls, rows: Doubles) -> "Spectrum":
        """The same of rows (n, d) less their mean, by the smaller of their two products.

        >>> Spectrum.of_rows(np.array([[3.0, 0.0, 0.0], [-3.0, 0.0, 0.0]])).V[:, 0]
        array([1., 0., 0.])
        """
        n, d = rows.shape
        if d <= n:
            return cls.of(scatter(lambda at: rows[at], n, d) / n)
        small = cls.of(scatter(lambda at: rows.T[at], d, n) / n)
        with one_blas_thread():
            V = rows.T @ (small.V / np.sqrt(n * small.s))
        return cls(small.s, np.ascontiguousarray(V * column_signs(V)))

    def regularized_inverse(self, strength: float) -> Doubles:
        """(V diag(s) V' + strength I)^-1 (d, d): what directions that are kept have more or less than all others.

        >>> Spectrum.of(np.diag([1.0, 0.0, 4.0])).regularized_inverse(1.0).diagonal()
        array([0.5, 1. , 0.2])
        """
        d, r = self.V.shape
        with one_blas_thread():
            if r == d:
                return (self.V / (self.s + strength)) @ self.V.T
            inverse: Doubles = (self.V * (-self.s / (strength * (self.s + strength)))) @ self.V.T
        inverse[np.diag_indices(d)] += 1 / strength
        return inverse

    def check_varies(self, n: int) -> "Spectrum":
        """This spectrum of n rows, which must differ somewhere."""
        if not len(self.s):
            rows = "1 sample" if n == 1 else f"{n} equal samples"
            raise ValueError(f"negatives must differ from one another to have a covariance; got {rows}")
        return self


def tile_moments(X: Floats, size: int) -> tuple[Doubles, Doubles]:
    """Mean (d,) and covariance (d, d) of the rows of an array, in float64 and `size` rows at a time.

    >>> tile_moments(np.array([[1.0, 0.0], [3.0, 2.0]]), 1)[1]
    array([[1., 1.],
           [1., 1.]])
    """
    n, d = X.shape
    sums = thread_map(lambda at: X[at].sum(axis=0, dtype=np.float64), spans(n, size))
    mean: Doubles = np.sum(list(sums), axis=0) / n
    covariance = scatter(lambda at: X[at] - mean, n, d, size)
    covariance /= n
    return mean, covariance


def scatter(tile: Callable[[slice], Floats], n: int, d: int, size: int | None = None) -> Doubles:
    """T'T (d, d) of n rows T, from tiles of `size` of them, added up in float64; one half of it is mirrored."""
    tiles = spans(n, size or TILE)
    return symmetric(d, lambda columns: sum_panels(d, columns, thread_map(panel_of(tile, columns), tiles)))


def symmetric(d: int, panel: Callable[[slice], Doubles]) -> Doubles:
    """A symmetric matrix (d, d), from panels of columns, each from the diagonal down.

    Every thread holds a product of its own, so wide ones are made a panel of columns at a time.

    >>> A = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> symmetric(2, lambda columns: A[columns.start :, columns])
    array([[2., 1.],
           [1., 3.]])
    """
    out = np.empty((d, d))
    for columns in spans(d, max(1, PANEL_BYTES // (8 * d))):
        found = panel(columns)
        if found.shape == out.shape:
            return found
        out[columns.start :, columns] = found
        out[columns, columns.stop :] = found[len(found[0]) :].T
    return out


def panel_of(tile: Callable[[slice], Floats], columns: slice) -> Callable[[slice], Floats]:
    """The panel of T'T for some columns, as a function of the rows of a tile."""

    def product(at: slice) -> Floats:
        T = tile(at)
        return T[:, columns.start :].T @ T[:, columns]

    return product


def sum_panels(d: int, columns: slice, parts: Iterable[Floats]) -> Doubles:
    """The sum of panels of some columns, one after the other in float64."""
    total = np.zeros((d - columns.start, columns.stop - columns.start))
    for part in parts:
        total += part
    return total
