"""Penalty, what solvers ask of a convex function of W (d, k), and Ridge, which may stand beside any gauge."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyclass._core.checks import check_nonnegative
from manyclass._core.typing import Floats

if TYPE_CHECKING:
    from manyclass.penalties.norms import Gauge


class Penalty(ABC):
    """A convex function of W (d, k) that is zero at zero and has its own strength.

    Penalties add up by `+`.
    """

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
        from manyclass.penalties.norms import add_penalties

        return add_penalties(self, other) if isinstance(other, Penalty) else NotImplemented

    def __radd__(self, other: object) -> Penalty:
        """For `sum`, which begins with 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented


@dataclass(frozen=True, repr=False)
class Ridge(Penalty):
    """The squared Frobenius norm, ``strength * |W|_F^2``, without a factor of one half.

    Parameters
    ----------
    strength : float
        Factor of the square, at least 0.

    Examples
    --------
    >>> Ridge(0.5).value([[3.0, 4.0]])
    12.5
    """

    strength: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "strength", check_nonnegative(self.strength, "strength"))

    def __repr__(self) -> str:
        return f"Ridge({self.strength})"

    @property
    def curvature(self) -> float:
        """The eigenvalue ``2 * strength`` of the Hessian, as a float."""
        return 2 * self.strength

    def value(self, W: ArrayLike) -> float:
        return self.strength * float(squares(as_weights(W)).sum())

    def gradient(self, W: ArrayLike) -> Floats:
        """Evaluate the gradient, ``2 * strength * W``.

        Parameters
        ----------
        W : array-like of shape (d, k)
            Weights.

        Returns
        -------
        ndarray of shape (d, k)
            The gradient.
        """
        return self.curvature * as_weights(W)

    def prox(self, W: ArrayLike, step: float) -> Floats:
        return as_weights(W) * self.shrinkage(step)

    def shrinkage(self, step: float) -> float:
        """Compute the factor ``1 / (1 + 2 * strength * step)`` by which a proximal step multiplies W.

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
        total = float(squares(as_weights(G)).sum())
        if self.strength == 0:
            return 0.0 if total == 0 else np.inf
        return total / (4 * self.strength)

    def parts(self) -> tuple[Gauge | None, Ridge]:
        return None, self


def as_weights(W: ArrayLike) -> Floats:
    """W as a matrix of float32 or float64; other numbers become float64."""
    W = np.asarray(W)
    if W.ndim != 2 or 0 in W.shape or W.dtype.kind not in "fiub":
        raise ValueError(f"a penalty takes a matrix (d, k) of real numbers; got {W.dtype} of shape {W.shape}")
    return W if W.dtype in (np.float32, np.float64) else W.astype(np.float64)


def squares(W: Floats) -> NDArray[np.float64]:
    """|W_j|^2 of each row, added up in float64 (d,)."""
    return np.asarray(np.einsum("jl,jl->j", W, W, dtype=np.float64))
