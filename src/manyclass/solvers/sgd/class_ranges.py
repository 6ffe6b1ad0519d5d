"""One-vs-rest by workers, a range of the classes each: the machines of a class need the rows and labels of all classes,
and nothing of the other machines.

What travels is the loss of an epoch, a verdict on the rows that judge, and at the end the weights. Ranges begin at
multiples of PANEL, and so have the bits of all classes together.
"""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from manyclass._core.files import explain_disk_errors
from manyclass._core.shards import Shard
from manyclass._core.typing import Arrays, Doubles
from manyclass._core.worker_groups import Workers, current_workers
from manyclass.data.matrix import Matrix, spans
from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd.descent import AveragedWeights, DescentWeights, SgdAlgorithm
from manyclass.solvers.sgd.judging import AnyJury, Opening, Right, Verdict, jury_of
from manyclass.solvers.sgd.linear_weights import PANEL, LinearWeights
from manyclass.solvers.sgd.sampling import Schedule
from manyclass.solvers.sgd.saved_weights import PART, SavedRange, SavedWeights, read_ranges, write_range

_PIECE = 1 << 26  # bytes of weights that a worker gives at a time


class ClassRange:
    """What a worker has: the weights of a range of classes, and the problems by which they are trained and judged.

    Parameters
    ----------
    problems : sequence of Problem
        The problems, of all classes.
    d : int
        The number of columns.
    classes : range
        The classes, which begin at a multiple of PANEL.
    start : LinearWeights or None
        The machines to begin with; None for zeros.
    """

    def __init__(self, problems: Sequence[Problem], d: int, classes: range, start: LinearWeights | None):
        self._classes, self._d, self._start = classes, d, start
        self._juries: list[Any] = [jury_of(problem) for problem in problems]  # whose kind knows what it is asked for

    @cached_property
    def _weights(self) -> AveragedWeights:
        """Made when they are needed: who goes on from a file needs no others beside those that it reads."""
        (k, first), start = (len(self._classes), self._classes.start), self._start
        self._start = None
        return AveragedWeights.start(LinearWeights.zeros(k, self._d, first) if start is None else start.copy())

    def epoch(self, problem: int, algorithm: SgdAlgorithm, schedule: Schedule, epoch: int) -> float:
        """One pass over a problem; the mean over its examples of the losses of these classes."""
        with np.errstate(over="ignore", invalid="ignore"):  # noticed after the epoch
            return self._weights.epoch(algorithm, self._juries[problem].problem, schedule, epoch)

    def keep(self, begin: bool) -> None:
        """The mean is the best so far."""
        self._weights.keep(begin)

    def opening(self, problem: int) -> Opening:
        """What the other ranges need to know to judge."""
        found: Opening = self._juries[problem].opening(self._weights.mean)
        return found

    def verdict(self, problem: int, opening: Opening) -> Verdict:
        """What these classes say of the examples of a problem."""
        found: Verdict = self._juries[problem].verdict(self._weights.mean, opening)
        return found

    def credits(self, problem: int) -> Doubles:
        """How these classes rank the examples of a problem, which may have several classes."""
        found: Doubles = self._juries[problem].right(self._weights.mean)
        return found

    def mean(self, at: slice) -> LinearWeights:
        """The mean of some of these classes."""
        return self._weights.mean.part(self._classes[at])

    def result(self, at: slice) -> LinearWeights:
        """The machines to keep of some of these classes."""
        return self._weights.result().part(self._classes[at])

    def resume(self, saved: list[SavedRange]) -> None:
        """Go on from what was saved, by whatever ranges."""
        self._weights, self._start = read_ranges(saved, self._classes), None

    def save(self, path: Path) -> None:
        """Write the weights of these classes."""
        with explain_disk_errors(path):
            write_range(path, self._weights)

    def restore(self, path: Path) -> bool:
        """Go on from what `save` wrote; whether that can be read."""
        try:
            self.resume([SavedRange.of(path, self._classes)])
        except (OSError, ValueError):
            return False
        return True


class SentRows:
    """The rows of a fit, which travel to its workers once, however many descents it makes."""

    def __init__(self) -> None:
        self._known: list[tuple[Matrix, Any]] = []

    def get(self, workers: Workers, X: Matrix) -> Any:
        """What stands for these rows among what is common to workers."""
        for known, sent in self._known:
            if known is X:
                return sent
        self._known.append((X, workers.share(X)))
        return self._known[-1][1]


