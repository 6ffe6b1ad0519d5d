"""FISTA (Beck and Teboulle, 2009): accelerated proximal gradient steps for any penalty, with restarts.

Where the gauge is spectral and W large, a proximal step computes only the singular values that it leaves above zero.
"""

from dataclasses import dataclass

import numpy as np

from manyclass._core.algebra.linalg import power_iteration
from manyclass._core.algebra.singular import top_singular_pairs
from manyclass._core.typing import Doubles, Floats
from manyclass.penalties.penalty import Penalty
from manyclass.solvers.batch.duality import duality_gap
from manyclass.solvers.batch.null_model import NullModel
from manyclass.solvers.batch.points import DenseWeights, LowRankWeights, Weights, zero_weights
from manyclass.solvers.batch.solution import SolverRun, Status, is_solved
from manyclass.solvers.problem import Objective
from manyclass.solvers.row_sums import Scorer

# The inverse step is multiplied by it before every step, so that steps can become longer again. Measured, trace norm,
# 1,500 x 128, 60 classes, gap of 1e-3: 0.8, 0.95 and 1 take 222, 205 and 375 passes.
_STEP_GROWTH = 0.95

# A duality gap costs about as much as two steps: the first after so many steps, and then ever more rarely. Measured
# there: growth by 1.1, 1.3 and 2 takes 228, 205 and 211 passes.
_FIRST_CHECK, _CHECK_GROWTH = 10, 1.3

# For the largest eigenvalue, which then is known to a few percent. Not tuned: there 5, 15 and 50 take 149, 205 and 275
# passes, and the same time within noise.
_POWER_ITERATIONS = 15


@dataclass
class _Iterate:
    """A point with what is known of it: W (d, k), and all scores where they are kept."""

    point: Weights
    W: Floats
    S: Floats | None
    loss: float = np.inf
    penalty: float = 0.0

    def scores(self, objective: Objective) -> Scorer:
        S = self.S
        return self.point.scores(objective.held) if S is None else lambda rows: S[rows]


def fista(
    objective: Objective, run: SolverRun, base: NullModel, start: Weights | None, tolerance: float, max_iter: int
) -> Status:
    """Minimize; what ended it."""
    objective = objective.here("fista")
    steps = _Steps(objective)
    new = old = steps.first(start or zero_weights(objective, base.b))
    momentum, check = 1.0, _FIRST_CHECK
    for count in range(max_iter):
        next_momentum = (1 + np.sqrt(1 + 4 * momentum * momentum)) / 2
        ahead = steps.extrapolate(new, old, (momentum - 1) / next_momentum)
        old, (new, restart) = new, steps.step(ahead, new)
        momentum = 1.0 if restart else next_momentum
        run.record(new.point, new.loss + new.penalty)
        if count + 1 >= check or count + 1 == max_iter:
            check = int(_CHECK_GROWTH * check)
            run.certify(new.point, duality_gap(objective, new.point, base, new.penalty))
            if is_solved(run.gap, run.value, base, tolerance, objective.dtype):
                return Status.OPTIMAL
    return Status.ITERATION_LIMIT


