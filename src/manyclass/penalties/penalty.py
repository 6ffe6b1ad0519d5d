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
    """A convex function of W (d, k), zero at zero, that carries its own strength. Penalties add up by `+`."""

    @abstractmethod
    def value(self, W: ArrayLike) -> float:
        """The penalty of W."""

    @abstractmethod
    def prox(self, W: ArrayLike, step: float) -> Floats:
        """The V (d, k) that minimizes value(V) + |V - W|_F^2 / (2 step), of the dtype of W."""

    def prox_and_value(self, W: ArrayLike, step: float) -> tuple[Floats, float]:
        """V = prox(W, step) and value(V), for less than the price of both where they share work."""
        V = self.prox(W, step)
        return V, self.value(V)

    @abstractmethod
    def conjugate(self, G: ArrayLike) -> float:
        """sup over W of <G, W> - value(W); inf outside the domain, with room for the rounding of G's dtype."""

    def conjugate_along(self, G: ArrayLike) -> Callable[[float], float]:
        """t -> conjugate(t G), for little more than the price of one where they share work."""
        G = as_weights(G)
        return lambda t: self.conjugate(G * G.dtype.type(t))

    @abstractmethod
    def parts(self) -> tuple[Gauge | None, Ridge]:
        """The gauge (None without one) and the ridge (of strength 0 without one) that add up to this penalty."""

    def __add__(self, other: Penalty) -> Penalty:
        from manyclass.penalties.sums import add

        return add(self, other) if isinstance(other, Penalty) else NotImplemented

    def __radd__(self, other: object) -> Penalty:
        """For `sum`, which begins with 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented
