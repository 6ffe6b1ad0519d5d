"""Stochastic gradient descent on the weights of all classes, epoch after epoch, until validation says enough.

Where the weights are is none of its business: `AveragedWeights` are here, those of `class_ranges` with workers.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from manyclass._core.typing import Arrays
from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd.judging import AnyJury, Right
from manyclass.solvers.sgd.linear_weights import LinearWeights
from manyclass.solvers.sgd.sampling import Quarter, Schedule


class SgdAlgorithm(Protocol):
    """One pass over the examples, by one objective."""

    divides_classes: ClassVar[bool]  # whether no class knows of the others, so that ranges of them can be trained apart

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

    Parameters
    ----------
    max_epochs : int, default=100
        The largest number of epochs.
    tolerance : float, default=1e-3
        By how much a score must surpass the best to count as better.
    patience : int, default=10
        Judgements in a row that may be no better.
    every : int, default=1
        Epochs between judgements.
    judged : int, default=0
        Examples that a score is of; 0 for a score that owes nothing to chance.
    start_patience : int, default=0
        Judgements that machines which began near the end, and were judged before they moved, may take to be better than
        that by a standard error; if they are not, they are not kept. 0 for machines that began from nothing.
    """

    max_epochs: int = 100
    tolerance: float = 1e-3
    patience: int = 10
    every: int = 1
    judged: int = 0
    start_patience: int = 0

    def as_good(self, score: float, best: float) -> bool:
        """Tell whether a score is the best, but for chance: score >= best - sqrt(score (1 - score) / judged) / 2.

        Parameters
        ----------
        score : float
            The score, a fraction of 1.
        best : float
            The best so far.

        Returns
        -------
        bool
            Whether the machines of this score are to be kept.
        """
        return bool(score >= best - self._standard_error(score) / 2)

    def surpasses(self, score: float, start: float) -> bool:
        """Tell whether a score is better than that of the start by more than its standard error and the tolerance.

        Parameters
        ----------
        score : float
            The score, a fraction of 1.
        start : float
            The score before the first epoch.

        Returns
        -------
        bool
            Whether the start is left behind.
        """
        return bool(score > start + max(self.tolerance, self._standard_error(score)))

    def _standard_error(self, score: float) -> float:
        return float(np.sqrt(max(score * (1 - score), 0.0) / self.judged)) if self.judged else 0.0


