"""R1D, rank-one descent (Harchaoui et al., CVPR 2012, Algorithm 4.1), for any gauge that has atoms.

W is a sum of weighted atoms u v'; a step adds the steepest one, its weight found by Armijo's rule, and now and then all
weights are corrected together.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from manyclass._core.typing import Doubles, Floats
from manyclass.penalties.penalty import Gauge
from manyclass.solvers.batch.duality import duality_gap
from manyclass.solvers.batch.lbfgs import Function
from manyclass.solvers.batch.null_model import NullModel
from manyclass.solvers.batch.points import AtomWeights, Weights
from manyclass.solvers.batch.solution import SolverRun, Status, is_solved
from manyclass.solvers.problem import Objective


class Atoms:
    """W = sum_j theta_j u_j v_j' with theta >= 0, and b.

    The penalty is counted as strength * sum(theta), which is that of W or more, plus the ridge.
    """

    def __init__(self, objective: Objective, b: Doubles):
        self.objective = objective
        self.strength = objective.gauge.strength if objective.gauge else 0.0
        self.U = np.zeros((objective.d, 0), objective.dtype)
        self.V = np.zeros((objective.k, 0), objective.dtype)
        self.theta = np.zeros(0)
        self.b = b

    def point(self) -> AtomWeights:
        """The point they make."""
        return self._at(self.theta, self.b)

    def _at(self, theta: Doubles, b: Doubles) -> AtomWeights:
        return AtomWeights(self.U, (self.V * theta).astype(self.V.dtype), b)

    def add(self, U: Floats, V: Floats, theta: Doubles) -> None:
        """Take in atoms (d, m), (k, m) with their weights (m,)."""
        self.U = np.hstack([self.U, U.astype(self.U.dtype)])
        self.V = np.hstack([self.V, V.astype(self.V.dtype)])
        self.theta = np.concatenate([self.theta, theta])

    def drop_unused(self) -> None:
        """Let go of atoms whose weight is zero."""
        alive = self.theta > 0
        self.U, self.V, self.theta = self.U[:, alive], self.V[:, alive], self.theta[alive]

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
        self.drop_unused()
        return float(found.fun)

    def _unit(self) -> float:
        """A weight that changes the scores of a row by about 1."""
        squares = self.objective.sums.squared_latent(self.point())
        return float(np.sqrt(max(1, len(self.theta)) / squares)) if squares > 0 else 1.0

    def _gram(self) -> Doubles:
        U, V = self.U.astype(np.float64), self.V.astype(np.float64)
        return (U.T @ U) * (V.T @ V)

    def _function(self, unit: float) -> Function:
        gram, m = self._gram(), len(self.theta)
        ridge = self.objective.ridge.strength

        def function(x: Doubles) -> tuple[float, Doubles]:
            theta = x[:m] * unit
            loss, gradient, gradient_b = self._mean_loss(theta, x[m:])
            value = loss + self.strength * float(theta.sum()) + ridge * float(theta @ gram @ theta)
            gradient = gradient + self.strength + 2 * ridge * gram @ theta
            if not self.objective.fit_intercept:
                gradient_b = 0 * gradient_b
            return value, np.concatenate([gradient * unit, gradient_b])

        return function

    def _mean_loss(self, theta: Doubles, b: Doubles) -> tuple[float, Doubles, Doubles]:
        loss, _, dB, db = self.objective.sums.factor_gradient(self._at(theta, b), left=False)
        return loss, np.einsum("km,km->m", dB, self.V, dtype=np.float64), db


@dataclass(frozen=True)
class RankOneSettings:
    """`epsilon` of conditions (C1) and (C2), in units of alpha_max, so that the scale of X is free.

    All atoms are corrected every `every` steps, and whenever no new one is steep enough. Where both conditions hold but
    the gap is not small enough, epsilon is multiplied by `shrink`; at 1 they end the solver, as published.
    """

    epsilon: float = 0.035
    max_steps: int | None = None
    every: int = 10
    shrink: float = 0.25


DEFAULT = RankOneSettings()

PUBLISHED = RankOneSettings(epsilon=0.035, max_steps=200, shrink=1.0)


def rank_one(
    objective: Objective,
    run: SolverRun,
    base: NullModel,
    start: Weights | None,
    tolerance: float,
    max_iter: int,
    settings: RankOneSettings = DEFAULT,
) -> Status:
    """Minimize; what ended it."""
    gauge = gauge_of(objective)
    atoms = start_atoms(objective, base, start)
    fraction, unit, size = settings.epsilon, gauge.polar(base.gradient), 1.0
    steps = min(max_iter, settings.max_steps or max_iter)
    for count in range(1, steps + 1):
        loss_gradient = objective.gradient(atoms.point())
        H = _add_ridge_gradient(objective, loss_gradient.W, atoms)
        # It attains the polar up to rounding, more than the epsilon / 2 that is asked for.
        epsilon, (u, v) = fraction * unit, gauge.atom(-H)
        g = gauge.strength + float(u.astype(np.float64) @ (H @ v))
        steep = g <= -epsilon / 2
        if steep:
            size = add_atom(atoms, u, v, g, 2 * size)
        elif _is_stationary(atoms, H, epsilon) and _is_flat(loss_gradient.b, fraction):
            if settings.shrink == 1:
                return _end(objective, run, base, atoms, Status.EPSILON_OPTIMAL)
            if _end(objective, run, base, atoms, Status.EPSILON_OPTIMAL, tolerance) is Status.OPTIMAL:
                return Status.OPTIMAL
            fraction *= settings.shrink
        if not steep or count % settings.every == 0:
            atoms.correct(precision=1e-9 if steep else 1e-15)
        point = atoms.point()
        value = objective.loss_of(atoms.point()) + atoms.penalty(atoms.theta)
        run.record(point, value, atoms=len(atoms.theta), epsilon=fraction)
    return _end(objective, run, base, atoms, Status.ITERATION_LIMIT, tolerance)


def gauge_of(objective: Objective) -> Gauge:
    """The gauge, whose atoms these solvers add."""
    if objective.gauge is None:
        raise ValueError(f"solvers by atoms need a penalty with a gauge, such as a trace norm; got {objective.penalty}")
    return objective.gauge


def start_atoms(objective: Objective, base: NullModel, start: Weights | None) -> Atoms:
    """No atoms, or those of a start."""
    atoms = Atoms(objective, base.b if start is None else start.b)
    if start is not None and objective.gauge is not None:
        atoms.add(*objective.gauge.atoms(start.to_dense()))
    return atoms


def add_atom(atoms: Atoms, u: Floats, v: Floats, derivative: float, first: float) -> float:
    """Take in u v' with the weight that a search along it gives; that weight."""
    objective, theta = atoms.objective, np.append(atoms.theta, 0.0)
    start = objective.loss_of(atoms.point()) + atoms.penalty(atoms.theta)
    atoms.add(u[:, None], v[:, None], np.zeros(1))

    def value(t: float) -> float:
        atoms.theta = theta + t * (np.arange(len(theta)) == len(theta) - 1)
        return objective.loss_of(atoms.point()) + atoms.penalty(atoms.theta)

    t = armijo(value, start, derivative, first)
    value(t)
    if t == 0:
        atoms.drop_unused()
    return t or first / 4


