"""Certificate: how far from the optimum a point can be, proved by a point of the dual problem.

With Q = the gradient of the mean loss by the scores, the dual is -sum_i p_i L*(Q_i / p_i) - penalty*(-X'Q), and the
free b demands that the columns of Q add up to zero.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._blas import in_order
from manyclass.data.tiles import Floats
from manyclass.solvers.baseline import Baseline
from manyclass.solvers.objective import Objective, Slope, Source
from manyclass.solvers.points import Point

Doubles = NDArray[np.float64]


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


def certify(objective: Objective, point: Point, base: Baseline, penalty: float | None = None) -> Certificate:
    """The certificate of a point, for two products with X; `penalty` is its penalty where that is known already."""
    scores = point.scores(objective)
    slope = objective.slope(scores)
    W = point.whole()
    value = slope.loss + (objective.penalty.value(W) if penalty is None else penalty)
    smooth = slope.W + objective.ridge.gradient(W).astype(slope.W.dtype) if objective.ridge.strength else slope.W
    excess = objective.gauge.polar(smooth) - objective.gauge.strength if objective.gauge else 0.0
    return Certificate(value, _bound(objective, scores, slope, base), excess, smooth, slope.b)


def solved(gap: float, value: float, base: Baseline, tolerance: float, dtype: Any) -> bool:
    """Whether the gap at a point of this value is at most `tolerance` of the value, and of what W gains over zero.

    The latter, as near W = 0 any point has a gap that is small against the objective. What W can gain is at most the
    gain that is seen, plus the gap. No gap is asked to be smaller than the rounding of the loss at zero.
    """
    rounding = 4 * float(np.finfo(dtype).eps) * abs(base.loss)
    return gap <= max(tolerance * scale(value - gap, base), rounding)


def scale(value: float, base: Baseline) -> float:
    """The smaller of the objective and its gain over W = 0, against which gaps are measured."""
    return min(abs(value), max(0.0, base.loss - value))


def _bound(objective: Objective, scores: Source, slope: Slope, base: Baseline) -> float:
    """The dual at the best of a few multiples of Q, made feasible."""
    if objective.gauge is None and objective.ridge.strength == 0:
        return -np.inf
    mixture = _Mixture(objective, slope.b, base)
    G = mixture.gradient(slope.W.astype(np.float64))
    factors = _factors(objective, G)
    conjugates = np.zeros(len(factors))
    for part in objective.parts():
        work = partial(_conjugates, mixture, factors, scores(part), part.start)
        for sums in in_order(work, objective.rows.chunks(part)):
            conjugates += sums
    return max(-float(c) - _penalty(objective, -t * G) for c, t in zip(conjugates, factors, strict=True))


def _factors(objective: Objective, G: Doubles) -> list[float]:
    """What to multiply Q by: what brings it into the ball of the gauge, and where a ridge lets Q be outside, more."""
    inside = 1.0
    if objective.gauge:
        polar = objective.gauge.polar(G)
        inside = min(1.0, objective.gauge.strength / polar) if polar > 0 else 1.0
    return sorted({inside, (1 + inside) / 2, 1.0}) if objective.ridge.strength else [inside]


def _penalty(objective: Objective, G: Doubles) -> float:
    # Without a ridge it is zero inside the ball of the gauge, into which G has just been scaled.
    return objective.penalty.conjugate(G) if objective.ridge.strength else 0.0


def _conjugates(mixture: "_Mixture", factors: list[float], S: Floats, start: int, chunk: slice) -> Doubles:
    """sum_i p_i L*(t Q_i / p_i) over a chunk of rows, for each factor t."""
    rows = mixture.objective.rows
    p, y = rows.p[chunk], rows.y[chunk]
    counts = p > 0
    R = mixture.rows(rows.loss.value_and_gradient(S[chunk.start - start : chunk.stop - start], y)[1], y)
    values = [rows.loss.conjugate(R[counts] * R.dtype.type(t), y[counts]) for t in factors]
    return np.array([float(p[counts] @ v) for v in values])


class _Mixture:
    """Q with columns that add up to zero: (1 - share) (Q - p sums') + share Q0, with Q0 that of W = 0.

    Without its sums an entry of class c may leave the domain of the conjugate, by as much as that sum; Q0 is inside by
    about the share of c among the rows.
    """

    def __init__(self, objective: Objective, sums: Doubles, base: Baseline):
        self.objective = objective
        self.base = base
        self.sums = sums
        over, shares = np.abs(sums), objective.rows.shares()
        inside = shares > 0
        self.share = float((over[inside] / (over[inside] + shares[inside])).max(initial=0.0))

    def gradient(self, G: Doubles) -> Doubles:
        """X' of the mixture, from G = X' Q."""
        if not self.sums.any():
            return G
        mean = self.objective.rmatmat(self.objective.rows.p[:, None]).astype(np.float64)
        return np.asarray((1 - self.share) * (G - mean * self.sums) + self.share * self.base.gradient)

    def rows(self, R: Floats, y: NDArray[np.intp]) -> Floats:
        """Q_i / p_i of the mixture, from R_i = Q_i / p_i, for rows of these classes."""
        if not self.sums.any():
            return R
        S = np.tile(self.base.b.astype(R.dtype), (len(R), 1))
        R0 = self.objective.rows.loss.value_and_gradient(S, y)[1]
        return ((1 - self.share) * (R - self.sums) + self.share * R0).astype(R.dtype)
