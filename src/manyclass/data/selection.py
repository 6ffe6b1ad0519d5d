"""Some rows of a matrix, in any order, as a matrix."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass import _checks
from manyclass.data.matrix import Matrix
from manyclass.data.tiles import Floats


class Selection(Matrix):
    """The rows of another matrix at some positions, without a copy.

    >>> from manyclass.data.dense import DenseMatrix
    >>> Selection(DenseMatrix(np.eye(3)), [2, 0]).toarray()
    array([[0., 0., 1.],
           [1., 0., 0.]])
    """

    def __init__(self, whole: Matrix, index: Any):
        rows = _checks.row_index(index, whole.shape[0])
        self.whole = whole
        self.index = np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows
        self.shape = (len(self.index), whole.shape[1])
        self.dtype: np.dtype[Any] = whole.dtype

    @property
    def nbytes(self) -> int:
        return int(self.whole.nbytes * self.shape[0] / max(1, self.whole.shape[0]))

    def _rows(self, index: slice | NDArray[np.intp]) -> Floats:
        return self.whole._rows(self.index[index])

    def release(self) -> None:
        self.whole.release()
