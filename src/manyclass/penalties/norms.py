"""Gauge: a penalty made of atoms.

L1Norm: few entries of W differ from zero.

GroupNorm: few rows of W differ from zero, so that few features serve all classes.

TraceNorm: W has low rank, so that classes share few latent features.

Sums of penalties: a gauge and a ridge.

Penalties as names and strengths, and back.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyclass._core import singular
from manyclass._core.checks import check_nonnegative
from manyclass._core.typing import Floats
from manyclass.penalties.penalty import Penalty, Ridge, as_weights, squares


@dataclass(frozen=True, repr=False)
class Gauge(Penalty):
    """A norm made of atoms, times a strength.

    The norm of W is the least sum of weights, none below zero, with which atoms ``u v'`` add up to W. Atoms have u (d,)
    and v (k,) of length 1. The norm and its polar satisfy ``<G, W> <= polar(G) * norm(W)``. Derive from it for a norm
    of your own.

    Parameters
    ----------
    strength : float
        Factor of the norm, at least 0.

    Attributes
    ----------
    spectral : bool
        Whether the norm is the sum of the singular values, so that factors of W can stand for W.
    """

    strength: float

    # Whether it is the sum of the singular values, so that factors of W can stand for W.
    spectral: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "strength", check_nonnegative(self.strength, "strength"))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.strength})"

    @abstractmethod
    def norm(self, W: ArrayLike) -> float:
        """Evaluate the norm, without the strength.

        Parameters
        ----------
        W : array-like of shape (d, k)
            Weights.

        Returns
        -------
        float
            The norm of W.
        """

    @abstractmethod
    def polar(self, G: ArrayLike) -> float:
        """Evaluate the polar: the largest <G, A> over all atoms A, without the strength.

        Parameters
        ----------
        G : array-like of shape (d, k)
            A gradient.

        Returns
        -------
        float
            The polar of G.
        """

    @abstractmethod
    def atom(self, G: ArrayLike) -> tuple[Floats, Floats]:
        """Find an atom A = u v' with <G, A> = polar(G).

        Parameters
        ----------
        G : array-like of shape (d, k)
            A gradient; where it is zero, any atom will do.

        Returns
        -------
        u : ndarray of shape (d,)
            The left side, of the dtype of G.
        v : ndarray of shape (k,)
            The right side, of the dtype of G.
        """

    @abstractmethod
    def atoms(self, W: ArrayLike) -> tuple[Floats, Floats, NDArray[np.float64]]:
        """Decompose W into atoms, such that W = U diag(weights) V' and the weights add up to norm(W).

        Parameters
        ----------
        W : array-like of shape (d, k)
            Weights.

        Returns
        -------
        U : ndarray of shape (d, m)
            The left sides of the atoms.
        V : ndarray of shape (k, m)
            Their right sides.
        weights : ndarray of float64 of shape (m,)
            Their weights, above 0.
        """

    def squared_distance_to_polar_ball(self, G: ArrayLike) -> Callable[[float], float]:
        """Make a function that measures how far t G is from the ball in which the conjugate is zero.

        Parameters
        ----------
        G : array-like of shape (d, k)
            A gradient.

        Returns
        -------
        callable
            The function ``t -> |prox(t G, 1)|_F^2``, the squared distance.
        """
        G = as_weights(G)
        return lambda t: float(squares(self.prox(G * G.dtype.type(t), 1.0)).sum())

    def value(self, W: ArrayLike) -> float:
        return self.strength * self.norm(W)

    def conjugate(self, G: ArrayLike) -> float:
        G = as_weights(G)
        slack = 1 + 100 * float(np.finfo(G.dtype).eps)
        return 0.0 if self.polar(G) <= slack * self.strength else np.inf

    def parts(self) -> tuple[Gauge | None, Ridge]:
        return self, Ridge(0.0)


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


def add_penalties(a: Penalty, b: Penalty) -> Penalty:
    """a + b: ridges merge, a gauge and a ridge stand side by side, and two gauges are refused."""
    (gauge, ridge), (other_gauge, other_ridge) = a.parts(), b.parts()
    if gauge is not None and other_gauge is not None:
        raise ValueError(f"a penalty may have only one gauge besides a ridge; got {gauge} + {other_gauge}")
    gauge, ridge = gauge or other_gauge, Ridge(ridge.strength + other_ridge.strength)
    return ridge if gauge is None else PenaltySum(gauge, ridge)


@dataclass(frozen=True, repr=False)
class PenaltySum(Penalty):
    """gauge(W) + ridge(W).

    >>> from manyclass.penalties.norms import TraceNorm
    >>> TraceNorm(0.001) + Ridge(1e-05)
    TraceNorm(0.001) + Ridge(1e-05)
    """

    gauge: Gauge
    ridge: Ridge

    def __repr__(self) -> str:
        return f"{self.gauge} + {self.ridge}"

    def value(self, W: ArrayLike) -> float:
        return self.gauge.value(W) + self.ridge.value(W)

    def prox(self, W: ArrayLike, step: float) -> Floats:
        return self.gauge.prox(*self._shrunk(W, step))

    def prox_and_value(self, W: ArrayLike, step: float) -> tuple[Floats, float]:
        V, value = self.gauge.prox_and_value(*self._shrunk(W, step))
        return V, value + self.ridge.value(V)

    def _shrunk(self, W: ArrayLike, step: float) -> tuple[Floats, float]:
        # Both squares in V complete to one: the gauge sees a shorter W, and a step as much shorter.
        return self.ridge.prox(W, step), float(step) * self.ridge.shrinkage(step)

    def conjugate(self, G: ArrayLike) -> float:
        return self.gauge.conjugate(G) if self.ridge.strength == 0 else self.conjugate_along(G)(1.0)

    def conjugate_along(self, G: ArrayLike) -> Callable[[float], float]:
        if self.ridge.strength == 0:
            return self.gauge.conjugate_along(G)
        # The maximum is at W = prox(G, 1) / (2 ridge), and there <G, W> = gauge(W) + 2 ridge(W).
        squared_distance = self.gauge.squared_distance_to_polar_ball(G)
        return lambda t: squared_distance(t) / (4 * self.ridge.strength)

    def parts(self) -> tuple[Gauge | None, Ridge]:
        return self.gauge, self.ridge


PENALTIES: dict[str, Any] = {kind.__name__: kind for kind in (GroupNorm, L1Norm, Ridge, TraceNorm)}


def check_penalty(penalty: Any) -> Penalty:
    """The penalty, if it is one."""
    if not isinstance(penalty, Penalty):
        raise ValueError(
            f"penalty must be a Penalty, such as TraceNorm(1e-3) + Ridge(1e-5); got {type(penalty).__name__}"
        )
    return penalty


def describe_penalty(penalty: Penalty) -> dict[str, float]:
    """Strengths by name.

    >>> describe_penalty(TraceNorm(0.5) + Ridge(0.25))
    {'TraceNorm': 0.5, 'Ridge': 0.25}
    """
    gauge, ridge = penalty.parts()
    parts: list[Gauge | Ridge] = [ridge] if gauge is None else [gauge, ridge] if ridge.strength else [gauge]
    for part in parts:
        if PENALTIES.get(type(part).__name__) is not type(part):
            raise TypeError(f"a penalty must be made of {', '.join(PENALTIES)} to be saved; got {penalty}")
    return {type(part).__name__: part.strength for part in parts}


def penalty_from_description(strengths: dict[str, float]) -> Penalty:
    """The penalty that was described so."""
    parts: list[Penalty] = [PENALTIES[name](strength) for name, strength in strengths.items()]
    return reduce(add, parts)
