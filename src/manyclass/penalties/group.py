"""GroupNorm: few rows of W differ from zero, so that few features serve all classes."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyclass.penalties.arguments import Floats, as_weights, squares
from manyclass.penalties.gauge import Gauge


class GroupNorm(Gauge):
    """The sum of the lengths of the rows of W, so that few features serve all classes.

    The penalty is ``strength * sum_j |W_j|_2``. Atoms are ``e_j v'`` with ``|v|_2 = 1``.

    Parameters
    ----------
    strength : float
        Factor of the norm, at least 0.

    Examples
    --------
    >>> GroupNorm(1.0).prox([[3.0, 4.0], [0.5, 0.5]], step=2.5)
    array([[1.5, 2. ],
           [0. , 0. ]])
    """

    def norm(self, W: ArrayLike) -> float:
        return float(np.sqrt(squares(as_weights(W))).sum())

    def polar(self, G: ArrayLike) -> float:
        return float(np.sqrt(squares(as_weights(G)).max()))

    def atom(self, G: ArrayLike) -> tuple[Floats, Floats]:
        G = as_weights(G)
        j = squares(G).argmax()
        u, v = np.zeros(len(G), G.dtype), G[j].copy()
        u[j] = 1
        length = float(np.sqrt(squares(v[None])[0]))
        if length == 0:
            v[0] = 1
        else:
            v /= length
        return u, v

    def atoms(self, W: ArrayLike) -> tuple[Floats, Floats, NDArray[np.float64]]:
        W = as_weights(W)
        lengths = np.sqrt(squares(W))
        held = np.flatnonzero(lengths)
        U = np.zeros((len(W), len(held)), W.dtype)
        U[held, np.arange(len(held))] = 1
        return U, (W[held].T / lengths[held]).astype(W.dtype), lengths[held]

    def prox(self, W: ArrayLike, step: float) -> Floats:
        W = as_weights(W)
        lengths, threshold = np.sqrt(squares(W)), self.strength * float(step)
        kept = np.maximum(lengths - threshold, 0) / np.where(lengths > 0, lengths, 1)
        return W * kept[:, None].astype(W.dtype)
