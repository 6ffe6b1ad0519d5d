"""One-vs-rest support vector machines as liblinear has them by default, all classes at once."""

from typing import Any

import numpy as np

from manyclass.losses.loss import ScoreLoss, rounding


class SquaredHinges(ScoreLoss):
    """sum_c w_c max(0, 1 - z_c)^2 with z_y = s_y and w_y = weight; z_c = -s_c and w_c = 1 for the other classes.

    With a ridge of 1 / (2 C n) it is what scikit-learn's LinearSVC minimizes, n C times over, but for the bias, which
    is free here.

    >>> SquaredHinges(3.0).value_and_gradient(np.array([[0.0, -0.5, -2.0]]), np.array([0]))
    (array([3.25]), array([[-6.,  1.,  0.]]))
    """

    name = "squared_hinges"

    def __init__(self, weight: float = 1.0):
        self.weight = weight
        self.curvature = 2 * max(1.0, weight)

    def value_and_gradient(self, S: Any, y: Any) -> tuple[Any, Any]:
        rows = np.arange(len(S))
        M = S + 1  # 1 - z, of which what is above 0 counts
        M[rows, y] = 2 - M[rows, y]
        np.maximum(M, 0, out=M)
        values = np.einsum("nk,nk->n", M, M, dtype=np.float64)
        own = M[rows, y].astype(np.float64)
        values += (self.weight - 1) * own**2
        M *= 2
        M[rows, y] *= -self.weight
        return values, M

    def conjugate(self, R: Any, y: Any) -> Any:
        # Of w max(0, 1 - z)^2 it is u + u^2 / (4 w) for u <= 0, the derivative by z, which is -r but for the own class.
        rows = np.arange(len(R))
        U = -R.astype(np.float64)
        U[rows, y] *= -1
        outside = (rounding(R) < U).any(axis=1)
        np.minimum(U, 0, out=U)
        own = U[rows, y]
        values = U.sum(axis=1) + (U**2).sum(axis=1) / 4 + own**2 * (1 / self.weight - 1) / 4
        return np.where(outside, np.inf, values)
