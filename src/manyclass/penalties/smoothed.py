"""Smooth penalties of W (d, k): the trace norm with its corner at zero rounded off, and half the square of all entries.

Each has `value_and_gradient(W)` and the conjugate p*(M) = sup over W of <M, W> - p(W), with which a solver proves how
far it is from the optimum. `shrink(M)` brings M to where the conjugate is finite.
"""

from abc import ABC, abstractmethod

import numpy as np

from manyclass._core.typing import Floats


class SmoothPenalty(ABC):
    """What solvers of smooth problems require of a penalty p(W) of weights W (d, k)."""

    @abstractmethod
    def value_and_gradient(self, W: Floats) -> tuple[float, Floats]:
        """Evaluate the penalty and its gradient.

        Parameters
        ----------
        W : ndarray of shape (d, k)
            Weights.

        Returns
        -------
        value : float
            The penalty p(W).
        gradient : ndarray of shape (d, k)
            Its gradient.
        """

    @abstractmethod
    def conjugate(self, M: Floats) -> float:
        """Evaluate the convex conjugate ``p*(M) = sup_W <M, W> - p(W)``.

        Parameters
        ----------
        M : ndarray of shape (d, k)
            A gradient that `shrink` would leave as it is.

        Returns
        -------
        float
            The conjugate.
        """

    @abstractmethod
    def shrink(self, M: Floats) -> float:
        """Find the largest c <= 1 at which the conjugate of c M is finite.

        Parameters
        ----------
        M : ndarray of shape (d, k)
            A gradient.

        Returns
        -------
        float
            The factor c.
        """


class SmoothedTraceNorm(SmoothPenalty):
    """The trace norm with its corner at zero rounded off (Amit et al., ICML 2007, Eq. 12).

    The penalty is ``sum_i g(s_i)`` over the singular values of W, with ``g(s) = s^2 / (2 r) + r / 2`` up to r and s
    beyond. It is above the trace norm by at most ``r min(d, k) / 2``. The gradient is ``W V diag(1 / max(s, r)) V'``,
    which divides by nothing smaller than r, and takes the eigenvectors V of the smaller of W'W and WW' only.

    Parameters
    ----------
    smoothing : float
        The number r.

    Examples
    --------
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
        """Evaluate g for every singular value.

        Parameters
        ----------
        s : ndarray of shape (r,)
            Singular values.

        Returns
        -------
        ndarray of shape (r,)
            The penalty of each.
        """
        r = self.smoothing
        return np.where(s <= r, s**2 / (2 * r) + r / 2, s)

    def conjugate(self, M: Floats) -> float:
        # g*(t) = r (t^2 - 1) / 2 for |t| <= 1, and the squares of singular values add up to those of the entries.
        return float(self.smoothing / 2 * (np.vdot(M, M) - min(M.shape)))

    def shrink(self, M: Floats) -> float:
        largest = np.linalg.eigvalsh(M @ M.T if M.shape[0] < M.shape[1] else M.T @ M)[-1]
        return float(1 / np.sqrt(max(1.0, largest)))


class HalfSquare(SmoothPenalty):
    """Half the squared Frobenius norm, ``|W|_F^2 / 2``.

    Examples
    --------
    >>> HalfSquare().value_and_gradient(np.array([[3.0, 4.0]]))[0]
    12.5
    """

    def value_and_gradient(self, W: Floats) -> tuple[float, Floats]:
        return float(np.vdot(W, W) / 2), W

    def conjugate(self, M: Floats) -> float:
        return float(np.vdot(M, M) / 2)

    def shrink(self, M: Floats) -> float:
        return 1.0