class _Steps:
    """Proximal steps whose length is found by trying: b moves in units of its own, so that the scale of X is free."""

    def __init__(self, objective: Objective):
        self.objective = objective
        self.proximal = Proximal(objective.penalty, objective.d, objective.k)
        self.unit = largest_eigenvalue(objective)
        self.most = 2 * objective.rows.loss.curvature * self.unit
        self.inverse = self.most / 32
        self.slack = 1e-7 if objective.dtype == np.float32 else 1e-14

    def first(self, point: Weights) -> _Iterate:
        """The iterate at a point."""
        return self._evaluate(point, self.objective.penalty.value(point.to_dense()))

    def extrapolate(self, new: _Iterate, old: _Iterate, factor: float) -> _Iterate:
        """new + factor (new - old)."""
        if factor == 0:
            return new
        step = new.W.dtype.type(factor)
        W, b = new.W + step * (new.W - old.W), new.point.b + factor * (new.point.b - old.point.b)
        S = None if new.S is None or old.S is None else new.S + step * (new.S - old.S)
        return _Iterate(DenseWeights(W, b), W, S)

    def step(self, ahead: _Iterate, last: _Iterate) -> tuple[_Iterate, bool]:
        """The proximal step from `ahead`, and whether it restart back against the way from `last`."""
        gradient = self.objective.gradient(ahead.scores(self.objective))
        self.inverse *= _STEP_GROWTH
        while True:
            W = ahead.W - gradient.W / gradient.W.dtype.type(self.inverse)
            b = ahead.point.b - gradient.b * self.unit / self.inverse
            new = self._evaluate(*self.proximal(W, b, 1 / self.inverse))
            dW, db = new.W - ahead.W, new.point.b - ahead.point.b
            squared = _dot(dW, dW) + float(db @ db) / self.unit
            model = gradient.loss + _dot(gradient.W, dW) + float(gradient.b @ db) + self.inverse / 2 * squared
            if new.loss <= model + self.slack * abs(gradient.loss) or self.inverse >= self.most:
                break
            self.inverse *= 2
        restart = -_dot(dW, new.W - last.W) - float(db @ (new.point.b - last.point.b)) / self.unit
        return new, restart > 0

    def _evaluate(self, point: Weights, penalty: float) -> _Iterate:
        scores = point.scores(self.objective.held)
        S = scores(slice(0, self.objective.n)) if self.objective.keeps_scores() else None
        known = _Iterate(point, point.to_dense(), S, penalty=penalty)
        known.loss = self.objective.loss_of(known.scores(self.objective))
        return known


def largest_eigenvalue(objective: Objective) -> float:
    """Of sum_i p_i X_i' X_i: a little more than the largest, or 1 where X is zero."""
    quotients, p = [0.0], objective.rows.p

    def multiply(v: Floats) -> Floats:
        Xv = objective.matmat(v[:, None])[:, 0].astype(np.float64)
        quotients.append(float(p @ (Xv * Xv)))
        return objective.rmatmat((p * Xv)[:, None])[:, 0].astype(np.float64)

    power_iteration(multiply, np.random.default_rng(0).standard_normal(objective.d), _POWER_ITERATIONS)
    return 1.1 * max(quotients) if max(quotients) > 0 else 1.0


def _dot(A: Floats, B: Floats) -> float:
    return float(np.einsum("jl,jl->", A, B, dtype=np.float64, casting="same_kind"))


_TRUNCATE_FROM = 200  # rows and columns from which on not all singular values are computed


class Proximal:
    """Steps of penalty.prox; where the gauge is spectral, each starts from the singular vectors of the one before."""

    def __init__(self, penalty: Penalty, d: int, k: int):
        self.penalty = penalty
        gauge, self.ridge = penalty.parts()
        self.strength = gauge.strength if gauge else 0.0
        narrow = self.ridge.center is None and min(d, k) > _TRUNCATE_FROM
        self.truncates = gauge is not None and gauge.spectral and narrow
        self.V: Floats | None = None
        self.r = 32

    def __call__(self, W: Floats, b: Doubles, step: float) -> tuple[Weights, float]:
        """The point of prox(W, step), with this b, and its penalty."""
        if not self.truncates:
            V, value = self.penalty.prox_and_value(W, step)
            return DenseWeights(V, b), value
        shrinkage = self.ridge.shrinkage(step)
        U, s, V = self._above(W, self.strength * step)
        s = shrinkage * (s - self.strength * step)
        point = LowRankWeights((U * s).astype(W.dtype), V.astype(W.dtype), b)
        return point, self.strength * float(s.sum()) + self.ridge.strength * float(s @ s)

    def _above(self, W: Floats, threshold: float) -> tuple[Doubles, Doubles, Doubles]:
        """Singular values above the threshold, and their vectors: more are computed until one falls below."""
        rounds = 2 if self.V is not None else 4
        while True:
            U, s, V = top_singular_pairs(W, self.r, self.V, rounds)
            if len(s) < self.r or s[-1] <= threshold or self.r >= min(W.shape):
                break
            self.r = 2 * self.r
        held = int(np.count_nonzero(s > threshold))
        self.V, self.r = V.astype(W.dtype), max(32, held + held // 4 + 4)
        return U[:, :held], s[:held], V[:, :held]
