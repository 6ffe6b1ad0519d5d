"""What solvers ask of a convex function of W (d, k): Penalty; Gauge, a norm made of atoms; Ridge; and their sum."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyclass._core.checks import check_finite, check_nonnegative
from manyclass._core.typing import Floats


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
        return add_penalties(self, other) if isinstance(other, Penalty) else NotImplemented

    def __radd__(self, other: object) -> Penalty:
        """For `sum`, which begins with 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented


@dataclass(frozen=True, repr=False, eq=False)
class Ridge(Penalty):
    """The squared Frobenius norm, ``strength * |W - center|_F^2``, without a factor of one half.

    Parameters
    ----------
    strength : float
        Factor of the square, at least 0.
    center : array-like of shape (d, k), default=None
        Weights that are known before, such as `old.coef_.T` of an older model; None for zero.

    Examples
    --------
    >>> Ridge(0.5).value([[3.0, 4.0]]), Ridge(0.5, center=[[3.0, 3.0]]).value([[3.0, 4.0]])
    (12.5, 0.5)
    """

    strength: float
    center: Floats | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "strength", check_nonnegative(self.strength, "strength"))
        if self.center is not None:
            center = as_weights(self.center)
            check_finite(center, "center")
            # At zero, or of no strength, it is a plain ridge.
            object.__setattr__(self, "center", center if self.strength > 0 and center.any() else None)

    def __repr__(self) -> str:
        return f"Ridge({self.strength})" if self.center is None else f"Ridge({self.strength}, center={self._shape()})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ridge) or type(other) is not type(self) or self.strength != other.strength:
            return False
        mine, theirs = self.center, other.center
        return mine is theirs or (mine is not None and theirs is not None and np.array_equal(mine, theirs))

    def __hash__(self) -> int:
        return hash((type(self), self.strength, self._shape()))

    def _shape(self) -> tuple[int, ...] | None:
        return None if self.center is None else self.center.shape

    def check_shape(self, d: int, k: int) -> None:
        """Refuse weights of another shape than the center.

        Parameters
        ----------
        d : int
            Columns of X.
        k : int
            Classes.
        """
        if self.center is not None and self.center.shape != (d, k):
            raise ValueError(
                f"center must have a row for each of {d} columns of X and a column for each of {k} classes, as "
                f"`coef_.T` has; got shape {self.center.shape}"
            )

    def from_center(self, W: ArrayLike) -> Floats:
        """Compute ``W - center``.

        Parameters
        ----------
        W : array-like of shape (d, k)
            Weights.

        Returns
        -------
        ndarray of shape (d, k)
            The difference, W itself without a center.
        """
        W = as_weights(W)
        return W if self.center is None else W - self.center.astype(W.dtype, copy=False)

    @property
    def curvature(self) -> float:
        """The eigenvalue ``2 * strength`` of the Hessian, as a float."""
        return 2 * self.strength

    def value(self, W: ArrayLike) -> float:
        return self.strength * float(squares(self.from_center(W)).sum())

    def gradient(self, W: ArrayLike) -> Floats:
        """Evaluate the gradient, ``2 * strength * (W - center)``.

        Parameters
        ----------
        W : array-like of shape (d, k)
            Weights.

        Returns
        -------
        ndarray of shape (d, k)
            The gradient.
        """
        return self.curvature * self.from_center(W)

    def prox(self, W: ArrayLike, step: float) -> Floats:
        W = as_weights(W)
        if self.center is None:
            return W * self.shrinkage(step)
        return W + (1 - self.shrinkage(step)) * (self.center.astype(W.dtype, copy=False) - W)

    def shrinkage(self, step: float) -> float:
        """Compute the factor ``1 / (1 + 2 * strength * step)`` by which a proximal step multiplies W - center.

        Parameters
        ----------
        step : float
            The size of the step.

        Returns
        -------
        float
            The factor.
        """
        return 1 / (1 + self.curvature * float(step))

    def conjugate(self, G: ArrayLike) -> float:
        G = as_weights(G)
        total = float(squares(G).sum())
        if self.strength == 0:
            return 0.0 if total == 0 else np.inf
        at_center = 0.0 if self.center is None else dot(G, self.center)
        return at_center + total / (4 * self.strength)

    def parts(self) -> tuple[Gauge | None, Ridge]:
        return None, self


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
        return self, Ridge(0.0)


def add_penalties(a: Penalty, b: Penalty) -> Penalty:
    """a + b: ridges merge, a gauge and a ridge stand side by side, and two gauges are refused."""
    (gauge, ridge), (other_gauge, other_ridge) = a.parts(), b.parts()
    if gauge is not None and other_gauge is not None:
        raise ValueError(f"a penalty may have only one gauge besides a ridge; got {gauge} + {other_gauge}")
    gauge, ridge = gauge or other_gauge, _add_ridges(ridge, other_ridge)
    return ridge if gauge is None else PenaltySum(gauge, ridge)


def _add_ridges(a: Ridge, b: Ridge) -> Ridge:
    if a.center is None and b.center is None:
        return Ridge(a.strength + b.strength)
    if a.strength and b.strength:
        raise ValueError(f"a ridge with a center must be the only ridge; got {a} + {b}")
    return a if a.strength else b


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
        if self.ridge.center is not None:
            return self._conjugate_around_center(as_weights(G), self.ridge.center)
        # The maximum is at W = prox(G, 1) / (2 ridge), and there <G, W> = gauge(W) + 2 ridge(W).
        squared_distance = self.gauge.squared_distance_to_polar_ball(G)
        return lambda t: squared_distance(t) / (4 * self.ridge.strength)

    def _conjugate_around_center(self, G: Floats, center: Floats) -> Callable[[float], float]:
        # A center is a linear term, which moves G, and a constant.
        ridge, pull = self.ridge.strength, self.ridge.curvature * center
        constant = ridge * float(squares(center).sum())

        def value(t: float) -> float:
            distance = self.gauge.squared_distance_to_polar_ball(t * G.astype(np.float64) + pull)
            return distance(1.0) / (4 * ridge) - constant

        return value

    def parts(self) -> tuple[Gauge | None, Ridge]:
        return self.gauge, self.ridge


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
