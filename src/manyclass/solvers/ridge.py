"""L-BFGS for a ridge alone, or no penalty at all: a smooth problem in W and b."""

import numpy as np
from numpy.typing import NDArray

from manyclass.solvers import quasi_newton
from manyclass.solvers.baseline import Baseline
from manyclass.solvers.certificate import certify, solved
from manyclass.solvers.fista import largest_eigenvalue
from manyclass.solvers.objective import Objective
from manyclass.solvers.points import Point, Whole, zero
from manyclass.solvers.solution import Run

Doubles = NDArray[np.float64]


def ridge(objective: Objective, run: Run, base: Baseline, start: Point | None, tolerance: float, max_iter: int) -> str:
    """Minimize; what ended it. Without a ridge there is no gap, and a small gradient ends it."""
    function = _Function(objective)
    begin = start or zero(objective, base.b)
    x = function.pack(begin.whole().astype(np.float64), begin.b)
    slack = 1e-8 if objective.dtype == np.float32 else 1e-15
    target = tolerance
    for step in quasi_newton.descend(function, x, function.first_length(x), slack=slack):
        point = function.point(step.x)
        run.record(point, step.value)
        if solved(_size(step, objective), step.value, base, target, objective.dtype):
            run.certified(point, certify(objective, point, base))
            if objective.ridge.strength == 0 or solved(run.gap, run.value, base, tolerance, objective.dtype):
                return "optimal"
            target /= 2
        if len(run.history) >= max_iter:
            return f"not solved in {max_iter} steps"
    run.certified(function.point(step.x), certify(objective, function.point(step.x), base))
    settled = solved(run.gap, run.value, base, tolerance, objective.dtype)
    return "optimal" if settled else "as near as rounding allows"


def _size(step: quasi_newton.Step, objective: Objective) -> float:
    """About the gap: |gradient|^2 / (4 ridge), or |gradient| |x| where there is hardly any ridge."""
    length = float(np.linalg.norm(step.gradient))
    strong = length * length / (4 * objective.ridge.strength) if objective.ridge.strength else np.inf
    return min(strong, length * float(np.linalg.norm(step.x)))


class _Function:
    """F of one vector: W, and b in a unit that follows the scale of X."""

    def __init__(self, objective: Objective):
        self.objective = objective
        self.eigenvalue = largest_eigenvalue(objective)
        self.unit = float(np.sqrt(self.eigenvalue))

    def pack(self, W: Doubles, b: Doubles) -> Doubles:
        return np.concatenate([W.ravel(), b / self.unit])

    def point(self, x: Doubles) -> Whole:
        d, k = self.objective.d, self.objective.k
        return Whole(x[: d * k].reshape(d, k).astype(self.objective.dtype), x[d * k :] * self.unit)

    def first_length(self, x: Doubles) -> float:
        """That of a step along the gradient which surely descends."""
        curvature = 2 * self.objective.rows.loss.curvature * self.eigenvalue + self.objective.ridge.curvature
        return max(float(np.linalg.norm(self(x)[1])), 1e-300) / curvature

    def __call__(self, x: Doubles) -> tuple[float, Doubles]:
        point, objective = self.point(x), self.objective
        slope = objective.slope(point.scores(objective))
        W = x[: objective.d * objective.k]
        value = slope.loss + objective.ridge.strength * float(W @ W)
        gradient = slope.W.astype(np.float64).ravel() + objective.ridge.curvature * W
        return value, np.concatenate([gradient, slope.b * self.unit])
