"""WeightedLoss: a loss of scores, summed over rows by their weights, chunk by chunk."""

import numpy as np
from numpy.typing import NDArray

from manyclass._core.parallel import thread_map
from manyclass._core.typing import Doubles, Floats
from manyclass.losses.loss import ScoreLoss

# Scores that one thread works on at a time: they should stay in its cache.
_CHUNK = 1 << 18


def chunk_rows(k: int) -> int:
    """Rows whose scores of k classes a thread works on at a time.

    >>> chunk_rows(10), chunk_rows(1000), chunk_rows(100_000)
    (1024, 262, 32)
    """
    return max(32, min(1024, _CHUNK // max(1, k)))


class WeightedLoss:
    """sum_i p_i L(S_i, y_i), chunk by chunk of rows; `class_fractions` has the sums of p (n,) class by class."""

    def __init__(self, loss: ScoreLoss, y: NDArray[np.intp], p: Doubles, k: int):
        self.loss = loss
        self.y = y
        self.p = p
        self.k = k
        self.class_fractions: Doubles = np.bincount(y, p, k).astype(np.float64, copy=False)

    @property
    def chunk_size(self) -> int:
        """Rows of a chunk."""
        return chunk_rows(self.k)

    def chunks(self, rows: slice) -> list[slice]:
        """Consecutive chunks of these rows; they depend on the shape alone."""
        size = self.chunk_size
        return [slice(start, min(start + size, rows.stop)) for start in range(rows.start, rows.stop, size)]

    def at(self, S: Floats, rows: slice) -> tuple[float, Floats]:
        """The sum over some rows, and p_i dL_i (m, k)."""
        R = S.copy()
        return self.in_place(R, rows), R

    def in_place(self, S: Floats, rows: slice) -> float:
        """The sum over some rows; S (m, k) becomes p_i dL_i."""
        p = self.p[rows]
        return float(p @ self.loss.in_place(S, self.y[rows], p))

    def at_intercept(self, b: Doubles) -> tuple[float, Doubles]:
        """The sum where all rows have the scores b (k,), and its gradient by b."""

        def work(rows: slice) -> tuple[float, Doubles]:
            R = np.tile(b, (rows.stop - rows.start, 1))
            return self.in_place(R, rows), R.sum(axis=0)

        loss, gradient = 0.0, np.zeros(self.k)
        for part, sums in thread_map(work, self.chunks(slice(0, len(self.y)))):
            loss, gradient = loss + part, gradient + sums
        return loss, gradient

    def of_classes(self, classes: NDArray[np.intp]) -> "WeightedLoss":
        """Of some classes alone; rows of the others have no weight."""
        numbers = np.zeros(self.k, np.intp)
        numbers[classes] = np.arange(len(classes))
        return WeightedLoss(self.loss, numbers[self.y], self.p, len(classes))