class DescentWeights(Protocol):
    """What a descent changes: machines, their mean over epochs, and the best of these; here or elsewhere.

    The mean is that of the machines at every quarter of an epoch, later ones counting more (Shamir and Zhang, ICML
    2013, with eta = 1/2): less noisy than the last, and nearly as far along. It is what is judged and kept. Without
    averaging it is the machines after the last epoch.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """(k, d)."""

    @property
    def mean(self) -> LinearWeights:
        """The mean, of all classes."""

    def epoch(self, algorithm: SgdAlgorithm, problem: Problem, schedule: Schedule, epoch: int) -> float:
        """One pass; the mean loss met on the way."""

    def right(self, jury: AnyJury) -> Right:
        """Which examples the mean gives their own class."""

    def keep(self, begin: bool) -> None:
        """The mean is the best so far: keep it in the place of the last that was, or, to `begin`, as the first."""

    def result(self) -> LinearWeights:
        """The best, or else the mean, and the examples that the machines have seen."""

    def store(self, path: Path, name: str) -> tuple[list[dict[str, Any]], Arrays]:
        """For the file of a checkpoint: (what it says of files that were written beside it, the arrays it holds)."""

    def close(self) -> None:
        """Let go of them."""


@dataclass
class AveragedWeights:
    """`DescentWeights` in the memory of this process."""

    machines: LinearWeights
    mean: LinearWeights
    best: LinearWeights | None = None

    @classmethod
    def start(cls, machines: LinearWeights) -> Self:
        """Before the first epoch of these machines, which it changes."""
        return cls(machines, machines.copy())

    @classmethod
    def join(cls, ranges: list[Self]) -> Self:
        """Those of ranges of classes that follow one another, which are used up: at most one role is there twice."""

        def join(role: str) -> LinearWeights:
            joined = LinearWeights.join([getattr(one, role) for one in ranges])
            for one in ranges:
                delattr(one, role)
            return joined

        best = None if ranges[0].best is None else join("best")
        return cls(join("machines"), join("mean"), best)

    @property
    def shape(self) -> tuple[int, int]:
        """(k, d)."""
        return self.machines.W.shape

    def epoch(self, algorithm: SgdAlgorithm, problem: Problem, schedule: Schedule, epoch: int) -> float:
        """One pass; the mean loss met on the way."""

        def average(quarter: int) -> None:
            self.average(1.5 / (4 * epoch + quarter + 0.5))

        loss = checked_epoch(
            algorithm, problem, self.machines, schedule, epoch, average if schedule.averaging else None
        )
        if not schedule.averaging:
            self.average(1.0)
        return loss

    def average(self, share: float) -> None:
        """Take the machines into the mean, of which they are this share."""
        if share == 1:
            np.multiply(self.machines.W, self.machines.scales[:, None].astype(np.float32), out=self.mean.W)
            self.mean.biases[...] = self.machines.biases
            return
        weight = np.float32(share)
        for c in range(0, len(self.mean.W), 64):
            part = slice(c, c + 64)
            self.mean.W[part] *= 1 - weight
            self.mean.W[part] += (weight * self.machines.scales[part, None]).astype(np.float32) * self.machines.W[part]
        self.mean.biases += weight * (self.machines.biases - self.mean.biases)

    def right(self, jury: AnyJury) -> Right:
        """Which examples the mean gives their own class."""
        return jury.right(self.mean)

    def keep(self, begin: bool) -> None:
        """The mean is the best so far."""
        if self.best is not None:
            self.best.W[...], self.best.biases[...] = self.mean.W, self.mean.biases
        elif begin:
            self.best = self.mean.copy()

    def result(self) -> LinearWeights:
        """The machines to keep, and the examples that they have seen."""
        return replace(self.mean if self.best is None else self.best, steps=self.machines.steps)

    def arrays(self) -> Arrays:
        """All of them by name."""
        kept = {"machines": self.machines, "mean": self.mean, "best": self.best}
        return {f"{role}.{name}": A for role, m in kept.items() if m is not None for name, A in m.arrays().items()}

    def store(self, path: Path, name: str) -> tuple[list[dict[str, Any]], Arrays]:
        """For the file of a checkpoint, which holds all of them."""
        return [], self.arrays()

    def close(self) -> None:
        """Nothing is held elsewhere."""


@dataclass
class SgdRun:
    """Where a descent stands: enough to go on from, to the same bits."""

    weights: DescentWeights
    epoch: int = 0
    best_epoch: int = 0
    best_score: float = -1.0
    mark: float = -1.0  # the score to surpass
    stale: int = 0  # judgements since
    done: bool = False  # whether it ended before its time
    keeps_best: bool = True  # whether the best are of use later, and not only when they were
    history: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def start(cls, machines: LinearWeights) -> "SgdRun":
        """A descent from these machines, here."""
        return cls(AveragedWeights.start(machines))

    @property
    def is_judged(self) -> bool:
        """Whether there was a score yet."""
        return self.best_score >= 0

    def judge(self, score: float, stopping: EarlyStopping) -> bool:
        """Note a score; whether to stop."""
        at_start = self.is_judged and self.best_epoch == 0
        if at_start and not stopping.surpasses(score, self.best_score):
            self.stale += 1
            return self.stale >= stopping.start_patience
        if stopping.as_good(score, self.best_score):
            self.best_score, self.best_epoch = max(score, self.best_score), self.epoch
            self.weights.keep(self.keeps_best)
        if score > self.mark + stopping.tolerance:
            self.mark, self.stale = score, 0
        else:
            self.stale += 1
        return self.stale >= stopping.patience


def checked_epoch(
    algorithm: SgdAlgorithm,
    problem: Problem,
    machines: LinearWeights,
    schedule: Schedule,
    epoch: int,
    quarter: Quarter | None = None,
) -> float:
    """One pass that changes the machines; the mean loss met, if all is well."""
    loss = algorithm.epoch(problem, machines, schedule, epoch, quarter)
    if not (np.isfinite(loss) and machines.finite()):
        raise FloatingPointError(
            f"the weights overflowed float32 in epoch {epoch + 1} with step {schedule.step:g}; "
            "use a smaller step or scale X"
        )
    return loss


def epoch_record(train: Callable[[], float], problem: Problem, epoch: int) -> dict[str, Any]:
    """The record of an epoch, in which the first is 1, while `train` makes the pass."""
    started = time.perf_counter()
    loss = train()
    return {
        "epoch": epoch + 1,
        "loss": loss,
        "examples": len(problem),
        "seconds": time.perf_counter() - started,
    }


Judge = Callable[[DescentWeights], float]


def run_sgd(
    descent: SgdRun,
    algorithm: SgdAlgorithm,
    problem: Problem,
    schedule: Schedule,
    stopping: EarlyStopping,
    judge: Judge | None = None,
    after_epoch: Callable[[SgdRun], None] | None = None,
) -> SgdRun:
    """Run epochs until `stopping` says so; `after_epoch` sees the descent after each and may set `done` to end it."""
    weights = descent.weights
    while (epoch := descent.epoch) < stopping.max_epochs and not descent.done:
        record = epoch_record(lambda: weights.epoch(algorithm, problem, schedule, epoch), problem, epoch)
        descent.epoch += 1
        if judge is not None and descent.epoch % stopping.every == 0:
            started = time.perf_counter()
            record["accuracy"] = judge(weights)
            record["judging_seconds"] = time.perf_counter() - started
            descent.done = descent.judge(record["accuracy"], stopping)
        descent.history.append(record)
        if after_epoch is not None:
            after_epoch(descent)
    return descent
