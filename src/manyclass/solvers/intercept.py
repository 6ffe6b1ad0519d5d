"""The best b for a W that stays as it is: the gradient by b must vanish for a dual point to prove anything."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from manyclass._blas import in_order
from manyclass.data.tiles import Floats
from manyclass.solvers.objective import Objective, Source
from manyclass.solvers.points import Product, times
from manyclass.solvers.quasi_newton import Pairs, inverse_times

Doubles = NDArray[np.float64]

_MOST = 12  # evaluations
_LENGTH = 0.01  # of a first step


def settled(objective: Objective, point: Product, Z: Floats, tolerance: float) -> tuple[Product, Source]:
    """The same W with b so near its best that no class has a gradient above `tolerance` of its share; and its scores.

    Z is X A (n, r), and so no product with X is needed.
    """
    loss = _Loss(objective, point, Z)
    if objective.fit_intercept:
        point = Product(point.A, point.B, loss.best(point.b, tolerance))
    return point, partial(loss.scores, point.b.astype(objective.dtype))


def known_scores(objective: Objective, point: Product, Z: Floats) -> Source:
    """The scores of a point whose Z = X A (n, r) is known, without a product with X."""
    return partial(_Loss(objective, point, Z).scores, point.b.astype(objective.dtype))


class _Loss:
    """The mean loss by b, in units that are the longer the fewer rows a class has."""

    def __init__(self, objective: Objective, point: Product, Z: Floats):
        self.rows, self.n = objective.rows, objective.n
        self.Z, self.right = Z, np.ascontiguousarray(point.B.T, objective.dtype)
        self.S = times(Z, self.right) if objective.keeps_scores() else None
        self.units = 1 / np.sqrt(np.maximum(objective.rows.shares(), 1e-12))

    def best(self, b: Doubles, tolerance: float) -> Doubles:
        """From b on, the b of smallest gradient against the shares, or the first for which that is small enough.

        Steps of L-BFGS that nothing searches along: values no longer tell which of two points is better here.
        """
        x, found, pairs = b / self.units, (np.inf, b / self.units), Pairs(maxlen=_MOST)
        last: tuple[Doubles, Doubles] | None = None
        for _ in range(_MOST):
            g = self.gradient(x)
            found = min(found, (float(np.abs(g * self.units).max()), x), key=lambda pair: pair[0])
            if found[0] <= tolerance:
                break
            if last is not None and (x - last[0]) @ (g - last[1]) > 0:
                pairs.append((x - last[0], g - last[1]))
            last = x, g
            x = x - (inverse_times(pairs, g) if pairs else g * (_LENGTH / float(np.linalg.norm(g))))
        return found[1] * self.units

    def scores(self, b: Floats, rows: slice) -> Floats:
        """X A B' + b of some rows."""
        return (times(self.Z[rows], self.right) if self.S is None else self.S[rows]) + b

    def gradient(self, x: Doubles) -> Doubles:
        """By x = b / units (k,)."""
        b = (x * self.units).astype(self.Z.dtype)
        parts = in_order(partial(self._part, b), self.rows.chunks(slice(0, self.n)))
        return np.asarray(sum(parts) * self.units)

    def _part(self, b: Floats, rows: slice) -> Doubles:
        S = (self.Z[rows] @ self.right if self.S is None else self.S[rows]) + b
        self.rows.in_place(S, rows)
        return np.asarray(S.sum(axis=0, dtype=np.float64))
