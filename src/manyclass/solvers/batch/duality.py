"""The duality gap: how far from the optimum a point can be, proved by a point of the dual problem.

With Q = the gradient of the mean loss by the scores, the dual is -sum_i p_i L*(Q_i / p_i) - penalty*(-X'Q), and the
free b demands that the columns of Q add up to zero: Q is changed a little so that they do.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from manyclass._core.typing import Doubles, Floats, Labels
from manyclass.solvers.batch.null_model import NullModel
from manyclass.solvers.batch.points import Weights
from manyclass.solvers.problem import Objective
from manyclass.solvers.row_sums import DualRows, LossGradient, Scores


class DualFeasible(Protocol):
    """Q' near Q = p R, whose columns add up to zero."""

    def gradient(self) -> Doubles:
        """X'Q' (d, k)."""

    def rows(self) -> DualRows:
        """Q'_i / p_i, from R_i = Q_i / p_i, for rows of some classes."""


@dataclass(frozen=True)
class MixedRows:
    """(1 - t) R_i + shift (k,) - t e_y; R_i itself without a shift."""

    t: float
    shift: Doubles | None

    def __call__(self, R: Floats, y: Labels) -> Floats:
        if self.shift is None:
            return R
        mixed: Floats = R * R.dtype.type(1 - self.t)
        mixed += self.shift.astype(R.dtype)
        mixed[np.arange(len(R)), y] -= self.t
        return mixed


class MixedDual:
    """(1 - t) (Q - p sums') + t Q0, with Q0 = p (fractions - e_y)' and t the `fraction`: no more products with X.

    Without its sums an entry of class c may leave the domain of the conjugate, by as much as that sum; Q0 is inside by
    the fraction of rows of class c. The gradient at W = 0 is not, for the smoothed hinge.
    """

    def __init__(self, objective: Objective, loss_gradient: LossGradient, base: NullModel):
        self.objective, self.loss_gradient, self.base = objective, loss_gradient, base
        excess, fractions = np.abs(loss_gradient.b), objective.rows.class_fractions
        inside = fractions > 0
        self.fraction = float((excess[inside] / (excess[inside] + fractions[inside])).max(initial=0.0))

    def gradient(self) -> Doubles:
        """X'Q' (d, k)."""
        G = self.loss_gradient.W.astype(np.float64)
        if not self.loss_gradient.b.any():
            return G
        centered = G - np.outer(self.base.mean, self.loss_gradient.b)
        return np.asarray((1 - self.fraction) * centered + self.fraction * self.base.dual_point)

    def rows(self) -> MixedRows:
        """Q'_i / p_i."""
        t, fractions, sums = self.fraction, self.objective.rows.class_fractions, self.loss_gradient.b
        return MixedRows(t, t * fractions - (1 - t) * sums if sums.any() else None)


@dataclass(frozen=True)
class ScaledRows:
    """R_i times t of its class."""

    t: Doubles

    def __call__(self, R: Floats, y: Labels) -> Floats:
        return R * self.t[y][:, None].astype(R.dtype)


class ScaledDual:
    """Q_i times t of its class, with t in [0, 1]: never outside the domain, but one more product with X.

    M (k, k), the sums of Q over the rows of each class, has rows that add up to zero and no negative entry but on its
    diagonal, where the gradient of a row is a distribution less its class. So t'M = 0 has a solution t >= 0, as the
    balance of a Markov chain has.
    """

    def __init__(self, objective: Objective, scores: Scores, t: Doubles):
        self.objective, self.scores, self.t = objective, scores, t

    @classmethod
    def of(cls, objective: Objective, scores: Scores) -> "ScaledDual | None":
        """None where no t is found."""
        M = objective.sums.label_sums(scores)
        size = float(np.abs(M).max(initial=0.0))
        if not objective.fit_intercept or not np.abs(M.sum(axis=1)).max(initial=0.0) <= 1e-5 * size:
            return None
        # Adding a constant to M fixes the length of t, and makes the rest regular unless classes fall apart.
        try:
            t = np.linalg.solve(M.T - size / len(M), np.full(len(M), -size))
        except np.linalg.LinAlgError:
            return None
        good = np.isfinite(t).all() and t.min() >= 0 and t.max() > 0
        return cls(objective, scores, t / t.max()) if good else None

    def gradient(self) -> Doubles:
        """X'Q' (d, k)."""
        return self.objective.sums.dual_gradient(self.scores, self.rows())

    def rows(self) -> ScaledRows:
        """Q'_i / p_i."""
        return ScaledRows(self.t)


