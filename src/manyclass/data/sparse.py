"""Rows of which most entries are zero."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.parallel import for_each
from manyclass._core.typing import Doubles, Floats
from manyclass.data.matrix import TILE_ROWS, Matrix, rmatmat, spans


class SparseMatrix(Matrix):
    """A SciPy sparse matrix, stored as compressed rows.

    float32 and float64 are kept without a copy if the rows are compressed already; other numbers are converted once.
    Products never make it dense; only the rows that are read become dense.

    Parameters
    ----------
    matrix : scipy.sparse array of shape (n, d)
        A sparse array or matrix of any format.

    Attributes
    ----------
    csr : scipy.sparse array of shape (n, d)
        The compressed rows.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> SparseMatrix(csr_array([[0, 2], [3, 0]])) @ [1, 1]
    array([2., 3.])
    """

    def __init__(self, matrix: Any):
        if not hasattr(matrix, "tocsr"):
            raise ValueError(f"X must be a sparse matrix of SciPy; got {type(matrix).__name__}")
        csr = matrix.tocsr()
        if csr.ndim != 2:
            raise ValueError(f"X must have two dimensions; got shape {csr.shape}")
        if csr.dtype.kind not in "fiub" or csr.dtype.itemsize > 8:
            raise ValueError(f"X must hold real numbers of at most 64 bits; got dtype {csr.dtype}")
        self.dtype = np.result_type(csr.dtype, np.float32)
        self.csr = csr.astype(self.dtype, copy=False)
        self.shape = (int(csr.shape[0]), int(csr.shape[1]))

    @property
    def nbytes(self) -> int:
        return int(self.csr.data.nbytes + self.csr.indices.nbytes + self.csr.indptr.nbytes)

    def row_norms(self, squared: bool = False) -> Floats:
        exact = self.csr.multiply(self.csr).sum(axis=1, dtype=np.float64)
        squares = np.asarray(exact).ravel().astype(self.dtype, copy=False)
        return squares if squared else np.sqrt(squares)

    def _rows(self, index: slice | NDArray[np.intp]) -> Floats:
        return np.asarray(self.csr[index].toarray(order="C"))

    def _row_slice(self, start: int, stop: int) -> Matrix:
        first, last = self.csr.indptr[start], self.csr.indptr[stop]
        # Given to the constructor, SciPy would copy what is less than half of its base.
        csr = type(self.csr)((stop - start, self.shape[1]), dtype=self.dtype)
        csr.data, csr.indices = self.csr.data[first:last], self.csr.indices[first:last]
        csr.indptr = self.csr.indptr[start : stop + 1] - first
        return SparseMatrix(csr)

    def _matmat(self, W: Floats) -> Floats:
        # scipy adds up a row in the dtype of the factors, one entry after the other.
        out, exact = np.empty((self.shape[0], W.shape[1]), self.dtype), W.astype(np.float64)

        def fill(rows: slice) -> None:
            out[rows] = self.csr[rows].astype(np.float64) @ exact

        for_each(fill, spans(self.shape[0], self._height(W.shape[1])))
        return out

    def _rmatmat(self, R: Floats) -> Floats:
        return rmatmat(lambda rows: self.csr[rows].astype(np.float64), self.shape, R, self._height(R.shape[1]))

    def _row_gram(self, dtype: np.dtype[Any]) -> Doubles:
        n, d = self.shape
        # Measured: a product of two entries takes a hundred times as long as one of dense rows.
        if 16 * int(self.csr.nnz) > n * d:
            return super()._row_gram(dtype)
        G, X = np.empty((n, n)), self.csr.astype(np.float64)
        columns = X.T.tocsr()

        def fill(rows: slice) -> None:
            G[rows] = (X[rows] @ columns).toarray()

        for_each(fill, spans(n, TILE_ROWS))
        return G

    def _height(self, k: int) -> int:
        # Every tile ends in a dense (d, k) sum, which its entries must outweigh; its rows of R must stay small.
        n, d = self.shape
        rows = max(1 << 20, 8 * d) * n // max(1, int(self.csr.nnz))
        return max(TILE_ROWS, int(min(rows, (4 << 20) // max(1, k))))
