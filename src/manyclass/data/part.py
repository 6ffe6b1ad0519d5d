"""Some consecutive rows of a matrix, as a matrix."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.data.matrix import Matrix
from manyclass.data.tiles import Floats


class Part(Matrix):
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

    def release(self) -> None:
        self.whole.release()
