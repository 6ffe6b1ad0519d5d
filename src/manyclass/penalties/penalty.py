"""What solvers ask of a convex function of W (d, k): Penalty, and Gauge, a norm made of atoms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyclass._core.checks import check_nonnegative
from manyclass._core.typing import Floats

if TYPE_CHECKING:
    from manyclass.penalties.ridge import Ridge


class Penalty(ABC):
    """A convex function of W (d, k) with a strength of its own, zero at zero or at its center.

    Penalties add up by `+`.
    """

    @property
    def is_rotation_invariant(self) -> bool:
        """Whether ``value(Q W) = value(W)`` for every Q with orthonormal columns, a bool."""
        gauge, ridge = self.parts()
        return ridge.center is None and (gauge is None or gauge.is_rotation_invariant)

    @abstractmethod
    def value(self, W: ArrayLike) -> float:
        """Evaluate the penalty.

        Parameters
        ----------
        W : array-like of shape (d, k)
            Weights.

        Returns
        -------
        float
            The penalty of W, its strength included.
        """

    @abstractmethod
    def prox(self, W: ArrayLike, step: float) -> Floats:
        """Take a proximal step.

        Parameters
        ----------
        W : array-like of shape (d, k)
            Weights.
        step : float
            The size of the step.

        Returns
        -------
        ndarray of shape (d, k)
            The V that minimizes ``value(V) + |V - W|_F^2 / (2 step)``, of the dtype of W.
        """

    def prox_and_value(self, W: ArrayLike, step: float) -> tuple[Floats, float]:
        """Take a proximal step and evaluate the penalty there.

        It costs less than both calls where they share work.

        Parameters
        ----------
        W : array-like of shape (d, k)
            Weights.
        step : float
            The size of the step.

        Returns
        -------
        V : ndarray of shape (d, k)
            The weights that `prox` gives.
        value : float
            The penalty of V.
        """
        V = self.prox(W, step)
        return V, self.value(V)

    @abstractmethod
    def conjugate(self, G: ArrayLike) -> float:
        """Evaluate the convex conjugate ``sup_W <G, W> - value(W)``.

        Parameters
        ----------
        G : array-like of shape (d, k)
            A gradient.

        Returns
        -------
        float
            The conjugate; inf outside the domain, with a margin for the rounding of the dtype of G.
        """

    def conjugate_along(self, G: ArrayLike) -> Callable[[float], float]:
        """Make a function that evaluates the conjugate along a ray.

        Many evaluations cost little more than one where they share work.

        Parameters
        ----------
        G : array-like of shape (d, k)
            A gradient.

        Returns
        -------
        callable
            The function t -> conjugate(t G).
        """
        G = as_weights(G)
        return lambda t: self.conjugate(G * G.dtype.type(t))

    @abstractmethod
    def parts(self) -> tuple[Gauge | None, Ridge]:
        """Split the penalty into the parts that solvers treat differently.

        Returns
        -------
        gauge : Gauge or None
            The gauge, if there is one.
        ridge : Ridge
            The ridge; of strength 0 if there is none.
        """

    def __add__(self, other: Penalty) -> Penalty:
        from manyclass.penalties.ridge import add_penalties

        return add_penalties(self, other) if isinstance(other, Penalty) else NotImplemented

    def __radd__(self, other: object) -> Penalty:
        """For `sum`, which begins with 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented


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

    spectral: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "strength", check_nonnegative(self.strength, "strength"))

    @property
    def is_rotation_invariant(self) -> bool:
        return self.spectral

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
        from manyclass.penalties.ridge import Ridge

        return self, Ridge(0.0)


def dot(A: Floats, B: Floats) -> float:
    """The sum of the products of entries, in float64."""
    return float(np.einsum("jl,jl->", A, B, dtype=np.float64, casting="same_kind"))


def as_weights(W: ArrayLike) -> Floats:
    """W as a matrix of float32 or float64; other numbers become float64."""
    W = np.asarray(W)
    if W.ndim != 2 or 0 in W.shape or W.dtype.kind not in "fiub":
        raise ValueError(f"a penalty takes a matrix (d, k) of real numbers; got {W.dtype} of shape {W.shape}")
    return W if W.dtype in (np.float32, np.float64) else W.astype(np.float64)


def squares(W: Floats) -> NDArray[np.float64]:
    """|W_j|^2 of each row, added up in float64 (d,)."""
    return np.asarray(np.einsum("jl,jl->j", W, W, dtype=np.float64))
