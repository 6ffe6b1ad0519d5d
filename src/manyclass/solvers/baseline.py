"""Baseline: the best that W = 0 can do, and the gradient there, which says from what strength on it is the best."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from manyclass._blas import in_order, one_thread
from manyclass.data.tiles import Floats
from manyclass.solvers import quasi_newton
from manyclass.solvers.objective import Objective, RowLosses

Doubles = NDArray[np.float64]

_STEPS = 200


@dataclass(frozen=True)
class Baseline:
    """b (k,) that is best for W = 0, the mean loss with it, its gradient by W there (d, k), and X's mean row (d,).

    `allowed` is X'Q (d, k) for Q_i = p_i (shares - e_y), with the shares of the classes among the rows: a point of the
    dual problem for any loss, and well inside.
    """

    b: Doubles
    loss: float
    gradient: Floats
    mean: Doubles
    allowed: Doubles

    def center(self, objective: Objective) -> Doubles:
        """The row whose scores a free b can keep while W moves (d,): the mean row, or zero without intercept."""
        return self.mean if objective.fit_intercept else np.zeros_like(self.mean)


def baseline(objective: Objective) -> Baseline:
    """Without W all rows of a class have the same scores, so one pass that adds up each class is enough."""
    sums = class_sums(objective)
    classes = RowLosses(objective.rows.loss, np.arange(objective.k), objective.rows.shares(), objective.k)
    with one_thread():
        b, loss = _best_intercept(classes, objective.fit_intercept)
        R = _gradients(classes, b)
        gradient = (sums @ R).astype(objective.dtype)
    mean = sums.sum(axis=1)
    return Baseline(b, loss, gradient, mean, np.outer(mean, objective.rows.shares()) - sums)


def largest_useful(objective: Objective) -> float:
    """The strength of the gauge from which on W = 0 is best."""
    if objective.gauge is None:
        raise ValueError(f"the penalty must hold a gauge to have a largest useful strength; got {objective.penalty}")
    return objective.gauge.polar(baseline(objective).gradient)


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


def _best_intercept(classes: RowLosses, fit_intercept: bool) -> tuple[Doubles, float]:
    def function(b: Doubles) -> tuple[float, Doubles]:
        parts = list(in_order(lambda c: _value(classes, b, c), classes.chunks(slice(0, classes.k))))
        return sum(loss for loss, _ in parts), np.sum([g for _, g in parts], axis=0)

    b = np.zeros(classes.k)
    if not fit_intercept:
        return b, function(b)[0]
    best = quasi_newton.Step(b, np.inf, b)
    for count, step in enumerate(quasi_newton.descend(function, b, length=1.0, slack=1e-15)):
        best = step
        if count >= _STEPS or np.abs(step.gradient).max() <= 1e-13:
            break
    return best.x, best.value


def _value(classes: RowLosses, b: Doubles, rows: slice) -> tuple[float, Doubles]:
    loss, R = classes.at(np.tile(b, (rows.stop - rows.start, 1)), rows)
    return loss, R.sum(axis=0)


def _gradients(classes: RowLosses, b: Doubles) -> Doubles:
    """dL(b, c) for each class c (k, k)."""
    return classes.loss.value_and_gradient(np.tile(b, (classes.k, 1)), classes.y)[1].astype(np.float64, copy=False)
