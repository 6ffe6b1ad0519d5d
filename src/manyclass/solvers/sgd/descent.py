"""Stochastic gradient descent, epoch after epoch, until validation says enough."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

import numpy as np

from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd.linear_models import LinearWeights
from manyclass.solvers.sgd.sampling import Quarter, Schedule


class SgdAlgorithm(Protocol):
    """One pass over the examples, by one objective."""

    @property
    def beta(self) -> float | None:
        """Negatives that go with a positive, where they are sampled; None for all."""

    def with_beta(self, beta: float | None) -> Self:
        """The same with another number of negatives; itself where none are sampled."""

    def epoch(
        self, problem: Problem, machines: LinearWeights, schedule: Schedule, epoch: int, quarter: Quarter | None = None
    ) -> float:
        """Update the machines, telling `quarter` after each of four parts; the mean loss met on the way."""

    def cost(self, k: int) -> float:
        """Classes that an example concerns."""


@dataclass(frozen=True)
class EarlyStopping:
    """Stop after `patience` judgements in a row that are not better than the best by more than `tolerance`.

    Kept are the last machines that chance alone, half a standard error of a score of `judged` examples, may set below
    the best: a small validation set cannot tell them apart, and more training seldom hurts.
    """

    max_epochs: int = 100
    tolerance: float = 1e-3
    patience: int = 10
    every: int = 1  # epochs between judgements
    judged: int = 0  # examples that a score is of; 0 for a score that owes nothing to chance

    def as_good(self, score: float, best: float) -> bool:
        """Whether a score is the best, but for chance."""
        chance = 0.5 * np.sqrt(max(score * (1 - score), 0.0) / self.judged) if self.judged else 0.0
        return bool(score >= best - chance)


@dataclass
class SgdRun:
    """Where a descent stands: enough to go on from, to the same bits.

    `mean` is the average of the machines at every quarter of an epoch, later ones counting more (Shamir and Zhang, ICML
    2013, with eta = 1/2): less noisy than the last, and nearly as far along. It is what is judged and kept.
    """

    machines: LinearWeights
    mean: LinearWeights
    best: LinearWeights | None = None
    epoch: int = 0
    best_epoch: int = 0
    best_score: float = -1.0
    mark: float = -1.0  # the score to surpass
    stale: int = 0  # judgements since
    done: bool = False  # whether it ended before its time
    history: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def start(cls, machines: LinearWeights) -> "SgdRun":
        """A descent from these machines."""
        return cls(machines, machines.copy())

    def result(self) -> LinearWeights:
        """The machines to keep."""
        return self.mean if self.best is None else self.best

    def average(self, quarter: int) -> None:
        """Take the machines after this quarter, 1 to 4, of the next epoch into the mean."""
        weight = np.float32(1.5 / (4 * self.epoch + quarter + 0.5))
        for c in range(0, len(self.mean.W), 64):
            part = slice(c, c + 64)
            self.mean.W[part] *= 1 - weight
            self.mean.W[part] += (weight * self.machines.scales[part, None]).astype(np.float32) * self.machines.W[part]
        self.mean.biases += weight * (self.machines.biases - self.mean.biases)

    def judge(self, score: float, stopping: EarlyStopping) -> bool:
        """Note a score; whether to stop."""
        if stopping.as_good(score, self.best_score):
            self.best_score, self.best_epoch = max(score, self.best_score), self.epoch
            if self.best is None:
                self.best = self.mean.copy()
            else:
                self.best.W[...], self.best.biases[...] = self.mean.W, self.mean.biases
        if score > self.mark + stopping.tolerance:
            self.mark, self.stale = score, 0
        else:
            self.stale += 1
        return self.stale >= stopping.patience


def run_epoch(
    algorithm: SgdAlgorithm,
    problem: Problem,
    machines: LinearWeights,
    schedule: Schedule,
    epoch: int,
    quarter: Quarter | None = None,
) -> dict[str, Any]:
    """One pass that changes the machines; its record, in which the first epoch is 1."""
    started = time.perf_counter()
    loss = algorithm.epoch(problem, machines, schedule, epoch, quarter)
    if not (np.isfinite(loss) and machines.finite()):
        raise FloatingPointError(
            f"the weights overflowed float32 in epoch {epoch + 1} with step {schedule.step:g}; "
            "use a smaller step or scale X"
        )
    return {
        "epoch": epoch + 1,
        "loss": loss,
        "examples": len(problem),
        "seconds": time.perf_counter() - started,
    }


def run_sgd(
    descent: SgdRun,
    algorithm: SgdAlgorithm,
    problem: Problem,
    schedule: Schedule,
    stopping: EarlyStopping,
    judge: Callable[[LinearWeights], float] | None = None,
    after_epoch: Callable[[SgdRun], None] | None = None,
) -> SgdRun:
    """Run epochs until `stopping` says so; `after_epoch` sees the descent after each and may set `done` to end it."""
    while descent.epoch < stopping.max_epochs and not descent.done:
        record = run_epoch(algorithm, problem, descent.machines, schedule, descent.epoch, descent.average)
        descent.epoch += 1
        if judge is not None and descent.epoch % stopping.every == 0:
            started = time.perf_counter()
            record["accuracy"] = judge(descent.mean)
            record["judging_seconds"] = time.perf_counter() - started
            descent.done = descent.judge(record["accuracy"], stopping)
        descent.history.append(record)
        if after_epoch is not None:
            after_epoch(descent)
    return descent
