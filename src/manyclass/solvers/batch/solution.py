"""Solution: what every batch solver returns; and Run, which watches it on the way."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from manyclass._core.typing import Doubles, Floats
from manyclass.solvers.batch.duality import DualityGap
from manyclass.solvers.batch.points import Weights

Callback = Callable[[dict[str, Any]], object]


@dataclass(frozen=True)
class Solution:
    """The best point that a solver met, and how good it is known to be.

    Parameters
    ----------
    point : Point
        The weights and intercepts.
    objective : float
        The mean loss plus the penalty.
    gap : float
        An upper bound on objective - optimum, by duality; inf where the solver ended before it was computed.
    excess : float
        The polar of the gradient minus the strength of the gauge, the epsilon of condition (C1) of the rank-one solver.
    status : str
        "optimal", "time is up", "interrupted", or what else ended the solver.
    seconds : float
        The time that it took.
    passes : float
        Products with all of X.
    iterations : int
        Steps.
    history : list of dict, default=[]
        The record of every step.
    """

    point: Weights
    objective: float
    gap: float
    excess: float
    status: str
    seconds: float
    passes: float
    iterations: int
    history: list[dict[str, Any]] = field(default_factory=list, repr=False)

    @property
    def W(self) -> Floats:  # noqa: N802, mathematics keeps its letters
        """The weights, an ndarray of shape (d, k)."""
        return self.point.whole()

    @property
    def b(self) -> Doubles:
        """The intercepts, an ndarray of shape (k,)."""
        return self.point.b

    @property
    def factors(self) -> tuple[Floats, Doubles, Floats]:
        """The factors U (d, r), s (r,), V (k, r) with W = U diag(s) V', a tuple of arrays."""
        return self.point.factors()

    @property
    def rank(self) -> int:
        """The number of singular values of W above rounding, an int."""
        return len(self.factors[1])


class StopSolver(Exception):  # noqa: N818, it is no error
    """A solver is told to stop; the message says why."""


class SolverRun:
    """Keeps the best point, the history and the time of a solver, and ends it when the time is up."""

    def __init__(self, max_seconds: float | None = None, callback: Callback | None = None):
        self.started = time.perf_counter()
        self.max_seconds = np.inf if max_seconds is None else max_seconds
        self.callback = callback
        self.point: Weights | None = None
        self.value = np.inf
        self.bound = -np.inf
        self.excess = np.inf
        self.history: list[dict[str, Any]] = []

    @property
    def seconds(self) -> float:
        """Since the start."""
        return time.perf_counter() - self.started

    def record(self, point: Weights | Callable[[], Weights], value: float, **facts: Any) -> None:
        """Note a point after a step; the callback ends the run by returning True."""
        if value <= self.value:
            self.point, self.value = point() if callable(point) else point, value
        self.history.append({"iteration": len(self.history), "objective": value, "seconds": self.seconds, **facts})
        if self.callback is not None and self.callback(self.history[-1]) is True:
            raise StopSolver("stopped by the callback")
        if self.seconds > self.max_seconds:
            raise StopSolver("time is up")

    def solution(self, status: str, passes: float) -> Solution:
        """What a solver that ended so returns."""
        if self.point is None:
            raise RuntimeError("a solver must record a point before it ends")
        return Solution(
            self.point, self.value, self.gap, self.excess, status, self.seconds, passes, len(self.history), self.history
        )

    def certified(self, point: Weights, certificate: DualityGap) -> None:
        """Note what is proved at a point: a bound on the optimum, and so on the gap of the best point."""
        self.excess, self.bound = certificate.excess, max(self.bound, certificate.bound)
        if certificate.objective <= self.value:
            self.point, self.value = point, certificate.objective
        if self.history:
            self.history[-1].update(gap=self.gap, excess=self.excess)

    @property
    def gap(self) -> float:
        """An upper bound on what the best point is above the optimum."""
        return max(0.0, self.value - self.bound)
