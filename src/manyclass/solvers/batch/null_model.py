"""The null model: the best that W = 0 can do, and the gradient there, by which it is or is not the optimum."""

from dataclasses import dataclass

import numpy as np

from manyclass._core.parallel import one_blas_thread
from manyclass._core.typing import Doubles, Floats
from manyclass.solvers.batch.lbfgs import LbfgsStep, lbfgs
from manyclass.solvers.problem import Objective
from manyclass.solvers.weighted_loss import WeightedLoss

# Measured, classes of sizes that fall like 1 / c: 10 of them take at most 24 steps; 1,000 take all, and of these the
# second hundred lowers the loss by at most 3e-7 and leaves a gradient of 1e-8 to 1e-7.
_MAX_STEPS = 200


@dataclass(frozen=True)
class NullModel:
    """b (k,) that is best for W = 0, the mean loss with it, its gradients there, and X's mean row (d,).

    The gradient by W (d, k) is that of all scores; that by b (k,) is zero but for rounding, or without an intercept.

    `center` is the row whose scores a free b can keep while W moves: the mean row, or zero without an intercept.
    `dual_point` is X'Q (d, k) for Q_i = p_i (fractions - e_y), with the fraction of the rows in each class: a point of
    the dual problem for any loss, and well inside. `worst` is the objective that a solver has to gain on, where that is
    another than the loss: at the center of a ridge.
    """

    b: Doubles
    loss: float
    gradient: Floats
    gradient_b: Doubles
    mean: Doubles
    center: Doubles
    dual_point: Doubles
    worst: float | None = None


def fit_null_model(objective: Objective) -> NullModel:
    """Find the best b for W = 0, and the gradient there.

    Without W all rows of a class have the same scores, so one pass that adds up each class is enough.

    Parameters
    ----------
    objective : Objective
        The objective; its penalty does not matter.

    Returns
    -------
    NullModel
        The best b, the mean loss with it, its gradient by W, and the mean row of X.
    """
    sums = objective.sums.class_sums().T
    classes = WeightedLoss(objective.rows.loss, np.arange(objective.k), objective.rows.class_fractions, objective.k)
    with one_blas_thread():
        b, loss = _best_intercept(classes, objective.fit_intercept)
        R = _gradients(classes, b)
        gradient = (sums @ R).astype(objective.dtype)
        gradient_b = classes.class_fractions @ R if objective.fit_intercept else np.zeros(objective.k)
    mean = sums.sum(axis=1)
    center = mean if objective.fit_intercept else np.zeros_like(mean)
    dual_point = np.outer(mean, objective.rows.class_fractions) - sums
    return NullModel(b, loss, gradient, gradient_b, mean, center, dual_point)


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
        raise ValueError(f"alpha_max needs a penalty with a gauge, such as the trace norm; got {objective.penalty}")
    return objective.gauge.polar(fit_null_model(objective).gradient)


def _best_intercept(classes: WeightedLoss, fit_intercept: bool) -> tuple[Doubles, float]:
    b = np.zeros(classes.k)
    if not fit_intercept:
        return b, classes.at_intercept(b)[0]
    best = LbfgsStep(b, np.inf, b)
    for count, step in enumerate(lbfgs(classes.at_intercept, b, length=1.0, slack=1e-15)):
        best = step
        if count >= _MAX_STEPS or np.abs(step.gradient).max() <= 1e-13:
            break
    return best.x, best.value


def _gradients(classes: WeightedLoss, b: Doubles) -> Doubles:
    """dL(b, c) for each class c (k, k)."""
    return classes.loss.value_and_gradient(np.tile(b, (classes.k, 1)), classes.y)[1].astype(np.float64, copy=False)
