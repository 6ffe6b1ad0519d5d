"""SquaredScores: scores fitted to 1 for the right class and 0 for the others."""

import numpy as np
from numpy.typing import NDArray

from manyclass.losses.score_loss import Floats, Labels, ScoreLoss


class SquaredScores(ScoreLoss):
    """Half the squared distance of the scores from 1 for the right class and 0 for the others.

    ``L(s, y) = |s - e_y|^2 / 2``, with ``e_y`` the indicator of class y.

    Examples
    --------
    >>> SquaredScores().value_and_gradient(np.array([[0.0, 3.0]]), np.array([0]))
    (array([5.]), array([[-1.,  3.]]))
    """

    name = "squared"
    curvature = 1.0

    def value_and_gradient(self, S: Floats, y: Labels) -> tuple[NDArray[np.float64], Floats]:
        R = S.copy()
        R[np.arange(len(S)), y] -= 1
        return _half_squares(R), R

    def conjugate(self, R: Floats, y: Labels) -> NDArray[np.float64]:
        return _half_squares(R) + R[np.arange(len(R)), y]


def _half_squares(R: Floats) -> NDArray[np.float64]:
    return np.asarray(np.einsum("nk,nk->n", R, R, dtype=np.float64) / 2)
