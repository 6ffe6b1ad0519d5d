"""One-vs-rest by stochastic gradient descent: every class a binary machine of its own."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass import _native
from manyclass._threads import get_threads
from manyclass.losses.margin import MarginLoss
from manyclass.solvers.machines import Machines
from manyclass.solvers.negatives import cumulated, shares
from manyclass.solvers.problem import Problem
from manyclass.solvers.products import gram, move, scores
from manyclass.solvers.schedule import Chunk, Quarter, Schedule, chunks

# From this part of the classes on, two matrix products over all of them beat many short ones.
_DENSE = 0.6
_BLOCK = 128


@dataclass(frozen=True)
class OneVsRest:
    """Table 1 of Perronnin et al. (CVPR 2012), R_OVR, for all classes in one pass over the examples.

    In every epoch a class sees all of its positives and `beta` times as many negatives, each example of another class
    with the same probability (None: all of them, the unweighted machine). The other classes that an example meets are
    drawn together, so that their number hardly varies, but no class knows of the others.
    """

    loss: MarginLoss
    beta: float | None = None

    def epoch(
        self, problem: Problem, machines: Machines, schedule: Schedule, epoch: int, quarter: Quarter | None = None
    ) -> float:
        """One pass; the mean over examples of the losses met, summed over the classes seen."""
        rng = schedule.generator(epoch)
        order = schedule.order(problem, rng)
        # Of those that the epoch shows: a balanced one has other sizes than the problem.
        sizes = np.bincount(problem.y[order], minlength=problem.k)
        offsets, losses = rng.random(len(problem)), np.zeros(problem.k)
        p = shares(sizes, self.beta)
        P = cumulated(p)
        dense = p @ (len(problem) - sizes) >= _DENSE * problem.k * len(problem)
        update = self._by_products if dense else self._by_pairs
        for chunk in chunks(problem, order, _block(schedule) if dense else None, quarter):
            update(_Run(chunk, offsets[chunk.at], P, machines, schedule), losses)
            del chunk  # before the next is read
        return float(losses.sum() / max(1, len(problem)))

    def cost(self, k: int) -> float:
        """Classes that an example concerns."""
        return 1 + (k - 1 if self.beta is None else min(self.beta, k - 1))

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
    """A chunk of examples with their offsets among the shares of the classes, on the way into the machines."""

    chunk: Chunk
    offsets: NDArray[np.float64]
    shares: NDArray[np.float64]
    machines: Machines
    schedule: Schedule

    def native(self, loss: MarginLoss) -> dict[str, Any]:
        """As the compiled loops take it."""
        return {
            "X": self.chunk.rows,
            "y": self.chunk.y,
            "weights": self.chunk.weights,
            "offsets": self.offsets,
            "shares": self.shares,
            **vars(self.machines),
            "loss": loss.code,
            **self.schedule.native,
        }


def _block(schedule: Schedule) -> int:
    """Examples between two products: within them the scale of W must not vanish."""
    return _BLOCK if schedule.step * schedule.regularization < 0.05 else 4
