"""What every batch solver returns, what ended it, the run that keeps its best point, and when that is good enough."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from manyclass._core.typing import Callback, Doubles, Floats
from manyclass.solvers.batch.duality import DualityGap
from manyclass.solvers.batch.null_model import NullModel
from manyclass.solvers.batch.points import Weights


class Status(StrEnum):
    """What ended a solver: a word for programs, with a sentence for people beside it.

    >>> Status.TIME_LIMIT == "time limit reached", Status.TIME_LIMIT.is_unfinished, Status.OPTIMAL.sentence
    (True, True, 'the duality gap is within the tolerance')
    """

    OPTIMAL = "optimal"
    EPSILON_OPTIMAL = "epsilon-optimal"
    DONE = "done"
    ITERATION_LIMIT = "iteration limit reached"
    TIME_LIMIT = "time limit reached"
    PRECISION_LIMIT = "precision limit reached"
    STOPPED = "stopped by a callback"
    INTERRUPTED = "interrupted"

    def __repr__(self) -> str:
        return repr(self.value)

    @property
    def sentence(self) -> str:
        """What it means."""
        return _SENTENCES[self]

    @property
    def is_unfinished(self) -> bool:
        """Whether the same run, given more time, would have gone on."""
        return self in (Status.TIME_LIMIT, Status.INTERRUPTED)

    @property
    def is_cut_short(self) -> bool:
        """Whether somebody waits for it to end: there is no time for anything more."""
        return self.is_unfinished or self is Status.STOPPED

    @classmethod
    def _missing_(cls, value: object) -> "Status | None":
        """The status of a file that an earlier version wrote."""
        return next((status for words, status in _EARLIER.items() if re.fullmatch(words, str(value))), None)


_SENTENCES = {
    Status.OPTIMAL: "the duality gap is within the tolerance",
    Status.EPSILON_OPTIMAL: "the conditions of optimality hold up to epsilon times the least strength at which W is 0",
    Status.DONE: "every problem of the path was solved or given up",
    Status.ITERATION_LIMIT: "the iteration limit was reached before the duality gap was within the tolerance",
    Status.TIME_LIMIT: "the time limit was reached before the duality gap was within the tolerance",
    Status.PRECISION_LIMIT: "rounding errors kept the duality gap above the tolerance",
    Status.STOPPED: "a callback asked to stop",
    Status.INTERRUPTED: "the solver was interrupted from the keyboard",
}

# What version 0.1 wrote into the checkpoints of paths.
_EARLIER = {
    r"optimal to epsilon .*": Status.EPSILON_OPTIMAL,
    r"not solved in \d+ steps": Status.ITERATION_LIMIT,
    r"time is up": Status.TIME_LIMIT,
    r"as near as rounding allows": Status.PRECISION_LIMIT,
    r"stopped by the callback": Status.STOPPED,
}


@dataclass(frozen=True)
class Solution:
    """The best point that a solver met, and how good it is known to be.

    Parameters
    ----------
    point : Weights
        The weights and intercepts.
    objective : float
        The mean loss plus the penalty.
    gap : float
        An upper bound on objective - optimum, by duality; inf where the solver ended before it was computed.
    excess : float
        The polar of the gradient minus the strength of the gauge, the epsilon of condition (C1) of the rank-one solver.
    status : Status
        What ended the solver, such as "optimal", "time limit reached" or "interrupted".
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
    status: Status
    seconds: float
    passes: float
    iterations: int
    history: list[dict[str, Any]] = field(default_factory=list, repr=False)

    @property
    def message(self) -> str:
        """What ended the solver, a sentence."""
        return self.status.sentence

    @property
    def W(self) -> Floats:  # noqa: N802, mathematics keeps its letters
        """The weights, an ndarray of shape (d, k)."""
        return self.point.to_dense()

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
    """A solver is told to stop, with the status that it ends in."""

    def __init__(self, status: Status):
        super().__init__(status)
        self.status = status


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
            raise StopSolver(Status.STOPPED)
        if self.seconds > self.max_seconds:
            raise StopSolver(Status.TIME_LIMIT)

    def solution(self, status: Status, passes: float) -> Solution:
        """What a solver that ended so returns."""
        if self.point is None:
            raise RuntimeError("a solver must record a point before it ends")
        return Solution(
            self.point, self.value, self.gap, self.excess, status, self.seconds, passes, len(self.history), self.history
        )

    def certify(self, point: Weights, certificate: DualityGap) -> None:
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


def is_solved(gap: float, value: float, base: NullModel, tolerance: float, dtype: Any) -> bool:
    """Whether the gap at a point of this value is at most `tolerance` of the value, and of what W gains over zero.

    The latter, as near W = 0 any point has a gap that is small against the objective. What W can gain is at most the
    gain that is seen, plus the gap. No gap is asked to be smaller than the rounding of the loss at zero.
    """
    rounding = 4 * float(np.finfo(dtype).eps) * max(abs(base.loss), abs(base.worst or 0.0))
    return bool(np.isfinite(gap)) and gap <= max(tolerance * scale(value - gap, base), rounding)


def scale(value: float, base: NullModel) -> float:
    """The smaller of the objective and its gain over W = 0, or over a center, against which gaps are measured."""
    worst = base.loss if base.worst is None else base.worst
    return min(abs(value), max(0.0, worst - value))
