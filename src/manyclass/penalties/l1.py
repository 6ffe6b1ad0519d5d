"""L1Norm: few entries of W differ from zero."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyclass.penalties.arguments import Floats, as_weights
from manyclass.penalties.gauge import Gauge


class L1Norm(Gauge):
    """The sum of the absolute values of W, so that few entries differ from zero.

    The penalty is ``strength * sum_jl |W_jl|``. Atoms are ``e_j (± e_l)'``, one entry each.

    Parameters
    ----------
    strength : float
        Factor of the norm, at least 0.

    Examples
    --------
    >>> L1Norm(1.0).prox([[3.0, -0.5]], step=1.0)
    array([[ 2., -0.]])
    """

    def norm(self, W: ArrayLike) -> float:
        return float(np.abs(as_weights(W)).sum(dtype=np.float64))

    def polar(self, G: ArrayLike) -> float:
        return float(np.abs(as_weights(G)).max())

    def atom(self, G: ArrayLike) -> tuple[Floats, Floats]:
        G = as_weights(G)
        j, m = np.unravel_index(np.abs(G).argmax(), G.shape)
        u, v = np.zeros(len(G), G.dtype), np.zeros(G.shape[1], G.dtype)
        u[j], v[m] = 1, -1 if G[j, m] < 0 else 1
        return u, v

    def atoms(self, W: ArrayLike) -> tuple[Floats, Floats, NDArray[np.float64]]:
        W = as_weights(W)
        j, m = np.nonzero(W)
        U, V = np.zeros((W.shape[0], len(j)), W.dtype), np.zeros((W.shape[1], len(j)), W.dtype)
        which = np.arange(len(j))
        U[j, which], V[m, which] = 1, np.sign(W[j, m])
        return U, V, np.abs(W[j, m]).astype(np.float64)

    def prox(self, W: ArrayLike, step: float) -> Floats:
        W = as_weights(W)
        V = np.abs(W)
        V -= self.strength * float(step)
        np.maximum(V, 0, out=V)
        return np.copysign(V, W, out=V)
