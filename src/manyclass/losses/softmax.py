"""Softmax: minus the logarithm of the probability of the right class."""

import numpy as np
from numpy.typing import NDArray

from manyclass import _native
from manyclass._threads import get_threads
from manyclass.losses.score_loss import Floats, Labels, ScoreLoss, Weights, rounding

_MANY = 16 << 20  # bytes of scores; fewer are the work of one thread, as often one of several that share out the rows


class Softmax(ScoreLoss):
    """The multinomial logistic loss, minus the logarithm of the probability of the right class.

    ``L(s, y) = log(sum_c exp(s_c)) - s_y``.

    Examples
    --------
    >>> values, R = Softmax().value_and_gradient(np.log([[3.0, 1.0]]), np.array([0]))
    >>> R
    array([[-0.25,  0.25]])
    """

    name = "softmax"
    curvature = 0.5

    def probabilities(self, S: Floats) -> Floats:
        """Turn scores into probabilities, ``exp(s_c) / sum_j exp(s_j)``.

        Parameters
        ----------
        S : ndarray of shape (n, k)
            Scores.

        Returns
        -------
        ndarray of shape (n, k)
            Probabilities, of the dtype of S.
        """
        P: Floats = S - S.max(axis=1, keepdims=True)
        np.exp(P, out=P)
        P /= P.sum(axis=1, keepdims=True)
        return P

    def value_and_gradient(self, S: Floats, y: Labels) -> tuple[NDArray[np.float64], Floats]:
        R = np.empty_like(S, order="C")
        return log_loss(S, y, R), R

    def in_place(self, S: Floats, y: Labels, weights: Weights | None = None) -> NDArray[np.float64]:
        return log_loss(S, y, S, weights)

    def conjugate(self, R: Floats, y: Labels) -> NDArray[np.float64]:
        return negative_entropy(R, y)


def log_loss(S: Floats, y: Labels, R: Floats, weights: Weights | None = None) -> NDArray[np.float64]:
    """The softmax loss of each row of S (n, k); R (n, k), which may be S, receives the gradient, weighted."""
    if not (S.dtype == R.dtype == np.float32 and S.flags.c_contiguous and R.flags.c_contiguous):
        return plain_log_loss(S, y, R, weights)
    values = np.empty(len(S))
    p = None if weights is None else np.ascontiguousarray(weights, np.float32)
    _native.softmax_loss(S, np.ascontiguousarray(y, np.int64), p, R, values, get_threads() if S.nbytes > _MANY else 1)
    return values


def plain_log_loss(S: Floats, y: Labels, R: Floats, weights: Weights | None = None) -> NDArray[np.float64]:
    """The same by NumPy, for any dtype and order."""
    rows = np.arange(len(S))
    top = S.max(axis=1)
    behind = S[rows, y].astype(np.float64) - top
    np.subtract(S, top[:, None], out=R)
    np.exp(R, out=R)
    total = R.sum(axis=1, dtype=np.float64)
    R /= total[:, None].astype(R.dtype)
    R[rows, y] -= 1
    if weights is not None:
        R *= weights[:, None].astype(R.dtype)
    return np.asarray(np.log(total) - behind)


def negative_entropy(R: Floats, y: Labels) -> NDArray[np.float64]:
    """sum_c p_c log(p_c) with p = r + e_y, the conjugate of the softmax loss; inf where p is no distribution."""
    P = R.astype(np.float64)
    P[np.arange(len(R)), y] += 1
    slack = rounding(R)
    inside = (P.min(axis=1) >= -slack) & (np.abs(P.sum(axis=1) - 1) <= slack)
    logs = np.log(np.maximum(P, np.finfo(np.float64).tiny))
    return np.where(inside, np.einsum("nk,nk->n", np.maximum(P, 0, out=P), logs), np.inf)
