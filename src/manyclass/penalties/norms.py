"""Gauges, penalties made of atoms: trace norm, L1 norm, group norm; and penalties as names and strengths."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyclass._core.algebra import singular
from manyclass._core.typing import Floats
from manyclass.penalties.penalty import Gauge, Penalty, as_weights, squares
from manyclass.penalties.ridge import Ridge


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
        return float(singular.singular_values(as_weights(W)).sum())

    def polar(self, G: ArrayLike) -> float:
        return singular.top_singular_value(as_weights(G))

    def atom(self, G: ArrayLike) -> tuple[Floats, Floats]:
        G = as_weights(G)
        u, _, v = singular.top_singular_triple(G)
        return u.astype(G.dtype), v.astype(G.dtype)

    def atoms(self, W: ArrayLike) -> tuple[Floats, Floats, NDArray[np.float64]]:
        W = as_weights(W)
        U, s, V = singular.singular_triples(W)
        return U.astype(W.dtype), V.astype(W.dtype), s

    def prox(self, W: ArrayLike, step: float) -> Floats:
        return self.prox_and_value(W, step)[0]

    def prox_and_value(self, W: ArrayLike, step: float) -> tuple[Floats, float]:
        W = as_weights(W)
        V, s = singular.shrink_singular_values(W, self.strength * float(step))
        return V.astype(W.dtype), self.strength * float(s.sum())

    def squared_distance_to_polar_ball(self, G: ArrayLike) -> Callable[[float], float]:
        s = singular.singular_values_above(as_weights(G), self.strength)
        return lambda t: float(np.sum(np.maximum(t * s - self.strength, 0) ** 2))


PENALTIES: dict[str, Any] = {"GroupNorm": GroupNorm, "L1Norm": L1Norm, "Ridge": Ridge, "TraceNorm": TraceNorm}


def check_penalty(penalty: Any) -> Penalty:
    """The penalty, if it is one."""
    if not isinstance(penalty, Penalty):
        raise ValueError(
            f"penalty must be a Penalty, such as TraceNorm(1e-3) + Ridge(1e-5); got {type(penalty).__name__}"
        )
    return penalty


def describe_penalty(penalty: Penalty) -> dict[str, Any]:
    """Strengths by name; of a ridge with a center, both.

    >>> describe_penalty(TraceNorm(0.5) + Ridge(0.25))
    {'TraceNorm': 0.5, 'Ridge': 0.25}
    """
    gauge, ridge = penalty.parts()
    parts: list[Gauge | Ridge] = [ridge] if gauge is None else [gauge, ridge] if ridge.strength else [gauge]
    for part in parts:
        if PENALTIES.get(type(part).__name__) is not type(part):
            raise TypeError(f"a penalty must be made of {', '.join(PENALTIES)} to be saved; got {penalty}")
    found: dict[str, Any] = {type(part).__name__: part.strength for part in parts}
    return found if ridge.center is None else found | {"Ridge": {"strength": ridge.strength, "center": ridge.center}}


def penalty_from_description(strengths: dict[str, Any]) -> Penalty:
    """The penalty that was described so."""
    parts: list[Penalty] = [
        PENALTIES[name](**given) if isinstance(given, dict) else PENALTIES[name](given)
        for name, given in strengths.items()
    ]
    return reduce(add, parts)