_FRACTIONS = np.array([0, *0.5 ** np.arange(6, -1, -1.0)])  # of the way from Q to its multiple inside the ball


@dataclass(frozen=True)
class DualityGap:
    """The objective at a point, the best lower bound on the optimum known there, and the gradient of its smooth part.

    `excess` is polar(gradient) - strength where there is a gauge: at most epsilon means epsilon-optimal by (C1).
    """

    objective: float
    bound: float
    excess: float
    gradient: Floats  # of mean loss and ridge, (d, k)
    gradient_b: Doubles

    @property
    def gap(self) -> float:
        """An upper bound on objective - optimum."""
        return max(0.0, self.objective - self.bound)


def duality_gap(
    objective: Objective,
    point: Weights,
    base: NullModel,
    penalty: float | None = None,
    scores: Scores | None = None,
    loss_gradient: LossGradient | None = None,
) -> DualityGap:
    """Bound how far a point is from the optimum, for two products with X, or none where all is known.

    The gap is F(W, b) - D(Q), with F the objective and D the dual at a feasible Q near the gradient of the mean loss by
    the scores; it is never below F(W, b) - min F.

    Parameters
    ----------
    objective : Objective
        What is minimized.
    point : Weights
        W and b.
    base : NullModel
        The objective at W = 0.
    penalty : float, default=None
        The penalty of W, where it is known.
    scores : Weights or callable, default=None
        The function that gives the scores of a slice of the rows of this process, where they are known.
    loss_gradient : LossGradient, default=None
        The mean loss and its gradients at the point, where they are known.

    Returns
    -------
    DualityGap
        The objective, the bound, and the gradient of the smooth part.
    """
    scores = point if scores is None else scores
    loss_gradient = objective.gradient(scores) if loss_gradient is None else loss_gradient
    W = point.to_dense()
    value = loss_gradient.loss + (objective.penalty.value(W) if penalty is None else penalty)
    smooth = loss_gradient.W
    if objective.ridge.strength:
        smooth = smooth + objective.ridge.gradient(W).astype(smooth.dtype)
    excess = objective.gauge.polar(smooth) - objective.gauge.strength if objective.gauge else 0.0
    inner = float(np.vdot(W, loss_gradient.W)) + float(point.b @ loss_gradient.b)
    return DualityGap(value, _bound(objective, scores, loss_gradient, base, inner), excess, smooth, loss_gradient.b)


def _bound(objective: Objective, scores: Scores, loss_gradient: LossGradient, base: NullModel, inner: float) -> float:
    """The dual at a multiple of Q, made feasible; `inner` is <S, Q> for the scores S."""
    if objective.gauge is None and objective.ridge.strength == 0:
        return -np.inf
    found = _dual(objective, scores, MixedDual(objective, loss_gradient, base), loss_gradient.loss, inner)
    if np.isfinite(found):
        return found
    scaled = ScaledDual.of(objective, scores)
    return -np.inf if scaled is None else _dual(objective, scores, scaled, loss_gradient.loss, inner)


def _dual(objective: Objective, scores: Scores, feasible: DualFeasible, loss: float, inner: float) -> float:
    G = feasible.gradient()
    inside = _inside(objective, G)
    conjugates = partial(objective.sums.conjugate_sum, scores, feasible.rows())
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
    factors = [0.0, *(1 - (1 - inside) * _FRACTIONS)]
    return float(min(factors, key=lambda t: t * inner + loss * (1 - t) ** 2 + penalty(t)))
