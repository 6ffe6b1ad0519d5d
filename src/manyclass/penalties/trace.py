"""TraceNorm: W has low rank, so that classes share few latent features."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyclass.penalties import spectrum
from manyclass.penalties.arguments import Floats, as_weights
from manyclass.penalties.gauge import Gauge


class TraceNorm(Gauge):
    """The sum of the singular values of W, so that classes share few latent features.

    Atoms are ``u v'`` with ``|u|_2 = |v|_2 = 1``.

    Parameters
    ----------
    strength : float
        Factor of the norm, at least 0.

    Examples
    --------
    >>> import numpy as np
    >>> TraceNorm(1.0).prox(np.diag([3.0, 2.0, 0.5]), step=1.0).round(12) + 0
    array([[2., 0., 0.],
           [0., 1., 0.],
           [0., 0., 0.]])
    """

    spectral = True

    def norm(self, W: ArrayLike) -> float:
        return float(spectrum.singular_values(as_weights(W)).sum())

    def polar(self, G: ArrayLike) -> float:
        return spectrum.top_value(as_weights(G))

    def atom(self, G: ArrayLike) -> tuple[Floats, Floats]:
        G = as_weights(G)
        u, _, v = spectrum.top_triple(G)
        return u.astype(G.dtype), v.astype(G.dtype)

    def atoms(self, W: ArrayLike) -> tuple[Floats, Floats, NDArray[np.float64]]:
        W = as_weights(W)
        U, s, V = spectrum.triples(W)
        return U.astype(W.dtype), V.astype(W.dtype), s

    def prox(self, W: ArrayLike, step: float) -> Floats:
        return self.prox_and_value(W, step)[0]

    def prox_and_value(self, W: ArrayLike, step: float) -> tuple[Floats, float]:
        W = as_weights(W)
        V, s = spectrum.shrink(W, self.strength * float(step))
        return V.astype(W.dtype), self.strength * float(s.sum())

    def beyond(self, G: ArrayLike) -> Callable[[float], float]:
        s = spectrum.singular_values_above(as_weights(G), self.strength)
        return lambda t: float(np.sum(np.maximum(t * s - self.strength, 0) ** 2))
