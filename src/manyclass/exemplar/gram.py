"""Where the Gram matrix K (n, n) of the negatives comes from: a column, the diagonal, or all of it at a time."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.parallel import for_each, thread_map
from manyclass._core.typing import Doubles
from manyclass.data.kernels import Kernel, check_gram
from manyclass.data.matrix import Matrix, spans

_TILE_BYTES = 4 << 20  # of rows, or of K, that are read at once


class Gram(ABC):
    """K, read by factorizations."""

    def __init__(self, matrix: Matrix):
        self.matrix = matrix
        self.n = matrix.shape[0]

    @property
    def tiles(self) -> list[slice]:
        """[0, n) in as many rows as are read at a time."""
        return self.tiles_of(1)

    def tiles_of(self, m: int) -> list[slice]:
        """The same, of which m columns of K are held too."""
        return spans(self.n, max(1, _TILE_BYTES // (8 * max(m, self.matrix.shape[1]))))

    def diagonal(self) -> Doubles:
        """k(x, x) of every negative (n,)."""
        return np.concatenate(list(thread_map(self._diagonal, self.tiles)))

    def whole(self) -> Doubles:
        """K in an array of its own."""
        try:
            K = np.empty((self.n, self.n))
        except MemoryError as error:
            raise MemoryError(
                f"the {self.n} x {self.n} Gram matrix of the negatives must fit into memory; "
                "take fewer of them, or factorization='nystrom' with a rank"
            ) from error
        self._fill(K)
        return K

    def check(self, pivots: list[int]) -> None:
        """Refuse K if it is not symmetric where these rows meet these columns."""
        return

    @abstractmethod
    def column(self, j: int) -> Callable[[slice], Doubles]:
        """Column j of K, as a function that gives the entries of some rows."""

    @abstractmethod
    def columns(self, index: NDArray[np.intp]) -> Callable[[slice | NDArray[np.intp]], Doubles]:
        """Some columns of K, as a function that gives their entries in some rows (n, m)."""

    @abstractmethod
    def _diagonal(self, rows: slice) -> Doubles: ...

    @abstractmethod
    def _fill(self, K: Doubles) -> None: ...


class GramOfRows(Gram):
    """K of the rows of a matrix under a kernel, read tile by tile in float64 of their float32 values."""

    def __init__(self, matrix: Matrix, kernel: Kernel):
        super().__init__(matrix)
        self.kernel = kernel

    def column(self, j: int) -> Callable[[slice], Doubles]:
        x = self._rows([j])
        return lambda rows: self.kernel(self._rows(rows), x)[:, 0]

    def columns(self, index: NDArray[np.intp]) -> Callable[[slice | NDArray[np.intp]], Doubles]:
        X = self._rows(index)
        return lambda rows: self.kernel(self._rows(rows), X)

    def _diagonal(self, rows: slice) -> Doubles:
        return self.kernel.diagonal(self._rows(rows))

    def _fill(self, K: Doubles) -> None:
        X = self._rows(slice(0, self.n))

        def fill(rows: slice) -> None:
            K[rows] = self.kernel(X[rows], X)

        for_each(fill, spans(self.n, max(1, _TILE_BYTES // (8 * self.n))))

    def _rows(self, index: Any) -> Doubles:
        return to_float32(self.matrix.rows(index)).astype(np.float64)


class PrecomputedGram(Gram):
    """K as somebody else computed it, in a square matrix."""

    def __init__(self, matrix: Matrix):
        super().__init__(matrix)
        if matrix.shape[0] != matrix.shape[1]:
            raise ValueError(
                f"negatives must be a square Gram matrix if kernel='precomputed'; got shape {matrix.shape}"
            )

    def check(self, pivots: list[int]) -> None:
        check_gram(self.matrix.rows(pivots)[:, pivots].astype(np.float64), "negatives")

    def column(self, j: int) -> Callable[[slice], Doubles]:
        row = self.matrix.rows(j).astype(np.float64)
        return lambda rows: row[rows]

    def columns(self, index: NDArray[np.intp]) -> Callable[[slice | NDArray[np.intp]], Doubles]:
        return lambda rows: self.matrix.rows(rows)[:, index].astype(np.float64)

    def _diagonal(self, rows: slice) -> Doubles:
        return self.matrix.rows(rows)[:, rows].diagonal().astype(np.float64)

    def _fill(self, K: Doubles) -> None:
        for start, rows in self.matrix.blocks():
            K[start : start + len(rows)] = rows
        check_gram(K, "negatives")


def round_to_float32(rows: Doubles) -> Doubles:
    """Rows of images with the values that their embeddings will hold, which float32 must be able to."""
    with np.errstate(over="ignore"):
        rounded = to_float32(rows)
    if not np.isfinite(rounded).all():
        raise ValueError(f"X must hold values within the range of float32; got {rows[~np.isfinite(rounded)][0]}")
    return rounded.astype(np.float64)


def to_float32(rows: NDArray[Any]) -> NDArray[np.float32]:
    """Rows as an embedding holds them. Kernel values are of these, so that they are the same before and after."""
    return rows.astype(np.float32, copy=False)
