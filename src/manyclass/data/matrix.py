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
    """X (n, d), known by its products.

    A solver asks for `X @ W`, for `X.rmatmat(R)` and for some rows, and never how the numbers are kept. Products and
    rows come in `dtype`, which is float32, or float64 where the storage is. A wrapper of a matrix is a matrix.

    A kind of storage defines `shape`, `dtype`, `nbytes`, `_rows`, and, where it knows a faster way than to read its
    rows block by block, `_matmat`, `_rmatmat` and `row_norms`. The underscored ones receive arguments that are checked
    and converted already.
    """

    ndim = 2
    # Numpy must leave `array @ matrix` and comparisons to us, rather than treat us as a scalar.
    __array_ufunc__ = None

    shape: tuple[int, int]
    dtype: np.dtype[Any]

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes that the storage takes, in memory or on disk."""

    @abstractmethod
    def _rows(self, index: slice | NDArray[np.intp]) -> Floats:
        """Rows as a new or read-only array (m, d) of `dtype`: a slice with step 1, or non-negative positions."""

    def rows(self, index: Any) -> Floats:
        """Rows as an array (m, d): a position, positions (negative ones count from the end), a slice or a mask.

        One position gives one row, (d,), as NumPy's indexing does.
        """
        if isinstance(index, int | np.integer):
            return self.rows([index])[0]  # type: ignore[no-any-return]
        return self._rows(_checks.row_index(index, self.shape[0]))

    def matmat(self, W: ArrayLike) -> Floats:
        """X W (n, k) for W (d, k); W (d,) gives (n,)."""
        W, vector = _checks.factor(W, "W", self.shape[1], self.dtype)
        product = self._matmat(W)
        return product[:, 0] if vector else product

    def rmatmat(self, R: ArrayLike) -> Floats:
        """X' R (d, k) for R (n, k); R (n,) gives (d,). The sum over rows is made in blocks."""
        R, vector = _checks.factor(R, "R", self.shape[0], self.dtype)
        product = self._rmatmat(R)
        return product[:, 0] if vector else product

    def part(self, rows: slice) -> "Matrix":
        """Rows [start, stop) as a matrix, without a copy; the whole is a part of itself."""
        from manyclass.data.part import Part

        start, stop, _ = rows.indices(self.shape[0])
        return self if (start, stop) == (0, self.shape[0]) else Part(self, slice(start, stop))

    def row_norms(self, squared: bool = False) -> Floats:
        """Euclidean length of every row (n,), or its square."""
        squares = np.empty(self.shape[0], self.dtype)
        for start, X in self.blocks():
            squares[start : start + len(X)] = np.einsum("ij,ij->i", X, X, dtype=np.float64)
        return squares if squared else np.sqrt(squares)

    def blocks(self, size: int | None = None) -> Iterator[tuple[int, Floats]]:
        """(start, rows) over consecutive rows, `size` at a time; by default about 8 MB."""
        n, d = self.shape
        size = size or max(1, min(n, (8 << 20) // max(1, d * self.dtype.itemsize)))
        for start in range(0, n, size):
            yield start, self._rows(slice(start, min(n, start + size)))
            self.release()

    def release(self) -> None:
        """Let go of memory that only mirrors a file; what is needed comes back by itself."""
        return

    def toarray(self) -> Floats:
        """All rows as one array; for small matrices."""
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
