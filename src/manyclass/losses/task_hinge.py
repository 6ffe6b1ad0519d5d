"""TaskHinge: many binary tasks side by side, each with a hinge of its own, made smooth."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]


class TaskHinge:
    """L(s, y) = sum over tasks of log(1 + exp(a (1 - y s))) / a, with a the sharpness; y is +1, -1, or 0 for unknown.

    A task whose answer is not known costs nothing. Rows stand side by side: S and Y are (n, t).

    >>> TaskHinge(1000.0).value_and_gradient(np.array([[0.5, -1.0, 7.0]]), np.array([[1, 1, 0]]))[0].round(6)
    array([2.5])
    """

    def __init__(self, sharpness: float = 20.0):
        self.sharpness = sharpness

    def value_and_gradient(self, S: Floats, Y: NDArray[Any]) -> tuple[NDArray[np.float64], Floats]:
        """L of each row (n,), in float64, and its gradient by the scores (n, t)."""
        Z = self.sharpness * (1 - Y * S)
        # With e = exp(-|z|), which never overflows, the loss is max(z, 0) + log(1 + e), the slope 1 / (1 + e) or less.
        e = np.exp(-np.abs(Z))
        values = np.where(Y == 0, 0, np.maximum(Z, 0) + np.log1p(e)).sum(axis=1, dtype=np.float64) / self.sharpness
        return values, (-Y * np.where(Z > 0, 1, e) / (1 + e)).astype(S.dtype, copy=False)

    def conjugate(self, R: Floats, Y: NDArray[Any]) -> NDArray[np.float64]:
        """sup over s of r's - L(s, y) (n,), for the gradients R and whatever lies between them and 0."""
        Q = np.clip(-R.astype(np.float64) * Y, 0, 1)
        tiny = np.finfo(np.float64).tiny
        entropy = Q * np.log(np.maximum(Q, tiny)) + (1 - Q) * np.log(np.maximum(1 - Q, tiny))
        found: NDArray[np.float64] = (entropy / self.sharpness - Q).sum(axis=1)
        return found
