"""The best b for a W whose scores are known: a duality gap is the smaller, the smaller the gradient by b is."""

import numpy as np

from manyclass._core.typing import Doubles
from manyclass.solvers.batch.lbfgs import Pairs, inverse_hessian_times
from manyclass.solvers.batch.null_model import NullModel
from manyclass.solvers.batch.solution import scale
from manyclass.solvers.problem import Objective
from manyclass.solvers.row_sums import Scores

# Gradients by b when it is fitted anew for a duality gap, at most. Measured, 1,500 x 128, 60 classes: 4, 12 and 36 take
# 163, 171 and 171 passes, and 0.16, 0.18 and 0.24 s.
_MAX_EVALUATIONS = 12

_FIRST_STEP = 0.01  # the length of its first step, before L-BFGS knows a curvature; 0.001 to 0.1 take the same passes


class InterceptLoss:
    """The mean loss by b, which is added to known scores, in units that are the longer the fewer rows a class has."""

    def __init__(self, objective: Objective, scores: Scores):
        self.sums, self.scores = objective.sums, scores
        self.units = 1 / np.sqrt(np.maximum(objective.rows.class_fractions, 1e-12))

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

    def gradient(self, x: Doubles) -> Doubles:
        """By x = b / units (k,)."""
        return self.sums.intercept_gradient(self.scores, x * self.units) * self.units


def intercept_tolerance(value: float, base: NullModel, target: float) -> float:
    """Of the fraction of a class: what its gradient may be for a duality gap of this part of the objective."""
    # What the gradient by b is, against the fractions of classes, costs a dual point that part of the loss at zero.
    return 0.1 * target * scale(value, base) / max(abs(base.loss), 1e-300)
