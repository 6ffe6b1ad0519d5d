"""Baseline: the best that W = 0 can do, and the gradient there, which says from what strength on it is the best.

The best b for a W that stays as it is: the gradient by b must vanish for a dual point to prove anything.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from manyclass._core.parallel import one_blas_thread, thread_map
from manyclass._core.typing import Doubles, Floats
from manyclass.solvers.batch import lbfgs
from manyclass.solvers.batch.lbfgs import Pairs, inverse_hessian_times
from manyclass.solvers.batch.points import LowRankWeights, tall_matmul
from manyclass.solvers.problem import Objective, Source, WeightedLoss

_MAX_STEPS = 200


@dataclass(frozen=True)
class NullModel:
    """b (k,) that is best for W = 0, the mean loss with it, its gradient by W there (d, k), and X's mean row (d,).

    `dual_point` is X'Q (d, k) for Q_i = p_i (fractions - e_y), with the fraction of the rows in each class: a point of
    the dual problem for any loss, and well inside.
    """

    b: Doubles
    loss: float
    gradient: Floats
    mean: Doubles
    dual_point: Doubles

    def center(self, objective: Objective) -> Doubles:
        """The row whose scores a free b can keep while W moves (d,): the mean row, or zero without intercept."""
        return self.mean if objective.fit_intercept else np.zeros_like(self.mean)


def fit_null_model(objective: Objective) -> NullModel:
    """Without W all rows of a class have the same scores, so one pass that adds up each class is enough."""
    sums = class_sums(objective)
    classes = WeightedLoss(objective.rows.loss, np.arange(objective.k), objective.rows.class_fractions(), objective.k)
    with one_blas_thread():
        b, loss = _best_intercept(classes, objective.fit_intercept)
        R = _gradients(classes, b)
        gradient = (sums @ R).astype(objective.dtype)
    mean = sums.sum(axis=1)
    return NullModel(b, loss, gradient, mean, np.outer(mean, objective.rows.class_fractions()) - sums)


def alpha_max(objective: Objective) -> float:
    """Compute the least strength of the gauge at which W = 0 is the optimum.

    Parameters
    ----------
    objective : Objective
        The objective; the strength that its gauge has does not matter.

    Returns
    -------
    float
        The polar of the gradient at W = 0.
    """
    if objective.gauge is None:
        raise ValueError(f"the penalty must hold a gauge to have a largest useful strength; got {objective.penalty}")
    return objective.gauge.polar(fit_null_model(objective).gradient)


def class_sums(objective: Objective) -> Doubles:
    """sum_i p_i X_i over the rows of each class (d, k)."""
    from scipy.sparse import csr_matrix

    y, p = objective.rows.y, objective.rows.p
    total = np.zeros((objective.k, objective.d))
    for start, X in objective.X.blocks():
        rows = slice(start, start + len(X))
        one_hot = csr_matrix((p[rows], (y[rows], np.arange(len(X)))), (objective.k, len(X)))
        total += one_hot @ X.astype(np.float64)
    objective.passes += 1
    return total.T


def _best_intercept(classes: WeightedLoss, fit_intercept: bool) -> tuple[Doubles, float]:
    def function(b: Doubles) -> tuple[float, Doubles]:
        parts = list(thread_map(lambda c: _value(classes, b, c), classes.chunks(slice(0, classes.k))))
        return sum(loss for loss, _ in parts), np.sum([g for _, g in parts], axis=0)

    b = np.zeros(classes.k)
    if not fit_intercept:
        return b, function(b)[0]
    best = lbfgs.LbfgsStep(b, np.inf, b)
    for count, step in enumerate(lbfgs.lbfgs(function, b, length=1.0, slack=1e-15)):
        best = step
        if count >= _MAX_STEPS or np.abs(step.gradient).max() <= 1e-13:
            break
    return best.x, best.value


def _value(classes: WeightedLoss, b: Doubles, rows: slice) -> tuple[float, Doubles]:
    loss, R = classes.at(np.tile(b, (rows.stop - rows.start, 1)), rows)
    return loss, R.sum(axis=0)


def _gradients(classes: WeightedLoss, b: Doubles) -> Doubles:
    """dL(b, c) for each class c (k, k)."""
    return classes.loss.value_and_gradient(np.tile(b, (classes.k, 1)), classes.y)[1].astype(np.float64, copy=False)


_MAX_EVALUATIONS = 12  # evaluations

_FIRST_STEP = 0.01  # of a first step


def refit_intercept(
    objective: Objective, point: LowRankWeights, Z: Floats, tolerance: float
) -> tuple[LowRankWeights, Source]:
    """The same W with a b near its best, and its scores.

    No class has a gradient above `tolerance` of its fraction of the rows. Z is X A (n, r): no product with X is
    needed.
    """
    loss = _InterceptLoss(objective, point, Z)
    if objective.fit_intercept:
        point = LowRankWeights(point.A, point.B, loss.best(point.b, tolerance))
    return point, partial(loss.scores, point.b.astype(objective.dtype))


def known_scores(objective: Objective, point: LowRankWeights, Z: Floats) -> Source:
    """The scores of a point whose Z = X A (n, r) is known, without a product with X."""
    return partial(_InterceptLoss(objective, point, Z).scores, point.b.astype(objective.dtype))


class _InterceptLoss:
    """The mean loss by b, in units that are the longer the fewer rows a class has."""

    def __init__(self, objective: Objective, point: LowRankWeights, Z: Floats):
        self.rows, self.n = objective.rows, objective.n
        self.Z, self.right = Z, np.ascontiguousarray(point.B.T, objective.dtype)
        self.S = tall_matmul(Z, self.right) if objective.keeps_scores() else None
        self.units = 1 / np.sqrt(np.maximum(objective.rows.class_fractions(), 1e-12))

    def best(self, b: Doubles, tolerance: float) -> Doubles:
        """From b on, the b of smallest gradient against the fractions, or the first for which that is small enough.

        Steps of L-BFGS that nothing searches along: values no longer tell which of two points is better here.
        """
        x, found, pairs = b / self.units, (np.inf, b / self.units), Pairs(maxlen=_MAX_EVALUATIONS)
        last: tuple[Doubles, Doubles] | None = None
        for _ in range(_MAX_EVALUATIONS):
            g = self.gradient(x)
            found = min(found, (float(np.abs(g * self.units).max()), x), key=lambda pair: pair[0])
            if found[0] <= tolerance:
                break
            if last is not None and (x - last[0]) @ (g - last[1]) > 0:
                pairs.append((x - last[0], g - last[1]))
            last = x, g
            x = x - (inverse_hessian_times(pairs, g) if pairs else g * (_FIRST_STEP / float(np.linalg.norm(g))))
        return found[1] * self.units

    def scores(self, b: Floats, rows: slice) -> Floats:
        """X A B' + b of some rows."""
        return (tall_matmul(self.Z[rows], self.right) if self.S is None else self.S[rows]) + b

    def gradient(self, x: Doubles) -> Doubles:
        """By x = b / units (k,)."""
        b = (x * self.units).astype(self.Z.dtype)
        parts = thread_map(partial(self._part, b), self.rows.chunks(slice(0, self.n)))
        return np.asarray(sum(parts) * self.units)

    def _part(self, b: Floats, rows: slice) -> Doubles:
        S = (self.Z[rows] @ self.right if self.S is None else self.S[rows]) + b
        self.rows.in_place(S, rows)
        return np.asarray(S.sum(axis=0, dtype=np.float64))
