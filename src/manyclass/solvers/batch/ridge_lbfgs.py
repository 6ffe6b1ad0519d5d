"""L-BFGS for a ridge alone, or no penalty at all: a smooth problem in W and b.

A step has two products with X: the scores along its direction, from which all lengths of the step are tried, and the
gradient where it ends. The null model is the first point, whose gradient is known, and a duality gap has one product at
most. Where scores do not fit into the budget, every trial has two products.
"""

from dataclasses import replace
from functools import partial

import numpy as np

from manyclass._core.parallel import thread_map
from manyclass._core.typing import Doubles, Floats
from manyclass.solvers.batch.duality import MixedDual, duality_gap
from manyclass.solvers.batch.intercept import InterceptLoss, intercept_tolerance
from manyclass.solvers.batch.lbfgs import LbfgsStep, lbfgs
from manyclass.solvers.batch.null_model import NullModel
from manyclass.solvers.batch.points import DenseWeights, Weights
from manyclass.solvers.batch.preconditioner import Preconditioner, fit_preconditioner
from manyclass.solvers.batch.solution import SolverRun, Status, is_solved, scale
from manyclass.solvers.problem import Objective
from manyclass.solvers.row_sums import LossGradient, Scores

_ARMIJO = 1e-4  # of the decrease that the derivative promises

# Of the first derivative, what may be left where a step ends. A trial costs a few hundredths of a step, and exact steps
# teach more: measured, 10,000 x 1,024, 300 generated classes, ridge 1e-6, 0.3 takes 14 to 25 steps and 0.1 11 to 13.
_WOLFE = 0.1

_MAX_TRIALS = 20

_REFRESH = 32  # steps after which scores that were added up are computed anew

_MARGIN = 0.7  # a duality gap above the tolerance aims the next one at this part of the tolerance


def ridge(
    objective: Objective, run: SolverRun, base: NullModel, start: Weights | None, tolerance: float, max_iter: int
) -> Status:
    """Minimize; what ended it. Without a ridge there is no gap, and a small gradient ends it."""
    preconditioner = fit_preconditioner(objective, base)
    function = _Function(objective, base, preconditioner)
    x = preconditioner.pack(np.zeros((objective.d, objective.k)), base.b) if start is None else function.pack(start)
    search = function.search if objective.keeps_scores() else None
    slack = 1e-8 if objective.dtype == np.float32 else 1e-15
    target, otherwise = tolerance, Status.PRECISION_LIMIT
    first = function.at_zero if start is None else function
    for step in lbfgs(function, x, None, slack=slack, search=search, dtype=objective.dtype, first=first(x)):
        point = function.point(step.x)
        run.record(point, step.value)
        if is_solved(function.estimate_gap(step), step.value, base, target, objective.dtype):
            if objective.ridge.strength == 0:
                return Status.OPTIMAL
            _certify(function, run, point, target)
            if is_solved(run.gap, run.value, base, tolerance, objective.dtype):
                return Status.OPTIMAL
            target *= float(np.clip(_MARGIN * tolerance * scale(run.value, base) / run.gap, 0.05, _MARGIN))
        if len(run.history) >= max_iter:
            otherwise = Status.ITERATION_LIMIT
            break
    _certify(function, run, point, target)
    return Status.OPTIMAL if is_solved(run.gap, run.value, base, tolerance, objective.dtype) else otherwise


def _certify(function: "_Function", run: SolverRun, point: DenseWeights, target: float) -> None:
    """Certify the last point, after its b is fitted anew where the gradient by b alone would keep the gap too large."""
    objective, base, S = function.objective, function.base, function.S
    scores: Scores = point if S is None else S.__getitem__
    known = objective.gradient(point) if S is None else function.loss_gradient
    most = _largest_fraction(objective, base, run.value, target)
    if MixedDual(objective, known, base).fraction <= most:
        run.certify(point, duality_gap(objective, point, base, scores=scores, loss_gradient=known))
        return
    tolerance = max(most, intercept_tolerance(run.value, base, target))
    more = InterceptLoss(objective, scores).best(np.zeros(objective.k), tolerance)
    point, shift = replace(point, b=point.b + more), more.astype(objective.dtype)
    run.certify(point, duality_gap(objective, point, base, scores=None if S is None else lambda rows: S[rows] + shift))


def _largest_fraction(objective: Objective, base: NullModel, value: float, target: float) -> float:
    """Of the way to the null model's dual point, which the gradient by b makes necessary: it costs the gap hardly more.

    The dual is concave, and there it is about the loss at W = 0 less a conjugate.
    """
    lower = value - base.loss + objective.penalty.conjugate(-base.dual_point)
    return 0.3 * target * scale(value, base) / lower if lower > 0 else 1.0


