"""A column of ones beside a matrix, so that the last row of W is a bias."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.data.matrix import Matrix
from manyclass.data.opening import as_matrix
from manyclass.data.tiles import Floats


class BiasedMatrix(Matrix):
    """A matrix with a constant last column, so that the last row of W is a bias.

    X is not copied: products are computed from those of X.

    Parameters
    ----------
    X : matrix-like of shape (n, d)
        Anything that `as_matrix` takes.
    value : float, default=1.0
        The value of the last column.

    Attributes
    ----------
    X : Matrix of shape (n, d)
        The matrix without the column.
    value : float
        The value of the column.

    Examples
    --------
    >>> X = BiasedMatrix(np.eye(2, dtype=np.float32))
    >>> X @ [1, 2, 10]
    array([11., 12.], dtype=float32)
    """

    def __init__(self, X: Any, value: float = 1.0):
        if not math.isfinite(value):
            raise ValueError(f"value must be a finite number; got {value!r}")
        self.X = as_matrix(X)
        self.value = float(value)
        self.shape = (self.X.shape[0], self.X.shape[1] + 1)
        self.dtype = self.X.dtype

    @property
    def nbytes(self) -> int:
        return self.X.nbytes

    def release(self) -> None:
        self.X.release()

    def row_norms(self, squared: bool = False) -> Floats:
        squares: Floats = self.X.row_norms(squared=True) + self.dtype.type(self.value**2)
        return squares if squared else np.sqrt(squares)

    def _rows(self, index: slice | NDArray[np.intp]) -> Floats:
        rows = self.X._rows(index)
        return np.hstack([rows, np.full((len(rows), 1), self.value, self.dtype)])

    def _matmat(self, W: Floats) -> Floats:
        product = self.X._matmat(W[:-1])
        product += self.dtype.type(self.value) * W[-1]
        return product

    def _rmatmat(self, R: Floats) -> Floats:
        last = self.value * R.sum(axis=0, dtype=np.float64)
        return np.vstack([self.X._rmatmat(R), last.astype(self.dtype)])
