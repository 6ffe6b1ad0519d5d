"""Several matrices, one below the other."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.data.matrix import Matrix
from manyclass.data.tiles import Floats


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
        from manyclass.data.opening import as_matrix

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

    def _run(self, rows: slice) -> Floats:
        parts = [
            matrix._rows(slice(max(rows.start, at.start) - at.start, min(rows.stop, at.stop) - at.start))
            for at, matrix in self._placed()
            if at.start < rows.stop and rows.start < at.stop
        ]
        whole = parts[0] if len(parts) == 1 else np.concatenate([*parts, np.empty((0, self.shape[1]), self.dtype)])
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