def _is_stationary(atoms: Atoms, H: Floats, epsilon: float) -> bool:
    """Condition (C2): no weight of an atom has a derivative above epsilon."""
    return bool(np.abs(atoms.derivatives(H) + atoms.strength).max(initial=0.0) <= epsilon)


def _is_flat(gradient_b: Doubles, fraction: float) -> bool:
    return float(np.abs(gradient_b).sum()) <= max(fraction, 1e-6)


def _add_ridge_gradient(objective: Objective, G: Floats, atoms: Atoms) -> Floats:
    return G + objective.ridge.gradient(atoms.point().to_dense()).astype(G.dtype) if objective.ridge.strength else G


def _end(
    objective: Objective, run: SolverRun, base: NullModel, atoms: Atoms, status: Status, tolerance: float = 0.0
) -> Status:
    """The status of where the atoms stand: optimal if that is proved, else the one given."""
    point = atoms.point()
    run.certify(point, duality_gap(objective, point, base))
    return Status.OPTIMAL if is_solved(run.gap, run.value, base, tolerance, objective.dtype) else status


_ARMIJO = 0.1  # of the decrease that the derivative promises


def armijo(value: Callable[[float], float], start: float, derivative: float, first: float) -> float:
    """A step t > 0 with value(t) <= start + t derivative / 10, as long as doubling still pays; 0 where there is none.

    >>> armijo(lambda t: (t - 3) ** 2, start=9.0, derivative=-6.0, first=1.0)
    2.0
    """
    t, found = first, value(first)
    if found <= start + _ARMIJO * t * derivative:
        while (further := value(2 * t)) < found:
            t, found = 2 * t, further
        return t
    for _ in range(60):
        t /= 2
        if value(t) <= start + _ARMIJO * t * derivative:
            return t
    return 0.0
