"""LogisticScores: one logistic regression per class against the rest, added up."""

import numpy as np
from numpy.typing import NDArray

from manyclass.losses.score_loss import Floats, Labels, ScoreLoss, rounding


class LogisticScores(ScoreLoss):
    """One logistic regression per class against the rest, added up.

    ``L(s, y) = sum_c log(1 + exp(-z_c))``, with ``z_y = s_y`` and ``z_c = -s_c`` for the other classes.

    Examples
    --------
    >>> LogisticScores().value_and_gradient(np.log([[3.0, 1.0]]), np.array([1]))[1]
    array([[ 0.75, -0.5 ]])
    """

    name = "logistic"
    curvature = 0.25

    def value_and_gradient(self, S: Floats, y: Labels) -> tuple[NDArray[np.float64], Floats]:
        # With t = -z: log(1 + exp(t)) = max(t, 0) + E and its derivative is exp(min(t, 0) - E), for E as below.
        R = S.copy()
        _turn(R, y)
        values = R.sum(axis=1, where=R > 0, dtype=np.float64)
        E = np.abs(R)
        np.log1p(np.exp(np.negative(E, out=E), out=E), out=E)
        values += E.sum(axis=1, dtype=np.float64)
        np.minimum(R, 0, out=R)
        R -= E
        np.exp(R, out=R)
        _turn(R, y)
        return values, R

    def conjugate(self, R: Floats, y: Labels) -> NDArray[np.float64]:
        Q = R.astype(np.float64)
        _turn(Q, y)
        slack = rounding(R)
        inside = ((-slack <= Q) & (1 + slack >= Q)).all(axis=1)
        np.clip(Q, 0, 1, out=Q)
        return np.where(inside, _x_log_x(Q) + _x_log_x(1 - Q), np.inf)


def _turn(S: Floats, y: Labels) -> None:
    S[np.arange(len(S)), y] *= -1


def _x_log_x(Q: Floats) -> NDArray[np.float64]:
    return np.asarray(np.einsum("nk,nk->n", Q, np.log(np.maximum(Q, np.finfo(np.float64).tiny))))
