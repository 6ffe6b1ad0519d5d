"""L-BFGS for a ridge alone, or no penalty at all: a smooth problem in W and b.

A step has two products with X: the scores along its direction, from which all lengths of the step are tried, and the
gradient where it ends. The null model is the first point, and its gradient is known; a duality gap has no product.
"""

from dataclasses import replace
from functools import partial

import numpy as np

from manyclass._core.parallel import thread_map
from manyclass._core.typing import Doubles, Floats
from manyclass.solvers.batch.coordinates import Coordinates, fit_coordinates, zero_point
from manyclass.solvers.batch.duality import MixedDual, duality_gap
from manyclass.solvers.batch.intercept import InterceptLoss, intercept_tolerance
from manyclass.solvers.batch.lbfgs import LbfgsStep, lbfgs
from manyclass.solvers.batch.null_model import NullModel
from manyclass.solvers.batch.points import DenseWeights, Weights
from manyclass.solvers.batch.solution import SolverRun, Status, is_solved, scale
from manyclass.solvers.problem import LossGradient, Objective

_ARMIJO = 1e-4  # of the decrease that the derivative promises

# Of the first derivative that is left where a step ends. A trial costs a few hundredths of a step, and exact steps teach
# more. Measured, 10,000 x 1,024, 300 generated classes, ridge 1e-6: 0.9, 0.3 and 0.1 take 27, 14 and 13 steps.
_WOLFE = 0.1

_MAX_TRIALS = 20

_MARGIN = 0.7  # a duality gap above the tolerance aims the next one at this part of the tolerance

_REFRESH = 32  # steps after which scores that were added up are computed anew


def ridge(
    objective: Objective, run: SolverRun, base: NullModel, start: Weights | None, tolerance: float, max_iter: int
) -> Status:
    """Minimize; what ended it. Without a ridge there is no gap, and a small gradient ends it."""
    function = _Function(objective, base, fit_coordinates(objective, base), start)
    search = function.search if objective.keeps_scores() else None
    slack = 1e-8 if objective.dtype == np.float32 else 1e-15
    target, otherwise = tolerance, Status.PRECISION_LIMIT
    for step in lbfgs(function, function.start, None, slack=slack, search=search, dtype=objective.dtype):
        point = function.point(step.x)
        run.record(point, step.value)
        if is_solved(function.estimate_gap(step), step.value, base, target, objective.dtype):
            if objective.ridge.strength == 0:
                return Status.OPTIMAL
            _certify(function, run, base, point, target)
            if is_solved(run.gap, run.value, base, tolerance, objective.dtype):
                return Status.OPTIMAL
            target *= float(np.clip(_MARGIN * tolerance * scale(run.value, base) / run.gap, 0.05, _MARGIN))
        if len(run.history) >= max_iter:
            otherwise = Status.ITERATION_LIMIT
            break
    _certify(function, run, base, point, target)
    return Status.OPTIMAL if is_solved(run.gap, run.value, base, tolerance, objective.dtype) else otherwise


def _certify(function: "_Function", run: SolverRun, base: NullModel, point: DenseWeights, target: float) -> None:
    """Certify the last point, after its b is fitted anew where the gradient by b alone would keep the gap too large."""
    objective, S, known = function.objective, function.S, function.loss_gradient
    if S is None or _intercept_is_good(function, run.value, target):
        scores = None if S is None else lambda rows: S[rows]
        run.certify(point, duality_gap(objective, point, base, scores=scores, loss_gradient=known))
        return
    tolerance = intercept_tolerance(run.value, base, target)
    more = InterceptLoss(objective, lambda rows: S[rows]).best(np.zeros(objective.k), tolerance)
    shift = more.astype(objective.dtype)
    point = replace(point, b=point.b + more)
    run.certify(point, duality_gap(objective, point, base, scores=lambda rows: S[rows] + shift))


def _intercept_is_good(function: "_Function", value: float, target: float) -> bool:
    """Whether the way to a feasible dual point, which the gradient by b makes necessary, costs the gap next to nothing.

    The dual is concave, and at the point Q0 to which that way leads it is the loss at W = 0 less a conjugate.
    """
    objective, base = function.objective, function.base
    fraction = MixedDual(objective, function.loss_gradient, base).fraction
    lower = value - base.loss + objective.penalty.conjugate(base.dual_point)
    return fraction * max(lower, 0.0) <= 0.3 * target * scale(value, base)


