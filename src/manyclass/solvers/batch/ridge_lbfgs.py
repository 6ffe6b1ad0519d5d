"""L-BFGS for a ridge alone, or no penalty at all: a smooth problem in W and b."""

import numpy as np

from manyclass._core.typing import Doubles
from manyclass.solvers.batch.duality import duality_gap
from manyclass.solvers.batch.fista import largest_eigenvalue
from manyclass.solvers.batch.lbfgs import LbfgsStep, lbfgs
from manyclass.solvers.batch.null_model import NullModel
from manyclass.solvers.batch.points import DenseWeights, Weights, zero_weights
from manyclass.solvers.batch.solution import SolverRun, Status, is_solved
from manyclass.solvers.problem import Objective


def ridge(
    objective: Objective, run: SolverRun, base: NullModel, start: Weights | None, tolerance: float, max_iter: int
) -> Status:
    """Minimize; what ended it. Without a ridge there is no gap, and a small gradient ends it."""
    function = _Function(objective)
    begin = start or zero_weights(objective, base.b)
    x = function.pack(begin.to_dense().astype(np.float64), begin.b)
    slack = 1e-8 if objective.dtype == np.float32 else 1e-15
    target, otherwise = tolerance, Status.PRECISION_LIMIT
    for step in lbfgs(function, x, function.first_length(x), slack=slack):
        point = function.point(step.x)
        run.record(point, step.value)
        if is_solved(_estimate_gap(step, function), step.value, base, target, objective.dtype):
            if objective.ridge.strength == 0 or _certify(objective, run, base, point, tolerance):
                return Status.OPTIMAL
            target /= 2
        if len(run.history) >= max_iter:
            otherwise = Status.ITERATION_LIMIT
            break
    return Status.OPTIMAL if _certify(objective, run, base, point, tolerance) else otherwise


def _certify(objective: Objective, run: SolverRun, base: NullModel, point: DenseWeights, tolerance: float) -> bool:
    """Certify a point; whether its gap is small enough."""
    run.certify(point, duality_gap(objective, point, base))
    return np.isfinite(run.gap) and is_solved(run.gap, run.value, base, tolerance, objective.dtype)


def _estimate_gap(step: LbfgsStep, function: "_Function") -> float:
    """About the gap: |gradient|^2 / (4 ridge), or |gradient| |x| where there is hardly any ridge.

    As x may be zero, it is never less than |gradient|^2 / (2 curvature), which one step along the gradient gains.
    """
    length, ridge = float(np.linalg.norm(step.gradient)), function.objective.ridge
    strong = length * length / (4 * ridge.strength) if ridge.strength else np.inf
    return max(min(strong, length * float(np.linalg.norm(step.x))), length * length / (2 * function.curvature))


class _Function:
    """F of one vector: W, and b in a unit that follows the scale of X."""

    def __init__(self, objective: Objective):
        self.objective = objective
        self.eigenvalue = largest_eigenvalue(objective)
        self.unit = float(np.sqrt(self.eigenvalue))
        # No eigenvalue of the Hessian by x is larger.
        self.curvature = 2 * objective.rows.loss.curvature * self.eigenvalue + objective.ridge.curvature

    def pack(self, W: Doubles, b: Doubles) -> Doubles:
        return np.concatenate([W.ravel(), b / self.unit])

    def point(self, x: Doubles) -> DenseWeights:
        d, k = self.objective.d, self.objective.k
        return DenseWeights(x[: d * k].reshape(d, k).astype(self.objective.dtype), x[d * k :] * self.unit)

    def first_length(self, x: Doubles) -> float:
        """That of a step along the gradient which surely descends."""
        return max(float(np.linalg.norm(self(x)[1])), 1e-300) / self.curvature

    def __call__(self, x: Doubles) -> tuple[float, Doubles]:
        point, objective = self.point(x), self.objective
        loss_gradient = objective.gradient(point.scores(objective))
        W = x[: objective.d * objective.k]
        value = loss_gradient.loss + objective.ridge.strength * float(W @ W)
        gradient = loss_gradient.W.astype(np.float64).ravel() + objective.ridge.curvature * W
        return value, np.concatenate([gradient, loss_gradient.b * self.unit])
