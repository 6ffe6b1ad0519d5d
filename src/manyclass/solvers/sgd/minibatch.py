"""Softmax by mini-batches of stochastic gradient descent."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from manyclass.losses.multiclass import Softmax
from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd.linear_weights import LinearWeights
from manyclass.solvers.sgd.one_vs_rest import apply_updates, sgd_scores
from manyclass.solvers.sgd.sampling import Chunk, Quarter, Schedule, chunks


@dataclass(frozen=True)
class MiniBatch:
    """W <- (1 - step * regularization) W - step * (the mean gradient of a batch) * batch.

    The step is that of one example, as elsewhere: a batch of b examples goes b times as far as their mean gradient.
    """

    batch: int = 32
    beta: ClassVar[None] = None
    divides_classes: ClassVar[bool] = False

    def epoch(
        self, problem: Problem, machines: LinearWeights, schedule: Schedule, epoch: int, quarter: Quarter | None = None
    ) -> float:
        """One pass; the mean loss met."""
        order = schedule.order(problem, schedule.generator(epoch))
        lost = 0.0
        for chunk in chunks(problem, order, quarter=quarter, multiple=self.batch):
            for start in range(0, len(chunk.y), self.batch):
                at = slice(start, start + self.batch)
                part = Chunk(at, chunk.rows[at], chunk.y[at], chunk.weights[at])
                lost += self._step(part, machines, schedule)
            del chunk, part  # before the next is read
        return lost / max(1, len(problem))

    def with_beta(self, beta: float | None) -> Self:
        """Itself, which samples no negatives."""
        return self

    def cost(self, k: int) -> float:
        """Classes that an example concerns, seen twice."""
        return 2 * k

    def _step(self, chunk: Chunk, machines: LinearWeights, schedule: Schedule) -> float:
        Z = sgd_scores(chunk.rows, machines.W) * machines.scales.astype(np.float32) + machines.biases
        values, R = Softmax().in_place(Z, chunk.y, chunk.weights), Z
        t = int(machines.steps[0])
        step = schedule.step / (1 + schedule.decay * t)
        machines.scales *= (1 - step * schedule.regularization) ** len(chunk.y)
        machines.fold_small()
        machines.biases -= np.float32(step * schedule.bias_rate) * R.sum(axis=0)
        apply_updates(machines.W, R * (-step / machines.scales).astype(np.float32), chunk.rows)
        machines.steps += len(chunk.y)
        return float(values @ chunk.weights.astype(np.float64))
