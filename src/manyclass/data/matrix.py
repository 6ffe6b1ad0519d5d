"""Matrix: n rows of d numbers, known only by what can be done with them, and products of one that only has rows.

These products go tile by tile through BLAS. The tiles depend on the shape alone and are added in their order, so the
bits do not depend on the number of threads.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyclass._core.checks import as_2d, as_row_index
from manyclass._core.digest import sha256_digest
from manyclass._core.parallel import for_each, thread_map
from manyclass._core.typing import Doubles, Floats, Singles


class Matrix(ABC):
    """A matrix X of shape (n, d), known only by its products and rows.

    Solvers ask for `X @ W`, for `X.rmatmat(R)` and for rows, and never how the numbers are stored. Products and rows
    have `dtype`, which is float32, or float64 where the storage has it. A wrapper of a matrix is a matrix.

    A subclass defines `shape`, `dtype`, `nbytes` and `_rows`, and, where it knows a faster way than reading rows block
    by block, `_matmat`, `_rmatmat`, `_columns`, `_row_gram`, `_row_slice` and `row_norms`, and `_rows_in` where it
    makes rows of something else. The underscored methods receive arguments that are checked and converted.

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
    is_divisible = True  # whether a range of rows is of use without the others

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
        return self._rows(as_row_index(index, self.shape[0]))

    def rows_in(self, room: Singles, index: ArrayLike) -> Floats:
        """Read rows as `rows` does, for who reads again and again and is done with the last by then.

        Parameters
        ----------
        room : ndarray of float32 of shape (m, d)
            Where the rows go if the storage would otherwise take new memory for them; in C order.
        index : array-like of int of shape (at most m,)
            Positions.

        Returns
        -------
        ndarray of shape (len(index), d)
            The rows, in the room or elsewhere.
        """
        return self._rows_in(room, np.asarray(as_row_index(index, self.shape[0])))

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
        W, vector = as_2d(W, "W", self.shape[1], self.dtype)
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
        R, vector = as_2d(R, "R", self.shape[0], self.dtype)
        product = self._rmatmat(R)
        return product[:, 0] if vector else product

    def row_slice(self, rows: slice) -> "Matrix":
        """View a range of rows as a matrix, without a copy.

        Parameters
        ----------
        rows : slice
            The range, of step 1.

        Returns
        -------
        Matrix
            The rows from start to stop; the matrix itself if they are all. Its products take the time of its rows.
        """
        start, stop, step = rows.indices(self.shape[0])
        if step != 1:
            raise ValueError(f"rows must be a slice of step 1; got {rows}")
        whole = start == 0 and stop == self.shape[0]
        return self if whole else self._row_slice(start, max(start, stop))

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

    def lift(self, W: ArrayLike) -> Floats:
        """Turn weights of the columns into weights of the columns that rows came with.

        Those are the same, but for rows that are known by coordinates of another kind.

        Parameters
        ----------
        W : array-like of shape (d, k) or (d,)
            Weights of the columns.

        Returns
        -------
        ndarray of shape (D, k) or (D,)
            Weights that give the rows, as they came, the same scores.
        """
        return np.asarray(W)

    def offsets(self, W: ArrayLike) -> Floats | float:
        """Compute what lifted weights need as a bias, to give rows as they came the same scores.

        That is nothing, but for rows that are seen from another origin.

        Parameters
        ----------
        W : array-like of shape (d, k) or (d,)
            Weights of the columns.

        Returns
        -------
        ndarray of shape (k,), or float
            The biases.
        """
        return 0.0

    def coordinates(self, other: "Matrix") -> "Matrix":
        """See other rows in the columns of this matrix.

        Parameters
        ----------
        other : Matrix of shape (m, D)
            Rows with the columns that the rows of this matrix came with.

        Returns
        -------
        Matrix of shape (m, d)
            The same rows, to which weights give the scores that they give the others once they are lifted.
        """
        return other

    def toarray(self) -> Floats:
        """Read all rows into one array; for small matrices.

        Returns
        -------
        ndarray of shape (n, d)
            The rows.
        """
        return np.array(self._rows(slice(0, self.shape[0])))

    def _rows_in(self, room: Singles, index: NDArray[np.intp]) -> Floats:
        return self._rows(index)

    def _matmat(self, W: Floats) -> Floats:
        return matmat(self._rows, self.shape, W)

    def _rmatmat(self, R: Floats) -> Floats:
        return rmatmat(self._rows, self.shape, R)

    def _columns(self, columns: slice) -> Floats:
        """Columns (n, m) as a new or read-only array of `dtype`: a slice with step 1."""
        out = np.empty((self.shape[0], columns.stop - columns.start), self.dtype)
        for start, rows in self.blocks():
            out[start : start + len(rows)] = rows[:, columns]
        return out

    def _row_gram(self, dtype: np.dtype[Any]) -> Doubles:
        """X X' (n, n); the products of some columns at a time are made in this dtype."""
        return gram_of_rows(self._columns, self.shape, dtype)

    def _row_slice(self, start: int, stop: int) -> "Matrix":
        """Rows [start, stop) as a matrix; storage that multiplies faster than it reads rows gives one that does too."""
        from manyclass.data.views import RowRange

        return RowRange(self, slice(start, stop))

    def __matmul__(self, W: ArrayLike) -> Floats:
        return self.matmat(W)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        n, d = self.shape
        return f"{type(self).__name__}({n} x {d} {self.dtype}, {self.nbytes / 1e6:.1f} MB)"