def _made_range(labels: Sequence[Any], *others: Any) -> ClassRange:
    """The part of a worker, from labels, weights and index of each problem, and the rows that they are of."""
    *rows, d, classes, start = others
    problems = [Problem(X, *known) for X, known in zip(rows, labels, strict=True)]
    return ClassRange(problems, d, classes, start)


class DividedWeights:
    """`DescentWeights` of which workers have a range of the classes each."""

    def __init__(
        self,
        workers: Workers,
        machines: LinearWeights,
        problems: Sequence[Problem],
        saved: SavedWeights | None,
        rows: SentRows | None = None,
    ):
        k, d = self.shape = machines.W.shape
        parts = min(len(workers), -(-k // PANEL))
        shares = [Shard(i, parts).span(k, PANEL) for i in range(1, parts + 1)]
        self._ranges = [range(machines.first + share.start, machines.first + share.stop) for share in shares]
        new = saved is not None or machines.are_new()
        each = [(d, classes, None if new else machines.part(classes)) for classes in self._ranges]
        # Together, so that what they share travels once. They are told at the start: who restores has seen no call.
        self._problems, rows = list(problems), SentRows() if rows is None else rows
        labels = [(problem.y, problem.k, problem.weights, problem.index, problem.labels) for problem in problems]
        common = [labels, *(rows.get(workers, problem.X) for problem in problems)]
        self._group = workers.start(_made_range, common, each)
        try:
            if saved is not None:
                self._group.update("resume", saved.ranges(machines.classes))
        except BaseException:
            self.close()
            raise

    @property
    def mean(self) -> LinearWeights:
        """The mean, of all classes."""
        return self._gathered("mean")

    def epoch(self, algorithm: SgdAlgorithm, problem: Problem, schedule: Schedule, epoch: int) -> float:
        """One pass; the mean loss met on the way."""
        return float(sum(self._group.update("epoch", self._number(problem), algorithm, schedule, epoch)))

    def right(self, jury: AnyJury) -> Right:
        """Which examples the mean gives their own class."""
        number = self._number(jury.problem)
        return jury.gather(lambda method, *given: self._group.query(method, number, *given))

    def keep(self, begin: bool) -> None:
        """The mean is the best so far."""
        self._group.update("keep", begin)

    def result(self) -> LinearWeights:
        """The machines to keep, and the examples that they have seen."""
        return self._gathered("result")

    def store(self, path: Path, name: str) -> tuple[list[dict[str, Any]], Arrays]:
        """For the file of a checkpoint, which names those that workers write beside it."""
        parts = [path.with_name(f"{path.name}{PART}{name}-{c.start}-{c.stop}") for c in self._ranges]
        self._group.save(parts)
        return [SavedRange.of(*one).json() for one in zip(parts, self._ranges, strict=True)], {}

    def close(self) -> None:
        """Let go of the workers' parts."""
        self._group.close()

    def _gathered(self, method: str) -> LinearWeights:
        """The machines of all classes, some of every range at a time: no worker needs room for a copy of its own."""
        (k, d), longest = self.shape, max(map(len, self._ranges))
        whole = LinearWeights.zeros(k, d, self._ranges[0].start)
        for at in spans(longest, max(1, _PIECE // (4 * d))):
            parts = self._group.query(method, at)
            while parts:  # which are let go of before the next come
                whole.put(parts.pop())
        return whole

    def _number(self, problem: Problem) -> int:
        """By which workers know a problem."""
        return next(number for number, known in enumerate(self._problems) if known is problem)


def place_weights(
    machines: LinearWeights,
    algorithm: SgdAlgorithm,
    problems: Sequence[Problem],
    saved: SavedWeights | None,
    rows: SentRows | None = None,
) -> DescentWeights:
    """The weights of a descent, from these machines or from what was saved: with workers where there are some."""
    workers = current_workers()
    if workers is not None and algorithm.divides_classes:
        return DividedWeights(workers, machines, problems, saved, rows)
    return AveragedWeights.start(machines) if saved is None else saved.load(machines.classes)
