"""FISTA (Beck and Teboulle, 2009): accelerated proximal gradient steps for any penalty, with restarts."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from manyclass.data.tiles import Floats
from manyclass.solvers.baseline import Baseline
from manyclass.solvers.certificate import certify, solved
from manyclass.solvers.objective import Objective, Source
from manyclass.solvers.points import Point, Whole, zero
from manyclass.solvers.proximal import Proximal
from manyclass.solvers.solution import Run

Doubles = NDArray[np.float64]

_LONGER = 0.95  # what the inverse step is multiplied by after a step that was accepted
_ROUNDS = 15  # of the power iteration for the largest eigenvalue


@dataclass
class _Iterate:
    """A point with what is known of it: W whole, and all scores where they are kept."""

    point: Point
    W: Floats
    S: Floats | None
    loss: float = np.inf
    penalty: float = 0.0

    def scores(self, objective: Objective) -> Source:
        S = self.S
        return self.point.scores(objective) if S is None else lambda rows: S[rows]


def fista(objective: Objective, run: Run, base: Baseline, start: Point | None, tolerance: float, max_iter: int) -> str:
    """Minimize; what ended it."""
    steps = _Steps(objective)
    new = old = steps.first(start or zero(objective, base.b))
    momentum, check = 1.0, 10
    for count in range(max_iter):
        grown = (1 + np.sqrt(1 + 4 * momentum * momentum)) / 2
        ahead = steps.between(new, old, (momentum - 1) / grown)
        old, (new, turned) = new, steps.step(ahead, new)
        momentum = 1.0 if turned else grown
        run.record(new.point, new.loss + new.penalty)
        if count + 1 >= check or count + 1 == max_iter:
            check = int(1.3 * check)
            run.certified(new.point, certify(objective, new.point, base, new.penalty))
            if solved(run.gap, run.value, base, tolerance, objective.dtype):
                return "optimal"
    return f"not solved in {max_iter} steps"


class _Steps:
    """Proximal steps whose length is found by trying: b moves in units of its own, so that the scale of X is free."""

    def __init__(self, objective: Objective):
        self.objective = objective
        self.proximal = Proximal(objective.penalty, objective.d, objective.k)
        self.unit = largest_eigenvalue(objective)
        self.most = 2 * objective.rows.loss.curvature * self.unit
        self.inverse = self.most / 32
        self.slack = 1e-7 if objective.dtype == np.float32 else 1e-14

    def first(self, point: Point) -> _Iterate:
        """The iterate at a point."""
        return self._known(point, self.objective.penalty.value(point.whole()))

    def between(self, new: _Iterate, old: _Iterate, share: float) -> _Iterate:
        """new + share (new - old)."""
        if share == 0:
            return new
        step = new.W.dtype.type(share)
        W, b = new.W + step * (new.W - old.W), new.point.b + share * (new.point.b - old.point.b)
        S = None if new.S is None or old.S is None else new.S + step * (new.S - old.S)
        return _Iterate(Whole(W, b), W, S)

    def step(self, ahead: _Iterate, last: _Iterate) -> tuple[_Iterate, bool]:
        """The proximal step from `ahead`, and whether it turned back against the way from `last`."""
        slope = self.objective.slope(ahead.scores(self.objective))
        self.inverse *= _LONGER
        while True:
            W = ahead.W - slope.W / slope.W.dtype.type(self.inverse)
            b = ahead.point.b - slope.b * self.unit / self.inverse
            new = self._known(*self.proximal(W, b, 1 / self.inverse))
            dW, db = new.W - ahead.W, new.point.b - ahead.point.b
            squared = _dot(dW, dW) + float(db @ db) / self.unit
            model = slope.loss + _dot(slope.W, dW) + float(slope.b @ db) + self.inverse / 2 * squared
            if new.loss <= model + self.slack * abs(slope.loss) or self.inverse >= self.most:
                break
            self.inverse *= 2
        turned = -_dot(dW, new.W - last.W) - float(db @ (new.point.b - last.point.b)) / self.unit
        return new, turned > 0

    def _known(self, point: Point, penalty: float) -> _Iterate:
        scores = point.scores(self.objective)
        S = scores(slice(0, self.objective.n)) if self.objective.keeps_scores() else None
        known = _Iterate(point, point.whole(), S, penalty=penalty)
        known.loss = self.objective.loss_of(known.scores(self.objective))
        return known


def largest_eigenvalue(objective: Objective) -> float:
    """Of sum_i p_i X_i' X_i, by power iteration: a little more than the largest, or 1 where X is zero."""
    v = np.random.default_rng(0).standard_normal(objective.d)
    found = 0.0
    for _ in range(_ROUNDS):
        v /= max(float(np.linalg.norm(v)), 1e-300)
        Xv = objective.matmat(v[:, None])[:, 0].astype(np.float64)
        found = max(found, float(objective.rows.p @ (Xv * Xv)))
        v = objective.rmatmat((objective.rows.p * Xv)[:, None])[:, 0].astype(np.float64)
    return 1.1 * found if found > 0 else 1.0


def _dot(A: Floats, B: Floats) -> float:
    return float(np.einsum("jl,jl->", A, B, dtype=np.float64, casting="same_kind"))
