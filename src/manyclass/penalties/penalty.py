"""Penalty: what solvers ask of a convex function of W."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from manyclass.penalties.arguments import Floats, as_weights

if TYPE_CHECKING:
    from manyclass.penalties.gauge import Gauge
    from manyclass.penalties.ridge import Ridge


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
        from manyclass.penalties.sums import add

        return add(self, other) if isinstance(other, Penalty) else NotImplemented

    def __radd__(self, other: object) -> Penalty:
        """For `sum`, which begins with 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented
