"""The proximal step of a penalty, as a point; for the trace norm by the first singular values only."""

import numpy as np
from numpy.typing import NDArray

from manyclass.data.tiles import Floats
from manyclass.penalties.penalty import Penalty
from manyclass.solvers.points import Point, Product, Whole
from manyclass.solvers.subspace import top_pairs

Doubles = NDArray[np.float64]

_LARGE = 200  # rows and columns from which on not all singular values are computed


class Proximal:
    """Steps of penalty.prox; where the gauge is spectral, each starts from the singular vectors of the one before."""

    def __init__(self, penalty: Penalty, d: int, k: int):
        self.penalty = penalty
        gauge, self.ridge = penalty.parts()
        self.strength = gauge.strength if gauge else 0.0
        self.truncates = gauge is not None and gauge.spectral and min(d, k) > _LARGE
        self.V: Floats | None = None
        self.r = 32

    def __call__(self, W: Floats, b: Doubles, step: float) -> tuple[Point, float]:
        """The point of prox(W, step), with this b, and its penalty."""
        if not self.truncates:
            V, value = self.penalty.prox_and_value(W, step)
            return Whole(V, b), value
        shrinkage = self.ridge.shrinkage(step)
        U, s, V = self._above(W, self.strength * step)
        s = shrinkage * (s - self.strength * step)
        point = Product((U * s).astype(W.dtype), V.astype(W.dtype), b)
        return point, self.strength * float(s.sum()) + self.ridge.strength * float(s @ s)

    def _above(self, W: Floats, threshold: float) -> tuple[Doubles, Doubles, Doubles]:
        """Singular values above the threshold, and their vectors: more are computed until one falls below."""
        rounds = 2 if self.V is not None else 4
        while True:
            U, s, V = top_pairs(W, self.r, self.V, rounds)
            if len(s) < self.r or s[-1] <= threshold or self.r >= min(W.shape):
                break
            self.r = 2 * self.r
        held = int(np.count_nonzero(s > threshold))
        self.V, self.r = V.astype(W.dtype), max(32, held + held // 4 + 4)
        return U[:, :held], s[:held], V[:, :held]