class _Function:
    """F of the coordinates of W and b, with the scores S and the gradient of the last point that was evaluated."""

    def __init__(self, objective: Objective, base: NullModel, coordinates: Coordinates, start: Weights | None):
        self.objective, self.base, self.coordinates = objective, base, coordinates
        begin = zero_point(objective, base.b) if start is None else start
        self.start = coordinates.pack(begin.to_dense().astype(np.float64), begin.b)
        self.from_zero = start is None
        self.S: Floats | None = None
        self.loss_gradient: LossGradient
        self.age = 0  # steps since S was computed from W

    def point(self, x: Doubles) -> DenseWeights:
        """The point that a vector stands for."""
        W, b = self.coordinates.unpack(x)
        return DenseWeights(W.astype(self.objective.dtype), b)

    def __call__(self, x: Doubles) -> tuple[float, Doubles]:
        objective = self.objective
        if x is self.start and self.from_zero:
            known = LossGradient(self.base.loss, self.base.gradient, np.zeros(objective.k))
            scores = zero_point(objective, self.base.b).b.astype(objective.dtype)
            self.S = np.tile(scores, (objective.n, 1)) if objective.keeps_scores() else None
        else:
            scores = self.point(x).scores(objective)
            if objective.keeps_scores():
                self.S = scores(slice(0, objective.n))
                known = objective.gradient(lambda rows: self.S)
            else:
                known = objective.gradient(scores)
        W = self.coordinates.unpack(x)[0]
        return self._with_ridge(known, W)

    def _with_ridge(self, known: LossGradient, W: Doubles) -> tuple[float, Doubles]:
        ridge, self.loss_gradient = self.objective.ridge, known
        gradient = known.W.astype(np.float64)
        gradient += ridge.curvature * W
        return known.loss + ridge.strength * float(np.vdot(W, W)), self.coordinates.gradient(gradient, known.b)

    def search(self, here: LbfgsStep, direction: Doubles, slack: float) -> LbfgsStep | None:
        """The lowest point along a direction, about; None where rounding hides any decrease."""
        derivative, objective = float(here.gradient @ direction), self.objective
        if not derivative < 0 or self.S is None:
            return None
        D, db = self.coordinates.unpack(direction)
        Z = objective.matmat(D)
        Z += db.astype(Z.dtype)
        line = _Line(objective, self.S, Z, self.coordinates.unpack(here.x)[0], D)
        t = line.search(here.value, derivative, slack)
        if t is None:
            return None
        x = here.x + t * direction
        Z *= Z.dtype.type(t)
        self.S += Z
        self.age += 1
        if self.age == _REFRESH:
            return self._anew(x, here, slack)
        known = LossGradient(line.loss, objective.rmatmat(line.R), line.sums() if objective.fit_intercept else 0 * db)
        return LbfgsStep(x, *self._with_ridge(known, self.coordinates.unpack(x)[0]))

    def _anew(self, x: Doubles, here: LbfgsStep, slack: float) -> LbfgsStep:
        self.age = 0
        return LbfgsStep(x, *self(x))

    def estimate_gap(self, step: LbfgsStep) -> float:
        """About the gap: |gradient by W|^2 / (4 ridge), or |gradient| |x| where there is hardly any ridge.

        As x may be zero, it is never less than |gradient|^2 / 2, which one step along the gradient gains.
        """
        known, ridge = self.loss_gradient, self.objective.ridge
        G = known.W + ridge.curvature * self.point(step.x).W - np.outer(self.coordinates.m, known.b)
        length = float(np.linalg.norm(step.gradient))
        strong = float(np.vdot(G, G)) / (4 * ridge.strength) if ridge.strength else np.inf
        return max(min(strong, length * float(np.linalg.norm(step.x))), length * length / 2)


class _Line:
    """F along a direction, from the scores S and Z along it; R (n, k) is the gradient by the scores at the last t."""

    def __init__(self, objective: Objective, S: Floats, Z: Floats, W: Doubles, D: Floats):
        self.objective, self.S, self.Z = objective, S, Z
        self.R = np.empty_like(S)
        self.loss = np.inf
        self.ridge = objective.ridge.strength * np.array([np.vdot(W, W), 2 * np.vdot(W, D), np.vdot(D, D)])

    def __call__(self, t: float) -> tuple[float, float]:
        """The value and the derivative at t."""
        loss, slope = 0.0, 0.0
        for value, derivative in thread_map(partial(self._chunk, t), self._chunks()):
            loss, slope = loss + value, slope + derivative
        self.loss = loss
        constant, linear, square = self.ridge
        return loss + float(constant + t * (linear + t * square)), slope + float(linear + 2 * t * square)

    def _chunks(self) -> list[slice]:
        return self.objective.rows.chunks(slice(0, self.objective.n))

    def _chunk(self, t: float, chunk: slice) -> tuple[float, float]:
        R, Z = self.R[chunk], self.Z[chunk]
        np.multiply(Z, Z.dtype.type(t), out=R)
        R += self.S[chunk]
        return self.objective.rows.in_place(R, chunk), float(np.einsum("ij,ij->i", R, Z).sum(dtype=np.float64))

    def sums(self) -> Doubles:
        """Of the columns of R (k,)."""
        total = np.zeros(self.objective.k)
        for part in thread_map(lambda chunk: self.R[chunk].sum(axis=0, dtype=np.float64), self._chunks()):
            total += part
        return total

    def search(self, value: float, derivative: float, slack: float) -> float | None:
        """t where hardly any derivative is left, of what is `value` with `derivative` at 0."""
        low, high, t = 0.0, np.inf, 1.0
        for _ in range(_MAX_TRIALS):
            there, slope = self(t)
            descends = there <= value + _ARMIJO * t * derivative + slack
            if descends and abs(slope) <= -_WOLFE * derivative:
                return t
            if not descends or slope > 0:
                high = t
            else:
                low = t
            # To where the derivative would be zero if it were linear.
            root = t * derivative / (derivative - slope) if np.isfinite(slope) and slope > derivative else np.inf
            width = high - low
            t = min(max(root, low + 0.1 * width), high - 0.1 * width) if high < np.inf else min(max(root, 1.5 * t), 4 * t)
        return None