class _Function:
    """F of the coordinates of W and b; it stands at the last point that was evaluated, with its scores and gradient."""

    def __init__(self, objective: Objective, base: NullModel, preconditioner: Preconditioner):
        self.objective, self.base, self.preconditioner = objective, base, preconditioner
        self.S: Floats | None = None  # (n, k), where scores fit into the budget
        self.R: Floats | None = None  # (n, k), used again by every step: new memory costs as much as the loss
        self.W: Doubles
        self.b: Doubles
        self.loss_gradient: LossGradient
        self.age = 0  # steps since S was computed from W

    def pack(self, point: Weights) -> Doubles:
        """The vector of a point."""
        return self.preconditioner.pack(point.to_dense().astype(np.float64), point.b)

    def point(self, x: Doubles) -> DenseWeights:
        """W and b of the last step."""
        W, b = (self.W, self.b) if self.S is not None else self.preconditioner.unpack(x)
        return DenseWeights(W.astype(self.objective.dtype), b)

    def at_zero(self, x: Doubles) -> tuple[float, Doubles]:
        """The value and the gradient of the null model, which are known."""
        objective, base = self.objective, self.base
        if objective.keeps_scores():
            self.S = np.tile(base.b.astype(objective.dtype), (objective.n, 1))
        self.W, self.b = np.zeros((objective.d, objective.k)), base.b
        return self._with_ridge(LossGradient(base.loss, base.gradient, base.gradient_b))

    def __call__(self, x: Doubles) -> tuple[float, Doubles]:
        W, self.b = self.preconditioner.unpack(x)
        self.W = W.astype(np.float64, copy=False)
        return self._anew()

    def _anew(self) -> tuple[float, Doubles]:
        """From scores that are computed from W."""
        objective = self.objective
        point = DenseWeights(self.W.astype(objective.dtype), self.b)
        if objective.keeps_scores():
            self.S = S = point.scores(objective.held)(slice(0, objective.n))
            return self._with_ridge(objective.gradient(lambda rows: S[rows]))
        return self._with_ridge(objective.gradient(point))

    def _with_ridge(self, known: LossGradient) -> tuple[float, Doubles]:
        ridge, self.loss_gradient = self.objective.ridge, known
        V = ridge.from_center(self.W)
        gradient: Doubles = np.multiply(V, ridge.curvature, dtype=np.float64)
        gradient += known.W
        value = known.loss + ridge.strength * float(np.vdot(V, V))
        return value, self.preconditioner.gradient(gradient, known.b)

    def search(self, here: LbfgsStep, direction: Doubles, slack: float) -> LbfgsStep | None:
        """About the lowest point along a direction; None where rounding hides any decrease."""
        derivative, objective = float(here.gradient @ direction), self.objective
        if not derivative < 0 or self.S is None:
            return None
        D, db = self.preconditioner.unpack(direction)
        Z = objective.matmat(D)
        Z += db.astype(Z.dtype)
        self.R = np.empty_like(self.S) if self.R is None else self.R
        line = _Line(objective, self.S, Z, self.R, objective.ridge.from_center(self.W), D)
        t = line.search(here.value, derivative, slack)
        if t is None:
            return None
        Z *= Z.dtype.type(t)
        self.S += Z
        self.W, self.b, self.age = self.W + t * D, self.b + t * db, self.age + 1
        if self.age % _REFRESH == 0:
            return LbfgsStep(here.x + t * direction, *self._anew())
        sums = line.sums() if objective.fit_intercept else np.zeros(objective.k)
        known = LossGradient(line.loss, objective.rmatmat(line.R), sums)
        return LbfgsStep(here.x + t * direction, *self._with_ridge(known))

    def estimate_gap(self, step: LbfgsStep) -> float:
        """About the gap: |gradient by W|^2 / (4 ridge), or |gradient| |x| where there is hardly any ridge.

        As x may be zero, it is never less than |gradient|^2 / 2, which one step along the gradient gains.
        """
        length, ridge = float(np.linalg.norm(step.gradient)), self.objective.ridge
        strong = (
            self.preconditioner.squared_gradient(step.gradient) / (4 * ridge.strength) if ridge.strength else np.inf
        )
        return max(min(strong, length * float(np.linalg.norm(step.x))), length * length / 2)


class _Line:
    """F along a direction, from the scores S and Z along it; R (n, k) becomes the gradient by scores at the last t.

    V is W less the center of the ridge, and D the direction of both.
    """

    def __init__(self, objective: Objective, S: Floats, Z: Floats, R: Floats, V: Floats, D: Floats):
        self.objective, self.S, self.Z, self.R = objective, S, Z, R
        self.loss = np.inf
        self.ridge = objective.ridge.strength * np.array([np.vdot(V, V), 2 * np.vdot(V, D), np.vdot(D, D)])

    def __call__(self, t: float) -> tuple[float, float]:
        """The value and the derivative at t."""
        self.loss, slope = 0.0, 0.0
        for value, derivative in thread_map(partial(self._chunk, t), self._chunks()):
            self.loss, slope = self.loss + value, slope + derivative
        constant, linear, square = self.ridge
        return self.loss + float(constant + t * (linear + t * square)), slope + float(linear + 2 * t * square)

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
        """t where hardly any derivative is left, of what is `value` with this derivative at 0; R is that of t."""
        low, high, t, best = 0.0, np.inf, 1.0, (np.inf, 0.0)
        for _ in range(_MAX_TRIALS):
            there, slope = self(t)
            descends = there <= value + _ARMIJO * t * derivative + slack
            if descends and abs(slope) <= -_WOLFE * derivative:
                return t
            if descends:
                best = min(best, (there, t))
            low, high = (t, high) if descends and slope < 0 else (low, t)
            if high < np.inf and high - low <= 1e-3 * high:
                break
            # To where the derivative would be zero if it were linear.
            root = t * derivative / (derivative - slope) if np.isfinite(slope) and slope > derivative else np.inf
            least, most = (0.9 * low + 0.1 * high, 0.1 * low + 0.9 * high) if high < np.inf else (1.5 * t, 4 * t)
            t = min(max(root, least), most)
        if best[1] > 0:
            self(best[1])
        return best[1] or None
