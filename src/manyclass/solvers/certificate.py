"""Certificate: how far from the optimum a point can be, proved by a point of the dual problem.

With Q = the gradient of the mean loss by the scores, the dual is -sum_i p_i L*(Q_i / p_i) - penalty*(-X'Q), and the
free b demands that the columns of Q add up to zero.
"""

from dataclasses import dataclass
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


def certify(objective: Objective, point: Point, zero: Baseline, penalty: float | None = None) -> Certificate:
    """The certificate of a point, for two products with X; `penalty` is its penalty where that is known already."""
    scores = point.scores(objective)
    slope = objective.slope(scores)
    W = point.whole()
    value = slope.loss + (objective.penalty.value(W) if penalty is None else penalty)
    smooth = slope.W + objective.ridge.gradient(W).astype(slope.W.dtype) if objective.ridge.strength else slope.W
    excess = objective.gauge.polar(smooth) - objective.gauge.strength if objective.gauge else 0.0
    return Certificate(value, _bound(objective, scores, slope, zero), excess, smooth, slope.b)


def solved(gap: float, value: float, base: Baseline, tolerance: float, dtype: Any) -> bool:
    """Whether the gap at a point of this value is at most `tolerance` of the value, and of what W gains over zero.

    The latter, as near W = 0 any point has a gap that is small against the objective. What W can gain is at most the
    gain that is seen, plus the gap. No gap is asked to be smaller than the rounding of the loss at zero.
    """
    rounding = 4 * float(np.finfo(dtype).eps) * abs(base.loss)
    scale = min(abs(value), max(0.0, base.loss - value + gap))
    return gap <= max(tolerance * scale, rounding)


def _bound(objective: Objective, scores: Source, slope: Slope, zero: Baseline) -> float:
    """The dual at the best of a few points: Q made feasible, and Q besides scaled into the ball of the gauge."""
    if objective.gauge is None and objective.ridge.strength == 0:
        return -np.inf
    mixing = _mixing(objective, slope, zero)
    G = slope.W
    if mixing is not None:
        share, sums = mixing
        weighted = objective.rmatmat(objective.rows.p[:, None]).astype(np.float64)
        G = (1 - share) * (G - weighted * sums) + share * zero.gradient
    G = G.astype(np.float64)
    factors = _factors(objective, G)
    conjugates = _conjugates(objective, scores, factors, mixing, zero)
    return float(max(-c - _penalty_conjugate(objective, -t * G) for c, t in zip(conjugates, factors, strict=True)))


def _penalty_conjugate(objective: Objective, G: Doubles) -> float:
    # Without a ridge it is zero inside the ball of the gauge, into which G has just been scaled.
    return objective.penalty.conjugate(G) if objective.ridge.strength else 0.0


def _factors(objective: Objective, G: Doubles) -> list[float]:
    """What to multiply Q by: 1 where a ridge lets any Q be, and what brings it into the ball of the gauge."""
    inside = 1.0
    if objective.gauge:
        polar = objective.gauge.polar(G)
        inside = min(1.0, objective.gauge.strength / polar) if polar > 0 else 1.0
    return sorted({inside, (1 + inside) / 2, 1.0}) if objective.ridge.strength else [inside]


def _mixing(objective: Objective, slope: Slope, zero: Baseline) -> tuple[float, Doubles] | None:
    """(share, sums): Q - p sums' has columns that add up to zero, and a share of Q at W = 0 keeps it in the domain.

    An entry of class c may leave the domain by as much as its sum, and the Q of W = 0 is inside by about the share of
    that class among the rows.
    """
    if not objective.fit_intercept or not slope.b.any():
        return None
    shares = np.bincount(objective.rows.y, objective.rows.p, objective.k)
    over = np.abs(slope.b)
    held = shares > 0
    share = float((over[held] / (over[held] + shares[held])).max(initial=0.0))
    return min(1.0, share), slope.b


def _conjugates(
    objective: Objective,
    scores: Source,
    factors: list[float],
    mixing: tuple[float, Doubles] | None,
    zero: Baseline,
) -> Doubles:
    """sum_i p_i L*(t Q_i / p_i) for each factor t."""
    rows, total = objective.rows, np.zeros(len(factors))
    b = zero.b.astype(objective.dtype)

    def work(S: Floats, start: int, chunk: slice) -> Doubles:
        R = rows.loss.value_and_gradient(S[chunk.start - start : chunk.stop - start], rows.y[chunk])[1]
        if mixing is not None:
            share, sums = mixing
            base = rows.loss.value_and_gradient(np.tile(b, (len(R), 1)), rows.y[chunk])[1]
            R = ((1 - share) * (R - sums) + share * base).astype(R.dtype)
        p = rows.p[chunk]
        return np.array([_weighted(p, rows.loss.conjugate(t * R, rows.y[chunk])) for t in factors])

    for part in objective.parts():
        S = scores(part)
        for sums in in_order(lambda c, S=S, start=part.start: work(S, start, c), rows.chunks(part)):
            total += sums
    return total


def _weighted(p: Doubles, values: Doubles) -> float:
    return float(p[p > 0] @ values[p > 0])
