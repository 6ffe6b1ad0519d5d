"""Sums of penalties: a gauge and a ridge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from numpy.typing import ArrayLike

from manyclass.penalties.arguments import Floats
from manyclass.penalties.gauge import Gauge
from manyclass.penalties.penalty import Penalty
from manyclass.penalties.ridge import Ridge


def add(a: Penalty, b: Penalty) -> Penalty:
    """a + b: ridges merge, a gauge and a ridge stand side by side, and two gauges are refused."""
    (gauge, ridge), (other_gauge, other_ridge) = a.parts(), b.parts()
    if gauge is not None and other_gauge is not None:
        raise ValueError(f"a penalty may have only one gauge besides a ridge; got {gauge} + {other_gauge}")
    gauge, ridge = gauge or other_gauge, Ridge(ridge.strength + other_ridge.strength)
    return ridge if gauge is None else Sum(gauge, ridge)


@dataclass(frozen=True, repr=False)
class Sum(Penalty):
    """gauge(W) + ridge(W).

    >>> from manyclass.penalties.trace import TraceNorm
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
        beyond = self.gauge.beyond(G)
        return lambda t: beyond(t) / (4 * self.ridge.strength)

    def parts(self) -> tuple[Gauge | None, Ridge]:
        return self.gauge, self.ridge
