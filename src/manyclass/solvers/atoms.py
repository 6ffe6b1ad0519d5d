"""Atoms: W as a sum of weighted atoms u v' of a gauge, and the best weights for those at hand."""

import numpy as np
from numpy.typing import NDArray

from manyclass._blas import in_order
from manyclass.data.tiles import Floats
from manyclass.solvers.objective import Objective
from manyclass.solvers.points import Product
from manyclass.solvers.quasi_newton import Function

Doubles = NDArray[np.float64]


class Atoms:
    """W = sum_j theta_j u_j v_j' with theta >= 0, and b; Z = X U is kept, (n, m).

    The penalty is counted as strength * sum(theta), which is that of W or more, plus the ridge.
    """

    def __init__(self, objective: Objective, b: Doubles):
        self.objective = objective
        self.strength = objective.gauge.strength if objective.gauge else 0.0
        self.U = np.zeros((objective.d, 0), objective.dtype)
        self.V = np.zeros((objective.k, 0), objective.dtype)
        self.Z = np.zeros((objective.n, 0), objective.dtype)
        self.theta = np.zeros(0)
        self.b = b

    def point(self) -> Product:
        """The point they make."""
        return Product((self.U * self.theta).astype(self.U.dtype), self.V, self.b)

    def add(self, U: Floats, V: Floats, theta: Doubles) -> None:
        """Take in atoms (d, m), (k, m) with their weights (m,)."""
        self.U = np.hstack([self.U, U.astype(self.U.dtype)])
        self.V = np.hstack([self.V, V.astype(self.V.dtype)])
        self.Z = np.hstack([self.Z, self.objective.matmat(U)])
        self.theta = np.concatenate([self.theta, theta])

    def drop_dead(self) -> None:
        """Let go of atoms whose weight is zero."""
        alive = self.theta > 0
        self.U, self.V, self.Z = self.U[:, alive], self.V[:, alive], self.Z[:, alive]
        self.theta = self.theta[alive]

    def scores(self, rows: slice) -> Floats:
        """X W + b of some rows, without a product with X."""
        S: Floats = (self.Z[rows] * self.theta.astype(self.Z.dtype)) @ self.V.T
        S += self.b.astype(S.dtype)
        return S

    def penalty(self, theta: Doubles) -> float:
        """strength * sum(theta) + ridge * |W|^2."""
        return self.strength * float(theta.sum()) + self.objective.ridge.strength * float(theta @ self._gram() @ theta)

    def derivatives(self, H: Floats) -> Doubles:
        """<H, u_j v_j'> for each atom (m,)."""
        return np.asarray(np.einsum("jm,jm->m", self.U, H @ self.V, dtype=np.float64, casting="same_kind"))

    def correct(self, rounds: int = 200, precision: float = 1e-12) -> float:
        """Find the best weights and b by box-constrained L-BFGS (Eq. 8 of Harchaoui et al., 2012); the objective."""
        from scipy.optimize import minimize

        m = len(self.theta)
        unit = self._unit()
        found = minimize(
            self._function(unit),
            np.concatenate([self.theta / unit, self.b]),
            jac=True,
            method="L-BFGS-B",
            bounds=[(0, None)] * m + [(None, None)] * len(self.b),
            options={"maxiter": rounds, "ftol": precision, "gtol": 0.0, "maxcor": 20},
        )
        self.theta, self.b = found.x[:m] * unit, found.x[m:]
        self.drop_dead()
        return float(found.fun)

    def _unit(self) -> float:
        """A weight that changes the scores of a row by about 1."""
        squares = float(self.objective.rows.p @ np.square(self.Z, dtype=np.float64).sum(axis=1))
        return float(np.sqrt(max(1, len(self.theta)) / squares)) if squares > 0 else 1.0

    def _gram(self) -> Doubles:
        U, V = self.U.astype(np.float64), self.V.astype(np.float64)
        return (U.T @ U) * (V.T @ V)

    def _function(self, unit: float) -> Function:
        gram, m = self._gram(), len(self.theta)
        ridge = self.objective.ridge.strength

        def function(x: Doubles) -> tuple[float, Doubles]:
            theta = x[:m] * unit
            loss, slope, slope_b = self._mean_loss(theta, x[m:])
            value = loss + self.strength * float(theta.sum()) + ridge * float(theta @ gram @ theta)
            slope = slope + self.strength + 2 * ridge * gram @ theta
            return value, np.concatenate([slope * unit, slope_b if self.objective.fit_intercept else 0 * slope_b])

        return function

    def _mean_loss(self, theta: Doubles, b: Doubles) -> tuple[float, Doubles, Doubles]:
        rows = self.objective.rows
        right, shift = (self.V * theta.astype(self.V.dtype)).T, b.astype(self.V.dtype)

        def work(chunk: slice) -> tuple[float, Doubles, Doubles]:
            Z = self.Z[chunk]
            loss, R = rows.at(Z @ right + shift, chunk)
            slope = np.einsum("nm,nm->m", Z, R @ self.V, dtype=np.float64, casting="same_kind")
            return loss, slope, R.sum(axis=0, dtype=np.float64)

        parts = list(in_order(work, rows.chunks(slice(0, self.objective.n))))
        loss = sum(part[0] for part in parts)
        return loss, np.sum([part[1] for part in parts], axis=0), np.sum([part[2] for part in parts], axis=0)
