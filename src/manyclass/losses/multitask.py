"""TaskHinge: many binary tasks side by side, each with a hinge of its own, made smooth."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.typing import Floats


class TaskHinge:
    """A smoothed hinge for each of t binary tasks, added up.

    ``L(s, y) = sum_j log(1 + exp(a (1 - y_j s_j))) / a``, with a the sharpness and ``y_j`` either +1 or -1, or 0 for an
    answer that is not known, which costs nothing.

    Parameters
    ----------
    sharpness : float, default=20.0
        The number a; the larger, the closer to the hinge.

    Examples
    --------
    >>> TaskHinge(1000.0).value_and_gradient(np.array([[0.5, -1.0, 7.0]]), np.array([[1, 1, 0]]))[0].round(6)
    array([2.5])
    """

    def __init__(self, sharpness: float = 20.0):
        self.sharpness = sharpness

    def value_and_gradient(self, S: Floats, Y: NDArray[Any]) -> tuple[NDArray[np.float64], Floats]:
        """Evaluate the loss and its gradient for every row.

        Parameters
        ----------
        S : ndarray of shape (n, t)
            Scores.
        Y : ndarray of shape (n, t)
            Answers: +1, -1, or 0 where they are not known.

        Returns
        -------
        values : ndarray of float64 of shape (n,)
            The loss of each row.
        R : ndarray of shape (n, t)
            The gradient with respect to S, of the dtype of S.
        """
        Z = self.sharpness * (1 - Y * S)
        # With e = exp(-|z|), never too large, the loss is max(z, 0) + log(1 + e), the derivative 1 / (1 + e) or less.
        e = np.exp(-np.abs(Z))
        values = np.where(Y == 0, 0, np.maximum(Z, 0) + np.log1p(e)).sum(axis=1, dtype=np.float64) / self.sharpness
        return values, (-Y * np.where(Z > 0, 1, e) / (1 + e)).astype(S.dtype, copy=False)

    def conjugate(self, R: Floats, Y: NDArray[Any]) -> NDArray[np.float64]:
        """Evaluate the convex conjugate ``sup_s r's - L(s, y)`` for every row.

        Parameters
        ----------
        R : ndarray of shape (n, t)
            Gradients, or gradients multiplied by a number from 0 to 1.
        Y : ndarray of shape (n, t)
            Answers: +1, -1, or 0 where they are not known.

        Returns
        -------
        ndarray of float64 of shape (n,)
            The conjugate of each row.
        """
        Q = np.clip(-R.astype(np.float64) * Y, 0, 1)
        tiny = np.finfo(np.float64).tiny
        entropy = Q * np.log(np.maximum(Q, tiny)) + (1 - Q) * np.log(np.maximum(1 - Q, tiny))
        found: NDArray[np.float64] = (entropy / self.sharpness - Q).sum(axis=1)
        return found
