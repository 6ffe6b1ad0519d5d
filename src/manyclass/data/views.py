"""Matrices made of others without a copy: ranges, selections and shards of rows; rows or columns of one scale; ones."""

import math
from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyclass._core.algebra.linalg import unit_rows
from manyclass._core.checks import as_row_index
from manyclass._core.typing import Doubles, Floats
from manyclass.data.matrix import Matrix, spans
from manyclass.data.moments import TILE, center_rows, column_means
from manyclass.data.readers.as_matrix import as_matrix


class RowRange(Matrix):
    """Rows [start, stop) of another matrix, without a copy."""

    def __init__(self, whole: Matrix, rows: slice):
        self.whole = whole
        self.start = rows.start
        self.shape = (rows.stop - rows.start, whole.shape[1])
        self.dtype: np.dtype[Any] = whole.dtype

    @property
    def nbytes(self) -> int:
        return int(self.whole.nbytes * self.shape[0] / max(1, self.whole.shape[0]))

    def _rows(self, index: slice | NDArray[np.intp]) -> Floats:
        if isinstance(index, slice):
            return self.whole._rows(slice(index.start + self.start, index.stop + self.start))
        return self.whole._rows(index + self.start)

    def _row_slice(self, start: int, stop: int) -> Matrix:
        return RowRange(self.whole, slice(self.start + start, self.start + stop))

    def release(self) -> None:
        self.whole.release()


class RowSelection(Matrix):
    """The rows of another matrix at some positions, without a copy.

    >>> from manyclass.data.dense import DenseMatrix
    >>> RowSelection(DenseMatrix(np.eye(3)), [2, 0]).toarray()
    array([[0., 0., 1.],
           [1., 0., 0.]])
    """

    def __init__(self, whole: Matrix, index: Any):
        rows = as_row_index(index, whole.shape[0])
        self.whole = whole
        self.index = np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows
        self.shape = (len(self.index), whole.shape[1])
        self.dtype: np.dtype[Any] = whole.dtype

    @property
    def nbytes(self) -> int:
        return int(self.whole.nbytes * self.shape[0] / max(1, self.whole.shape[0]))

    def _rows(self, index: slice | NDArray[np.intp]) -> Floats:
        return self.whole._rows(self.index[index])

    def _row_slice(self, start: int, stop: int) -> Matrix:
        index = self.index[start:stop]
        # Of the whole, no more than the range in which they are: what is sent elsewhere is to be small.
        first, last = (int(index.min()), int(index.max())) if len(index) else (0, -1)
        return RowSelection(self.whole.row_slice(slice(first, last + 1)), index - first)

    def release(self) -> None:
        self.whole.release()


class StandardizedMatrix(Matrix):
    """The rows of another matrix with columns of mean 0 and variance 1, each worked out when it is read.

    A column that is constant, but for rounding, becomes 0.

    >>> from manyclass.data.dense import DenseMatrix
    >>> X = StandardizedMatrix.of(DenseMatrix(np.array([[1.0, 5.0], [3.0, 5.0]])))
    >>> X.toarray()
    array([[-1.,  0.],
           [ 1.,  0.]])
    >>> X.lift([1.0, 0.0]), X.offsets([1.0, 0.0])
    (array([1., 0.]), np.float64(-2.0))
    """

    def __init__(self, whole: Matrix, mean: Doubles, rates: Doubles):
        self.whole = whole
        self.mean, self.rates = mean, rates  # (d,): x becomes (x - mean) * rates
        self.shape, self.dtype = whole.shape, whole.dtype

    @classmethod
    def of(cls, whole: Matrix) -> Self:
        """By the mean and the variance of all rows."""
        mean = column_means(whole)
        parts = (np.square(center_rows(whole, at, mean)).sum(axis=0) for at in spans(len(whole), TILE))
        deviations = np.sqrt(sum(parts, np.zeros(whole.shape[1])) / len(whole))
        told = deviations > 4 * np.finfo(whole.dtype).eps * np.abs(mean)
        return cls(whole, mean, np.divide(1, deviations, out=np.zeros_like(deviations), where=told))

    @property
    def nbytes(self) -> int:
        return self.whole.nbytes

    def lift(self, W: ArrayLike) -> Floats:
        return self.whole.lift((self.rates * np.asarray(W, np.float64).T).T)

    def offsets(self, W: ArrayLike) -> Floats | float:
        turned = (self.rates * np.asarray(W, np.float64).T).T
        return self.whole.offsets(turned) - self.mean @ turned

    def coordinates(self, other: Matrix) -> Matrix:
        return StandardizedMatrix(self.whole.coordinates(other), self.mean, self.rates)

    def release(self) -> None:
        self.whole.release()

    def _rows(self, index: slice | NDArray[np.intp]) -> Floats:
        # Less the mean in float64: where it is large, float32 would lose the digits that tell.
        rows = np.subtract(self.whole._rows(index), self.mean, dtype=np.float64)
        rows *= self.rates
        return rows.astype(self.dtype)

    def _row_slice(self, start: int, stop: int) -> Matrix:
        return StandardizedMatrix(self.whole.row_slice(slice(start, stop)), self.mean, self.rates)


