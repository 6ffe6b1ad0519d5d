"""Softmax: minus the logarithm of the probability of the right class."""

import numpy as np
from numpy.typing import NDArray

from manyclass.losses.score_loss import Floats, Labels, ScoreLoss, rounding


class Softmax(ScoreLoss):
    """L(s, y) = log(sum_c exp(s_c)) - s_y, the multinomial logistic loss.

    >>> values, R = Softmax().value_and_gradient(np.log([[3.0, 1.0]]), np.array([0]))
    >>> R
    array([[-0.25,  0.25]])
    """

    name = "softmax"
    curvature = 0.5

    def probabilities(self, S: Floats) -> Floats:
        """exp(s_c) / sum exp(s), row by row (n, k)."""
        P: Floats = S - S.max(axis=1, keepdims=True)
        np.exp(P, out=P)
        P /= P.sum(axis=1, keepdims=True)
        return P

    def value_and_gradient(self, S: Floats, y: Labels) -> tuple[NDArray[np.float64], Floats]:
        R = S.copy()
        return log_loss_in_place(R, y), R

    def conjugate(self, R: Floats, y: Labels) -> NDArray[np.float64]:
        return negative_entropy(R, y)


def log_loss_in_place(U: Floats, y: Labels) -> NDArray[np.float64]:
    """The softmax loss of each row of U (n, k), which is overwritten by the gradient."""
    rows = np.arange(len(U))
    top = U.max(axis=1)
    behind = U[rows, y].astype(np.float64) - top
    U -= top[:, None]
    np.exp(U, out=U)
    total = U.sum(axis=1, dtype=np.float64)
    U /= total[:, None].astype(U.dtype)
    U[rows, y] -= 1
    return np.asarray(np.log(total) - behind)


def negative_entropy(R: Floats, y: Labels) -> NDArray[np.float64]:
    """sum_c p_c log(p_c) with p = r + e_y, the conjugate of the softmax loss; inf where p is no distribution."""
    P = R.astype(np.float64)
    P[np.arange(len(R)), y] += 1
    slack = rounding(R)
    inside = (P.min(axis=1) >= -slack) & (np.abs(P.sum(axis=1) - 1) <= slack)
    logs = np.log(np.maximum(P, np.finfo(np.float64).tiny))
    return np.where(inside, np.einsum("nk,nk->n", np.maximum(P, 0, out=P), logs), np.inf)
