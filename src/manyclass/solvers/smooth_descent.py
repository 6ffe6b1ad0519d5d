"""Smooth problems by L-BFGS, which stops when a dual bound proves that little is left to gain."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from manyclass.solvers.smooth_problem import Doubles, Point, SmoothProblem

# Bounds cost about as much as an iteration.
_BETWEEN_BOUNDS = 10
_MEMORY = 20


@dataclass(frozen=True)
class Found:
    """W (p, k), its objective, by how much that can be above the optimum, iterations, and whether that is little."""

    W: Doubles
    objective: float
    gap: float
    n_iter: int
    converged: bool


def descend(problem: SmoothProblem, tolerance: float, max_iter: int, start: Doubles | None = None) -> Found:
    """The minimum, up to `tolerance` times the objective or the whole gain over W = 0, whichever is less."""
    watch = _Watch(problem, tolerance)
    W = np.zeros(problem.shape) if start is None else start
    if max_iter and not watch.bound_proves_enough(problem.at(W)):
        how = {"maxiter": max_iter, "maxfun": 20 * max_iter, "ftol": 0.0, "gtol": 0.0, "maxcor": _MEMORY}
        found = minimize(watch, W.ravel(), jac=True, method="L-BFGS-B", callback=watch.iterated, options=how)
        W = found.x.reshape(problem.shape)
    end = problem.at(W)
    converged = watch.bound_proves_enough(end)
    return Found(W, end.objective, max(0.0, end.objective - watch.bound), watch.n_iter, converged)


class _Watch:
    """The objective as L-BFGS wants it, with an eye on the bound."""

    def __init__(self, problem: SmoothProblem, tolerance: float):
        self.problem, self.tolerance = problem, tolerance
        nothing = problem.at(np.zeros(problem.shape))
        # R = 0 is a point of the dual too, and keeps the gap from being larger than what no loss can be below.
        self.bound, self.n_iter = problem.dual(nothing._replace(pull=0 * nothing.pull, R=0 * nothing.R)), 0
        self.at_zero = nothing.objective
        self.point: Point

    def __call__(self, w: Doubles) -> tuple[float, Doubles]:
        self.point = self.problem.at(w.reshape(self.problem.shape))
        return self.point.objective, self.point.gradient.ravel()

    def iterated(self, _: NDArray[np.float64]) -> None:
        self.n_iter += 1
        # The last evaluation was that of the point the line search took.
        if self.n_iter % _BETWEEN_BOUNDS == 0 and self.bound_proves_enough(self.point):
            raise StopIteration

    def bound_proves_enough(self, point: Point) -> bool:
        self.bound = max(self.bound, self.problem.dual(point))
        # The objective holds constants that no W can change: near W = 0 little is left of it, and so of the right side.
        return point.objective - self.bound <= self.tolerance * min(point.objective, self.at_zero - self.bound)