class UnitRows(Matrix):
    """The rows of another matrix at unit length, each worked out when it is read; rows of zeros stay zeros.

    >>> from manyclass.data.dense import DenseMatrix
    >>> UnitRows(DenseMatrix(np.array([[3.0, 4.0], [0.0, 0.0]]))).toarray()
    array([[0.6, 0.8],
           [0. , 0. ]])
    """

    def __init__(self, whole: Matrix):
        self.whole = whole
        self.shape, self.dtype = whole.shape, whole.dtype

    @property
    def nbytes(self) -> int:
        return self.whole.nbytes

    def release(self) -> None:
        self.whole.release()

    def _rows(self, index: slice | NDArray[np.intp]) -> Floats:
        return unit_rows(self.whole._rows(index).astype(np.float64)).astype(self.dtype)

    def _row_slice(self, start: int, stop: int) -> Matrix:
        return UnitRows(self.whole.row_slice(slice(start, stop)))


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

    def _row_slice(self, start: int, stop: int) -> Matrix:
        return BiasedMatrix(self.X.row_slice(slice(start, stop)), self.value)

    def _matmat(self, W: Floats) -> Floats:
        product = self.X._matmat(W[:-1])
        product += self.dtype.type(self.value) * W[-1]
        return product

    def _rmatmat(self, R: Floats) -> Floats:
        last = self.value * R.sum(axis=0, dtype=np.float64)
        return np.vstack([self.X._rmatmat(R), last.astype(self.dtype)])


class ShardedMatrix(Matrix):
    """Several matrices of the same width, stacked one below the other without a copy.

    Parameters
    ----------
    matrices : iterable of matrix-like
        The shards in their order, each anything that `as_matrix` takes.

    Attributes
    ----------
    matrices : tuple of Matrix
        The shards.

    Examples
    --------
    >>> X = ShardedMatrix([np.eye(2, dtype=np.float32), [[3.0, 4.0]]])
    >>> X.rows([2, 0])
    array([[3., 4.],
           [1., 0.]])
    """

    def __init__(self, matrices: Iterable[Any]):
        from manyclass.data.readers.as_matrix import as_matrix

        self.matrices = tuple(as_matrix(matrix) for matrix in matrices)
        if not self.matrices:
            raise ValueError("matrices must hold at least one matrix; got none")
        d = self.matrices[0].shape[1]
        for i, matrix in enumerate(self.matrices):
            if matrix.shape[1] != d:
                raise ValueError(f"matrices must all have {d} columns, as the first has; got {matrix.shape[1]} in {i}")
        self._ends = np.cumsum([matrix.shape[0] for matrix in self.matrices])
        self.shape = (int(self._ends[-1]), d)
        self.dtype = np.result_type(*(matrix.dtype for matrix in self.matrices))

    @property
    def nbytes(self) -> int:
        return sum(matrix.nbytes for matrix in self.matrices)

    def release(self) -> None:
        for matrix in self.matrices:
            matrix.release()

    def row_norms(self, squared: bool = False) -> Floats:
        norms = [matrix.row_norms(squared) for matrix in self.matrices]
        return np.concatenate(norms).astype(self.dtype, copy=False)

    def _rows(self, index: slice | NDArray[np.intp]) -> Floats:
        return self._run(index) if isinstance(index, slice) else self._pick(index)

    def _row_slice(self, start: int, stop: int) -> Matrix:
        met = [matrix.row_slice(rows) for matrix, rows in self._meets(start, stop)]
        shards = ShardedMatrix(met or [self.matrices[0].row_slice(slice(0, 0))])
        shards.dtype = self.dtype  # which a shard that is not among them may have widened
        return shards

    def _columns(self, columns: slice) -> Floats:
        return np.concatenate([matrix._columns(columns) for matrix in self.matrices], dtype=self.dtype)

    def _meets(self, start: int, stop: int) -> Iterator[tuple[Matrix, slice]]:
        """The shards that hold rows [start, stop), and which of their own rows these are."""
        for at, matrix in self._placed():
            if at.start < stop and start < at.stop:
                yield matrix, slice(max(start, at.start) - at.start, min(stop, at.stop) - at.start)

    def _run(self, rows: slice) -> Floats:
        runs = [matrix._rows(met) for matrix, met in self._meets(rows.start, rows.stop)]
        whole = runs[0] if len(runs) == 1 else np.concatenate([*runs, np.empty((0, self.shape[1]), self.dtype)])
        return whole.astype(self.dtype, copy=False)

    def _pick(self, positions: NDArray[np.intp]) -> Floats:
        out = np.empty((len(positions), self.shape[1]), self.dtype)
        homes = np.searchsorted(self._ends, positions, side="right")
        for home in np.unique(homes):
            here, matrix = np.flatnonzero(homes == home), self.matrices[home]
            out[here] = matrix._rows(positions[here] - (self._ends[home] - matrix.shape[0]))
        return out

    def _matmat(self, W: Floats) -> Floats:
        out = np.empty((self.shape[0], W.shape[1]), self.dtype)
        for at, matrix in self._placed():
            out[at] = matrix.matmat(W)
        return out

    def _rmatmat(self, R: Floats) -> Floats:
        total = np.zeros((self.shape[1], R.shape[1]))
        for at, matrix in self._placed():
            total += matrix.rmatmat(R[at])
        return total.astype(self.dtype, copy=False)

    def _placed(self) -> Iterator[tuple[slice, Matrix]]:
        for end, matrix in zip(self._ends.tolist(), self.matrices, strict=True):
            yield slice(end - matrix.shape[0], end), matrix
