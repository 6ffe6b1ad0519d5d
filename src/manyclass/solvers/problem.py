"""Problem: examples with their classes, the place where data and losses meet."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.data.matrix import Matrix


@dataclass(frozen=True)
class Problem:
    """Rows of X with a class and a weight each.

    A subset, such as the rows held out for validation, shares X with the whole.

    Parameters
    ----------
    X : Matrix of shape (n, d)
        The rows.
    y : ndarray of int32 of shape (n,)
        The class of every row of X, from 0 to k - 1.
    k : int
        The number of classes.
    weights : ndarray of float32 of shape (n,)
        The weight of every row of X.
    index : ndarray of intp of shape (m,)
        The rows that count.
    """

    X: Matrix
    y: NDArray[np.int32]  # one for every row of X
    k: int
    weights: NDArray[np.float32]  # one for every row of X
    index: NDArray[np.intp]

    @classmethod
    def whole(cls, X: Matrix, y: Any, k: int, weights: Any = None) -> "Problem":
        """All rows; weights are 1 by default."""
        weights = np.ones(len(y), np.float32) if weights is None else np.asarray(weights, np.float32)
        return cls(X, np.asarray(y, np.int32), k, weights, np.arange(len(y)))

    def part(self, index: NDArray[np.intp]) -> "Problem":
        """The same problem on these rows of X."""
        return Problem(self.X, self.y, self.k, self.weights, index)

    def __len__(self) -> int:
        return len(self.index)

    @property
    def d(self) -> int:
        """Columns of X."""
        return self.X.shape[1]

    @property
    def sizes(self) -> NDArray[np.intp]:
        """(k,) how many examples each class has."""
        return np.bincount(self.y[self.index], minlength=self.k)
