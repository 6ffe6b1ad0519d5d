"""Multiclass, ranking and weighted ranking machines by stochastic gradient descent: all classes together."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from manyclass import _native
from manyclass._core.parallel import get_threads
from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd.linear_weights import LinearWeights
from manyclass.solvers.sgd.one_vs_rest import sgd_gram, sgd_scores
from manyclass.solvers.sgd.sampling import Chunk, Quarter, Schedule, chunks

# Examples of one product. Measured, one thread, 4,000 examples, the highest rival: 16, 64 and 256 take 211, 159 and
# 137 ms for 1,000 classes of 1,024 columns, and 21, 14 and 15 ms for 200 of 256.
_BLOCK = 64


@dataclass(frozen=True)
class PairwiseRanking:
    """Every example moves its own class up and one rival down, if that one's score is not lower by 1.

    Table 1 of Perronnin et al. (CVPR 2012). The rival, which must violate the margin, is
    `max`: the highest of all other classes (R_MUL, Crammer and Singer);
    `random`: one drawn at random (R_RNK);
    `sampled`: drawn until one violates it, at most k - 1 times; the update is multiplied with 1 + 1/2 + ... up to
    floor((k - 1) / draws), an estimate of the loss at that rank (R_WAR, Weston et al.).
    """

    violator: str
    beta: ClassVar[None] = None
    divides_classes: ClassVar[bool] = False
    VIOLATORS: ClassVar[tuple[str, ...]] = tuple(_native.Violator.__members__)

    def epoch(
        self, problem: Problem, machines: LinearWeights, schedule: Schedule, epoch: int, quarter: Quarter | None = None
    ) -> float:
        """One pass; the mean over examples of the losses met."""
        rng = schedule.generator(epoch)
        order = schedule.order(problem, rng)
        draws = rng.integers(0, 1 << 63, len(order), dtype=np.uint64)
        block = schedule.block(_BLOCK)
        lost = 0.0
        # One scale serves for all.
        machines.fold()
        for chunk in chunks(problem, order, quarter=quarter):
            for start in range(0, len(chunk.y), block):
                at = slice(start, start + block)
                part = Chunk(at, chunk.rows[at], chunk.y[at], chunk.weights[at])
                lost += self._block(part, draws[chunk.at][at], machines, schedule)
            machines.scales[:] = machines.scales[0]
            machines.steps[:] = machines.steps[0]
            del chunk, part  # before the next is read
        return lost / max(1, len(problem))

    def with_beta(self, beta: float | None) -> Self:
        """Itself, which samples no negatives."""
        return self

    def cost(self, k: int) -> float:
        """Classes that an example concerns."""
        return 2 if self.violator == "random" else k

    def _block(self, chunk: Chunk, draws: NDArray[np.uint64], machines: LinearWeights, schedule: Schedule) -> float:
        S = self._scores(chunk, draws, machines)
        rivals, updates = np.empty(len(chunk.y), np.int32), np.empty(len(chunk.y), np.float32)
        lost = _native.joint_block(
            chunk.rows, chunk.y, chunk.weights, machines.W, machines.biases, machines.scales, machines.steps,
            _native.Violator[self.violator], **schedule.native, G=sgd_gram(chunk.rows), S=S, draws=draws, rivals=rivals,
            pulls=updates,
        )  # fmt: skip
        _native.move_two(chunk.rows, chunk.y, rivals, updates, machines.W, get_threads())
        if machines.scales[0] < 1e-6:
            machines.scales[:] = machines.scales[0]
            machines.fold()
        return lost

    def _scores(self, chunk: Chunk, draws: NDArray[np.uint64], machines: LinearWeights) -> NDArray[np.float32]:
        if self.violator != "random":
            return sgd_scores(chunk.rows, machines.W)
        drawn = np.empty(len(chunk.y), np.int32)
        _native.draw_rivals(chunk.y, draws, len(machines.W), drawn)
        S = np.zeros((len(chunk.y), len(machines.W)), np.float32)
        pairs = np.ascontiguousarray(np.stack([chunk.y, drawn], axis=1))
        _native.score_two(chunk.rows, machines.W, pairs, S, get_threads())
        return S
