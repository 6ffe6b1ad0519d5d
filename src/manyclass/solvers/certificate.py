"""Certificate: how far from the optimum a point can be, proved by a point of the dual problem.

With Q = the gradient of the mean loss by the scores, the dual is -sum_i p_i L*(Q_i / p_i) - penalty*(-X'Q), and the
free b demands that the columns of Q add up to zero.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._blas import in_order
from manyclass.data.tiles import Floats
from manyclass.solvers.baseline import Baseline
from manyclass.solvers.feasible import Feasible, Mixed, Scaled
from manyclass.solvers.objective import Objective, Slope, Source
from manyclass.solvers.points import Point

Doubles = NDArray[np.float64]

_SHARES = np.array([0, *0.5 ** np.arange(6, -1, -1.0)])  # of the way from Q to its multiple inside the ball


@dataclass(frozen=True)
class Certificate:
    """The objective at a point, the best lower bound on the optimum known there, and the slope of its smooth part.

    `excess` is polar(slope) - strength where there is a gauge: at most epsilon means epsilon-optimal by (C1).
    """

    objective: float
    bound: float
    excess: float
    slope: Floats  # of mean loss and ridge, (d, k)
    slope_b: Doubles

    @property
    def gap(self) -> float:
        """An upper bound on objective - optimum."""
        return max(0.0, self.objective - self.bound)


def certify(
    objective: Objective, point: Point, base: Baseline, penalty: float | None = None, scores: Source | None = None
) -> Certificate:
    """The certificate of a point, for two products with X; `penalty` and `scores` are its own where they are known."""
    scores = point.scores(objective) if scores is None else scores
    slope = objective.slope(scores)
    W = point.whole()
    value = slope.loss + (objective.penalty.value(W) if penalty is None else penalty)
    smooth = slope.W + objective.ridge.gradient(W).astype(slope.W.dtype) if objective.ridge.strength else slope.W
    excess = objective.gauge.polar(smooth) - objective.gauge.strength if objective.gauge else 0.0
    inner = float(np.vdot(W, slope.W)) + float(point.b @ slope.b)
    return Certificate(value, _bound(objective, scores, slope, base, inner), excess, smooth, slope.b)


def solved(gap: float, value: float, base: Baseline, tolerance: float, dtype: Any) -> bool:
    """Whether the gap at a point of this value is at most `tolerance` of the value, and of what W gains over zero.

    The latter, as near W = 0 any point has a gap that is small against the objective. What W can gain is at most the
    gain that is seen, plus the gap. No gap is asked to be smaller than the rounding of the loss at zero.
    """
    rounding = 4 * float(np.finfo(dtype).eps) * abs(base.loss)
    return bool(np.isfinite(gap)) and gap <= max(tolerance * scale(value - gap, base), rounding)


def scale(value: float, base: Baseline) -> float:
    """The smaller of the objective and its gain over W = 0, against which gaps are measured."""
    return min(abs(value), max(0.0, base.loss - value))


def _bound(objective: Objective, scores: Source, slope: Slope, base: Baseline, inner: float) -> float:
    """The dual at a multiple of Q, made feasible; `inner` is <S, Q> for the scores S."""
    if objective.gauge is None and objective.ridge.strength == 0:
        return -np.inf
    found = _dual(objective, scores, Mixed(objective, slope, base), slope.loss, inner)
    if np.isfinite(found):
        return found
    scaled = Scaled.of(objective, scores)
    return -np.inf if scaled is None else _dual(objective, scores, scaled, slope.loss, inner)


def _dual(objective: Objective, scores: Source, feasible: Feasible, loss: float, inner: float) -> float:
    G = feasible.gradient()
    inside = _inside(objective, G)
    conjugates = partial(_sum_of_conjugates, objective, scores, feasible)
    if objective.ridge.strength == 0:
        # The penalty's conjugate is zero inside the ball of the gauge; and where G does not reach its edge, a multiple
        # above 1 is better, if the losses allow it.
        found = -conjugates(inside)
        return found if np.isfinite(found) or inside <= 1 else -conjugates(1.0)
    penalty = objective.penalty.conjugate_along(-G)
    factor = _best_factor(min(inside, 1.0), inner, loss, penalty)
    return -conjugates(factor) - penalty(factor)


def _inside(objective: Objective, G: Doubles) -> float:
    """The factor up to 2 that brings G to the edge of the ball of the gauge, or as near as that; 1 without a gauge."""
    polar = objective.gauge.polar(G) if objective.gauge else 0.0
    return min(2.0, objective.gauge.strength / polar) if objective.gauge and polar > 0 else 1.0


def _best_factor(inside: float, inner: float, loss: float, penalty: Callable[[float], float]) -> float:
    """A ridge lets Q be outside the ball: about the best factor from `inside` to 1, or 0.

    The sum of p_i L*(t Q_i / p_i) is about inner - loss + inner (t - 1) + loss (t - 1)^2, exact at 0 and next to 1.
    """
    factors = [0.0, *(1 - (1 - inside) * _SHARES)]
    return float(min(factors, key=lambda t: t * inner + loss * (1 - t) ** 2 + penalty(t)))


def _sum_of_conjugates(objective: Objective, scores: Source, feasible: Feasible, t: float) -> float:
    """sum_i p_i L*(t Q_i / p_i)."""
    total = 0.0
    for part in objective.parts():
        work = partial(_conjugates, objective, feasible, t, scores(part), part.start)
        total += sum(in_order(work, objective.rows.chunks(part)))
    return total


def _conjugates(objective: Objective, feasible: Feasible, t: float, S: Floats, start: int, chunk: slice) -> float:
    """sum_i p_i L*(t Q_i / p_i) over a chunk of rows."""
    rows = objective.rows
    p, y = rows.p[chunk], rows.y[chunk]
    counts = p > 0
    R = feasible.rows(rows.loss.value_and_gradient(S[chunk.start - start : chunk.stop - start], y)[1], y)
    return float(p[counts] @ rows.loss.conjugate(R[counts] * R.dtype.type(t), y[counts]))
