"""Matrix: n rows of d numbers, known only by what can be done with them."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyclass import _checks
from manyclass.data import tiles
from manyclass.data.tiles import Floats


class Matrix(ABC):
    """A matrix X of shape (n, d), known only by its products and rows.

    Solvers ask for `X @ W`, for `X.rmatmat(R)` and for rows, and never how the numbers are stored. Products and rows
    have `dtype`, which is float32, or float64 where the storage has it. A wrapper of a matrix is a matrix.

    A subclass defines `shape`, `dtype`, `nbytes` and `_rows`, and, where it knows a faster way than reading rows block
    by block, `_matmat`, `_rmatmat` and `row_norms`. The underscored methods receive arguments that are checked and
    converted.

    Attributes
    ----------
    shape : tuple of int
        The numbers of rows and columns, (n, d).
    dtype : numpy.dtype
        The dtype of products and rows, float32 or float64.
    """

    ndim = 2
    # Numpy must leave `array @ matrix` and comparisons to us, rather than treat us as a scalar.
    __array_ufunc__ = None

    shape: tuple[int, int]
    dtype: np.dtype[Any]

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """The bytes that the storage takes, in memory or on disk, an int."""

    @abstractmethod
    def _rows(self, index: slice | NDArray[np.intp]) -> Floats:
        """Rows as a new or read-only array (m, d) of `dtype`: a slice with step 1, or non-negative positions."""

    def rows(self, index: Any) -> Floats:
        """Read rows as an array.

        Parameters
        ----------
        index : int, slice or array-like
            A position, positions, a slice or a mask; negative positions count from the end.

        Returns
        -------
        ndarray of shape (m, d)
            The rows; of shape (d,) for one position.
        """
        if isinstance(index, int | np.integer):
            return self.rows([index])[0]  # type: ignore[no-any-return]
        return self._rows(_checks.row_index(index, self.shape[0]))

    def matmat(self, W: ArrayLike) -> Floats:
        """Multiply X W.

        Parameters
        ----------
        W : array-like of shape (d, k) or (d,)
            The right factor.

        Returns
        -------
        ndarray of shape (n, k) or (n,)
            The product.
        """
        W, vector = _checks.factor(W, "W", self.shape[1], self.dtype)
        product = self._matmat(W)
        return product[:, 0] if vector else product

    def rmatmat(self, R: ArrayLike) -> Floats:
        """Multiply X' R, the sum over rows made in blocks.

        Parameters
        ----------
        R : array-like of shape (n, k) or (n,)
            The right factor.

        Returns
        -------
        ndarray of shape (d, k) or (d,)
            The product.
        """
        R, vector = _checks.factor(R, "R", self.shape[0], self.dtype)
        product = self._rmatmat(R)
        return product[:, 0] if vector else product

    def part(self, rows: slice) -> "Matrix":
        """View a range of rows as a matrix, without a copy.

        Parameters
        ----------
        rows : slice
            The range, of step 1.

        Returns
        -------
        Matrix
            The rows from start to stop; the matrix itself if they are all.
        """
        from manyclass.data.part import Part

        start, stop, _ = rows.indices(self.shape[0])
        return self if (start, stop) == (0, self.shape[0]) else Part(self, slice(start, stop))

    def row_norms(self, squared: bool = False) -> Floats:
        """Compute the Euclidean length of every row.

        Parameters
        ----------
        squared : bool, default=False
            Return the squares of the lengths.

        Returns
        -------
        ndarray of shape (n,)
            The lengths or their squares.
        """
        squares = np.empty(self.shape[0], self.dtype)
        for start, X in self.blocks():
            squares[start : start + len(X)] = np.einsum("ij,ij->i", X, X, dtype=np.float64)
        return squares if squared else np.sqrt(squares)

    def blocks(self, size: int | None = None) -> Iterator[tuple[int, Floats]]:
        """Iterate over consecutive blocks of rows.

        Parameters
        ----------
        size : int, default=None
            Rows in a block; None for about 8 MB.

        Yields
        ------
        start : int
            The position of the first row of the block.
        rows : ndarray of shape (m, d)
            The rows.
        """
        n, d = self.shape
        size = size or max(1, min(n, (8 << 20) // max(1, d * self.dtype.itemsize)))
        for start in range(0, n, size):
            yield start, self._rows(slice(start, min(n, start + size)))
            self.release()

    def release(self) -> None:
        """Release memory that only mirrors a file; it is read again when it is needed."""
        return

    def toarray(self) -> Floats:
        """Read all rows into one array; for small matrices.

        Returns
        -------
        ndarray of shape (n, d)
            The rows.
        """
        return np.array(self._rows(slice(0, self.shape[0])))

    def _matmat(self, W: Floats) -> Floats:
        return tiles.matmat(self._rows, self.shape, W)

    def _rmatmat(self, R: Floats) -> Floats:
        return tiles.rmatmat(self._rows, self.shape, R)

    def __matmul__(self, W: ArrayLike) -> Floats:
        return self.matmat(W)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        n, d = self.shape
        return f"{type(self).__name__}({n} x {d} {self.dtype}, {self.nbytes / 1e6:.1f} MB)"
