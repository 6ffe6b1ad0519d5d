"""F of factors: W = A B' with (|A|^2 + |B|^2) / 2 in place of the trace norm, a smooth function of A, B and b."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyclass._blas import in_order
from manyclass.data.tiles import Floats
from manyclass.solvers.objective import Objective
from manyclass.solvers.points import Product

Doubles = NDArray[np.float64]


class Units(NamedTuple):
    """Of the columns of A and B (r,), of c, and the row m (d,) at which c is the score: b = c - B A'm."""

    columns: Doubles
    intercept: float
    center: Doubles


class FactoredLoss:
    """F(A, B, b) = mean loss of X A B' + b, plus strength / 2 (|A|^2 + |B|^2), plus ridge |A B'|^2.

    Its least value over all factors of W is F(W, b), where A and B share the singular values of W evenly. One
    evaluation multiplies X by r columns and X' by r columns, and holds no scores but those of a chunk of rows.
    The unknowns are A, B and c: with X's mean row as the center, steps of A and B leave the mean scores alone.
    """

    def __init__(self, objective: Objective, units: Units):
        self.objective = objective
        self.r = len(units.columns)
        self.units = units
        self.strength = objective.gauge.strength if objective.gauge else 0.0
        self.evaluations = 0
        self._last: tuple[Doubles, tuple[float, Doubles], Floats] | None = None

    def pack(self, A: Floats, B: Floats, b: Doubles) -> Doubles:
        """One vector of all unknowns."""
        columns, unit, m = self.units
        c = (b + B @ (A.T @ m)) / unit
        return np.concatenate([(A / columns).ravel(), (B / columns).ravel(), c]).astype(np.float64)

    def unpack(self, x: Doubles) -> tuple[Doubles, Doubles, Doubles]:
        """A (d, r), B (k, r), b (k,)."""
        d, k, r = self.objective.d, self.objective.k, self.r
        a, b, c = np.split(x, [d * r, d * r + k * r])
        A, B = a.reshape(d, r) * self.units.columns, b.reshape(k, r) * self.units.columns
        return A, B, c * self.units.intercept - B @ (A.T @ self.units.center)

    def point(self, x: Doubles) -> Product:
        """The point that a vector stands for."""
        A, B, b = self.unpack(x)
        return Product(A.astype(self.objective.dtype), B.astype(self.objective.dtype), b)

    def latent(self, x: Doubles) -> Floats:
        """X A (n, r): at hand where x was the last to be evaluated."""
        return self._last[2] if self._last and self._last[0] is x else self.objective.matmat(self.unpack(x)[0])

    def __call__(self, x: Doubles) -> tuple[float, Doubles]:
        """The value and the gradient, one vector; the last are remembered."""
        if self._last is None or self._last[0] is not x:
            A, B, b = self.unpack(x)
            Z = self.objective.matmat(A)
            self._last = x, self._evaluate(A, B, b, Z), Z
        return self._last[1]

    def _evaluate(self, A: Doubles, B: Doubles, b: Doubles, Z: Floats) -> tuple[float, Doubles]:
        self.evaluations += 1
        loss, dA, dB, db = self._mean_loss(Z, B, b)
        AA, BB = A.T @ A, B.T @ B
        ridge = self.objective.ridge.strength
        value = loss + self.strength / 2 * (np.trace(AA) + np.trace(BB)) + ridge * float((AA * BB).sum())
        dA += self.strength * A + 2 * ridge * A @ BB
        dB += self.strength * B + 2 * ridge * B @ AA
        if not self.objective.fit_intercept:
            db[:] = 0
        columns, unit, m = self.units
        dA -= np.outer(m, db @ B)
        dB -= np.outer(db, m @ A)
        return float(value), np.concatenate([(dA * columns).ravel(), (dB * columns).ravel(), db * unit])

    def _mean_loss(self, Z: Floats, B: Doubles, b: Doubles) -> tuple[float, Doubles, Doubles, Doubles]:
        objective, rows, r = self.objective, self.objective.rows, self.r
        # A column of ones for b; and weights multiply the narrow arrays, never the wide scores.
        Z = np.hstack([Z, np.ones((objective.n, 1), objective.dtype)])
        left = B.astype(Z.dtype)
        right = np.ascontiguousarray(np.vstack([B.T, b]), Z.dtype)
        RB = np.empty((objective.n, r), Z.dtype)

        def work(chunk: slice) -> tuple[float, Floats]:
            p = rows.p[chunk]
            weights = p[:, None].astype(Z.dtype)
            R = Z[chunk] @ right
            values = rows.loss.in_place(R, rows.y[chunk])
            np.matmul(R, left, out=RB[chunk])
            RB[chunk] *= weights
            return float(p @ values), R.T @ (Z[chunk] * weights)

        loss, dB = 0.0, np.zeros((objective.k, r + 1))
        for part in in_order(work, rows.chunks(slice(0, objective.n))):
            loss += part[0]
            dB += part[1]
        return loss, objective.rmatmat(RB).astype(np.float64), dB[:, :r].copy(), dB[:, r].copy()
