"""Problem: examples with their classes, the place where data and losses meet."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.data.matrix import Matrix


@dataclass(frozen=True)
class Problem:
    """Some rows of X with a class in [0, k) and a weight each.

    `index` are the rows that count, so that a part held out for validation needs no copy of X.
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
