"""Rows in cells: which rows are added up together."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Cells(NamedTuple):
    """A partition of rows: those of cell g are order[starts[g]:starts[g + 1]]."""

    order: NDArray[np.int64]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, numbers: NDArray[np.integer[Any]], count: int) -> "Cells":
        """The partition by the cell, in [0, count), of every row; rows of a cell keep their order.

        >>> Cells.of(np.array([1, 0, 1]), 3)
        Cells(order=array([1, 0, 2]), starts=array([0, 1, 3, 3]))
        """
        starts = np.concatenate([[0], np.cumsum(np.bincount(numbers, minlength=count))])
        return cls(np.argsort(numbers, kind="stable").astype(np.int64), starts.astype(np.int64))

    @classmethod
    def whole(cls, n: int) -> "Cells":
        """All of n rows in one cell."""
        return cls(np.arange(n, dtype=np.int64), np.array([0, n], np.int64))

    def __len__(self) -> int:
        return len(self.starts) - 1
