"""One-vs-rest by stochastic gradient descent: every class a binary machine of its own."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass import _native
from manyclass._threads import get_threads
from manyclass.losses.margin import MarginLoss
from manyclass.solvers.machines import Machines
from manyclass.solvers.problem import Problem
from manyclass.solvers.products import gram, move, scores
from manyclass.solvers.schedule import Chunk, Quarter, Schedule, chunks

# From this part of the classes on, two matrix products over all of them beat many short ones.
_DENSE = 0.6
_BLOCK = 128


@dataclass(frozen=True)
class OneVsRest:
    """Table 1 of Perronnin et al. (CVPR 2012), R_OVR, for all classes in one pass over the examples.

    Each example is a positive of its class and a negative of `beta` others on average, drawn without replacement (None:
    of all others, the unweighted machine). So every class sees all of its positives and an independent sample of the
    rest, each of them with probability beta / (k - 1).
    """

    loss: MarginLoss
    beta: float | None = None

    def epoch(
        self, problem: Problem, machines: Machines, schedule: Schedule, epoch: int, quarter: Quarter | None = None
    ) -> float:
        """One pass; the mean over examples of the losses met, summed over the classes seen."""
        rng = schedule.generator(epoch)
        order = schedule.order(problem, rng)
        first, negatives = self._negatives(len(problem), problem.k, rng)
        losses = np.zeros(problem.k)
        dense = negatives.mean() >= _DENSE * problem.k if len(negatives) else False
        update = self._by_products if dense else self._by_pairs
        for chunk in chunks(problem, order, _block(schedule) if dense else None, quarter):
            update(_Run(chunk, first[chunk.at], negatives[chunk.at], machines, schedule), losses)
            del chunk  # before the next is read
        return float(losses.sum() / max(1, len(problem)))

    def cost(self, k: int) -> float:
        """Classes that an example concerns."""
        return 1 + (k - 1 if self.beta is None else min(self.beta, k - 1))

    def _negatives(self, n: int, k: int, rng: np.random.Generator) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Where each example's circle of negatives begins, and how long it is.

        Neighbors in the circle are negatives of the same examples, but no class knows of its neighbors.
        """
        first = rng.integers(0, k - 1, n, dtype=np.int32)
        beta = k - 1 if self.beta is None else min(self.beta, k - 1)
        extra = rng.random(n) < beta - int(beta) if beta > int(beta) else 0
        return first, np.full(n, int(beta), np.int32) + np.int32(extra)

    def _by_pairs(self, run: "_Run", losses: NDArray[np.float64]) -> None:
        _native.one_vs_rest(**run.native(self.loss), losses=losses, threads=get_threads())

    def _by_products(self, run: "_Run", losses: NDArray[np.float64]) -> None:
        X, machines = run.chunk.rows, run.machines
        S = scores(X, machines.W)
        _native.one_vs_rest_block(**run.native(self.loss), G=gram(X), S=S, losses=losses, threads=get_threads())
        move(machines.W, S, X)
        machines.fold_small()


@dataclass(frozen=True)
class _Run:
    """A chunk of examples with their negatives, on the way into the machines."""

    chunk: Chunk
    first: NDArray[np.int32]
    negatives: NDArray[np.int32]
    machines: Machines
    schedule: Schedule

    def native(self, loss: MarginLoss) -> dict[str, Any]:
        """As the compiled loops take it."""
        return {
            "X": self.chunk.rows,
            "y": self.chunk.y,
            "first": self.first,
            "negatives": self.negatives,
            "weights": self.chunk.weights,
            **vars(self.machines),
            "loss": loss.code,
            **self.schedule.native,
        }


def _block(schedule: Schedule) -> int:
    """Examples between two products: within them the scale of W must not vanish."""
    return _BLOCK if schedule.step * schedule.regularization < 0.05 else 4