TILE_BYTES = 4 << 20  # of rows that are decoded at a time: they stay in the cache until they are multiplied

TILE_ROWS = 256  # fewer rows would leave BLAS packing W for most of its time

PANEL_BYTES = 64 << 20  # of float64 sums per thread; less means more passes over the rows

LONG = 1024  # numbers that BLAS may add up in float32

WIDE = 4096  # the same for products of rows with rows, of which more would be spent on adding them up

GRAM_BYTES = 128 << 20  # of columns that are read at a time, where they are not at hand: fewer mean more passes


def rows_digest(X: Matrix) -> str:
    """Tells a matrix from others: its shape, and a digest of up to 256 rows, evenly spread."""
    some = np.unique(np.linspace(0, len(X) - 1, 256).astype(np.intp)) if len(X) else np.zeros(0, np.intp)
    return f"{X.shape} {sha256_digest([X.rows(some)])}"


def matmat(tile: Callable[[slice], Floats], shape: tuple[int, int], W: Floats) -> Floats:
    """X W (n, k), where tile(rows) gives some rows of X (n, d)."""
    n, d = shape
    out = np.empty((n, W.shape[1]), W.dtype)

    def fill(rows: slice) -> None:
        _product(tile(rows), W, out[rows])

    for_each(fill, spans(n, _height(d, W.itemsize)))
    return out


def rmatmat(tile: Callable[[slice], Any], shape: tuple[int, int], R: Floats, height: int | None = None) -> Floats:
    """X' R (d, k), from tiles of `height` rows, by default about 4 MB and at most `LONG` rows.

    Each tile is one product in its own dtype, not so long that its sums drift; tiles are added in float64.
    """
    n, d = shape
    tiles = spans(n, height or min(LONG, _height(d, R.itemsize)))
    out = np.empty((d, R.shape[1]), R.dtype)
    # Every thread holds a product of its own, so wide ones are made a panel of columns at a time.
    for columns in spans(R.shape[1], max(1, PANEL_BYTES // (8 * max(1, d)))):
        total = np.zeros((d, columns.stop - columns.start))
        for product in thread_map(_tile_product(tile, R[:, columns]), tiles):
            total += product
        out[:, columns] = total
    return out


def gram_of_rows(tile: Callable[[slice], Floats], shape: tuple[int, int], dtype: np.dtype[Any]) -> Doubles:
    """X X' (n, n), where tile(columns) gives some columns of X (n, d).

    BLAS adds up an eighth of the columns, at most `WIDE`, in this dtype, and the sums are added in float64.
    Measured on rows of unit length, 1,500 x 32,768 float32: off by 1.1e-7 at most, where one product is by 5e-7, and
    as fast; 1,024 columns at a time are as exact and take a sixth longer, and float64 takes twice as long.
    """
    n, d = shape
    total, wide = np.zeros((n, n)), min(WIDE, max(64, d // 8))
    for columns in spans(d, wide * max(1, GRAM_BYTES // max(1, n * dtype.itemsize * wide))):
        C = tile(columns)
        for product in thread_map(_square(C, dtype), spans(C.shape[1], wide)):
            total += product
    return total


def _square(C: Floats, dtype: np.dtype[Any]) -> Callable[[slice], Floats]:
    def square(columns: slice) -> Floats:
        T: Floats = np.ascontiguousarray(C[:, columns], dtype)
        return T @ T.T  # one factor and its transpose, of which BLAS makes half and mirrors it

    return square


def _product(X: Floats, W: Floats, out: Floats) -> None:
    """X W for some rows; long ones are added up in float64, some columns at a time, lest their sums drift.

    What is not finite shows in the product itself. The processor's flag for it is not to be believed: OpenBLAS 0.3.31
    raises it at times for finite factors: its AVX-512 loops for vectors of 5 numbers add up what lies on the stack.
    """
    with np.errstate(invalid="ignore"):
        if X.shape[1] <= LONG:
            np.matmul(X, W, out=out)
            return
        total = np.zeros((len(X), W.shape[1]))
        for columns in spans(X.shape[1], LONG):
            total += X[:, columns] @ W[columns]
        out[:] = total


def spans(n: int, size: int) -> list[slice]:
    """[0, n) in consecutive slices of `size`.

    >>> spans(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return [slice(start, min(n, start + size)) for start in range(0, n, size)]


def _height(d: int, itemsize: int) -> int:
    return max(TILE_ROWS, TILE_BYTES // max(1, d * itemsize))


def _tile_product(tile: Callable[[slice], Any], R: Floats) -> Callable[[slice], Floats]:
    return lambda rows: tile(rows).T @ R[rows]
