"""Softmax: minus the logarithm of the probability of the right class."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]


class Softmax:
    """L(s, y) = log(sum_c exp(s_c)) - s_y, the multinomial logistic loss."""

    name = "softmax"

    def probabilities(self, S: Floats) -> Floats:
        """exp(s_c) / sum exp(s), row by row (n, k)."""
        P: Floats = np.exp(S - S.max(axis=1, keepdims=True))
        P /= P.sum(axis=1, keepdims=True)
        return P

    def value_and_gradient(self, S: Floats, y: NDArray[Any]) -> tuple[NDArray[np.float64], Floats]:
        """The loss of each row (n,), in float64, and its gradient by the scores (n, k)."""
        rows = np.arange(len(S))
        top = S.max(axis=1, keepdims=True)
        P = np.exp(S - top)
        total = P.sum(axis=1, dtype=np.float64)
        values = np.log(total) - (S[rows, y].astype(np.float64) - top[:, 0])
        P /= total[:, None].astype(P.dtype)
        P[rows, y] -= 1
        return values, P
