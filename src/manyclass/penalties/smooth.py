"""Smooth penalties of W (d, k): the trace norm with its corner at zero rounded off, and half the square of all entries.

Each has `value_and_gradient(W)` and the conjugate p*(M) = sup over W of <M, W> - p(W), with which a solver proves how
far it is from the optimum. `shrink(M)` brings M to where the conjugate is finite.
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]


class SmoothPenalty(Protocol):
    """What a solver of smooth problems asks of a penalty."""

    def value_and_gradient(self, W: Floats) -> tuple[float, Floats]:
        """p(W) and its gradient (d, k)."""

    def conjugate(self, M: Floats) -> float:
        """p*(M), for an M that `shrink` would leave as it is."""

    def shrink(self, M: Floats) -> float:
        """The largest c <= 1 at which p*(c M) is finite."""


class SmoothedTraceNorm:
    """sum_i g(s_i) over the singular values of W, with g(s) = s^2 / (2 r) + r / 2 up to r and s beyond.

    It is Eq. 12 of Amit et al. (2007), and above the trace norm by r min(d, k) / 2 at most. The gradient is
    W V diag(1 / max(s, r)) V', which divides by nothing smaller than r, and takes the eigenvectors V of the smaller of
    W'W and WW' only.

    >>> SmoothedTraceNorm(0.5).value_and_gradient(np.diag([3.0, 0.25]))[0]
    3.3125
    """

    def __init__(self, smoothing: float):
        self.smoothing = smoothing

    def value_and_gradient(self, W: Floats) -> tuple[float, Floats]:
        wide = W.shape[0] < W.shape[1]
        squares, V = np.linalg.eigh(W @ W.T if wide else W.T @ W)
        s = np.sqrt(np.maximum(squares, 0))
        H = (V / np.maximum(s, self.smoothing)) @ V.T
        return float(self.of_singular_values(s).sum()), H @ W if wide else W @ H

    def of_singular_values(self, s: Floats) -> Floats:
        """g(s), entry by entry."""
        r = self.smoothing
        return np.where(s <= r, s**2 / (2 * r) + r / 2, s)

    def conjugate(self, M: Floats) -> float:
        # g*(t) = r (t^2 - 1) / 2 for |t| <= 1, and the squares of singular values add up to those of the entries.
        return float(self.smoothing / 2 * (np.vdot(M, M) - min(M.shape)))

    def shrink(self, M: Floats) -> float:
        largest = np.linalg.eigvalsh(M @ M.T if M.shape[0] < M.shape[1] else M.T @ M)[-1]
        return float(1 / np.sqrt(max(1.0, largest)))


class HalfSquare:
    """|W|^2 / 2, over all entries."""

    def value_and_gradient(self, W: Floats) -> tuple[float, Floats]:
        return float(np.vdot(W, W) / 2), W

    def conjugate(self, M: Floats) -> float:
        return float(np.vdot(M, M) / 2)

    def shrink(self, M: Floats) -> float:
        return 1.0
