"""One-vs-rest by stochastic gradient descent: every class a binary machine of its own.

The products of a block of examples are shared with the other objectives; their bits do not depend on the threads.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from manyclass import _native
from manyclass._core.label_lists import LabelLists
from manyclass._core.parallel import for_each, get_threads, one_blas_thread
from manyclass._core.typing import Singles
from manyclass.data.matrix import spans
from manyclass.losses.margin import MarginLoss
from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd.linear_weights import PANEL, LinearWeights
from manyclass.solvers.sgd.sampling import Chunk, Quarter, Schedule, are_drawn, chunks, cumulative_rates, negative_rates

# From this part of the classes on, two matrix products over all of them beat many short ones. Measured, one thread:
# they meet at 0.5 for 1,000 classes of 1,024 columns; for 200 of 256 products are a quarter slower even at 1.
_DENSE = 0.6

# Examples of one product. Measured, one thread, 4,000 examples: 32, 64, 128 and 256 take 236, 195, 226 and 264 ms for
# 1,000 classes of 1,024 columns, and 27, 28, 30 and 34 ms for 200 of 256.
_BLOCK = 128


@dataclass(frozen=True)
class OneVsRest:
    """Table 1 of Perronnin et al. (CVPR 2012), R_OVR, for all classes in one pass over the examples.

    In every epoch a class sees all of its positives and `beta` times as many negatives, each example that is not of it
    with the same probability (None: all of them, the unweighted machine). An example may be of several classes. The
    other classes that it meets are drawn together, so that their number hardly varies; no class knows of the others.
    """

    loss: MarginLoss
    beta: float | None = None
    divides_classes: ClassVar[bool] = True

    def epoch(
        self, problem: Problem, machines: LinearWeights, schedule: Schedule, epoch: int, quarter: Quarter | None = None
    ) -> float:
        """One pass; the mean over examples of the losses met, summed over the classes seen."""
        rng, step = schedule.generator(epoch), schedule.native
        order = schedule.order(problem, rng)
        # Of those that the epoch shows: a balanced one has other sizes than the problem.
        labels = problem.label_lists(order)
        sizes = labels.sizes(problem.k)
        m, first = len(machines.W), machines.first
        offsets, losses = rng.random(len(problem)), np.zeros(m)
        p = negative_rates(sizes, self.beta, len(problem))
        P = cumulative_rates(p)[first : first + m + 1]
        dense = p @ (len(problem) - sizes) >= _DENSE * problem.k * len(problem)
        update = self._by_products if dense else self._by_pairs
        # Some of many classes are not concerned by all examples. Products have the bits of whole blocks.
        some = m < problem.k and not dense
        labels = labels.within(first, m)
        shown = are_drawn(offsets, P[0], P[-1]) | (labels.counts > 0) if some else None
        for chunk in chunks(problem, order, schedule.block(_BLOCK) if dense else None, quarter, shown=shown):
            if len(chunk.y):
                update(_Run(chunk, labels.take(chunk.at), offsets[chunk.at], P, machines, step), losses)
            del chunk  # before the next is read
        # Rounded to one unit, so that those of parts of the classes add up to that of all.
        return float(np.rint(losses * (_UNITS / max(1, len(problem)))).sum() / _UNITS)

    def with_beta(self, beta: float | None) -> Self:
        """The same with another number of negatives."""
        return replace(self, beta=beta)

    def cost(self, k: int) -> float:
        """Classes that an example concerns."""
        return 1 + (k - 1 if self.beta is None else min(self.beta, k - 1))

    def _by_pairs(self, run: "_Run", losses: NDArray[np.float64]) -> None:
        _native.one_vs_rest(**run.native(self.loss), losses=losses, threads=get_threads())

    def _by_products(self, run: "_Run", losses: NDArray[np.float64]) -> None:
        X, machines = run.chunk.rows, run.machines
        S = sgd_scores(X, machines.W, PANEL)
        _native.one_vs_rest_block(**run.native(self.loss), G=sgd_gram(X), S=S, losses=losses, threads=get_threads())
        apply_updates(machines.W, S, X, PANEL)
        machines.fold_small()


@dataclass(frozen=True)
class _Run:
    """A chunk of examples with their offsets among the shares of the classes, on the way into the machines."""

    chunk: Chunk
    labels: LabelLists  # of the classes that the machines are of
    offsets: NDArray[np.float64]
    shares: NDArray[np.float64]
    machines: LinearWeights
    step: dict[str, Any]

    def native(self, loss: MarginLoss) -> dict[str, Any]:
        """As the compiled loops take it."""
        return {
            "X": self.chunk.rows,
            "y": self.labels.classes,
            "starts": self.labels.starts,
            "weights": self.chunk.weights,
            "offsets": self.offsets,
            "shares": self.shares,
            **self.machines.arrays(),
            "loss": loss.code,
            **self.step,
        }


_UNITS = 2.0**30  # of a mean loss; sums of them below 8 million are exact

# Classes of one product where nobody divides them. Measured, one thread, softmax: 133 ms an epoch of 1,000 classes of
# 1,024 columns, and 157 with half as many.
_CLASSES = 256


def sgd_scores(X: Singles, W: Singles, panel: int = _CLASSES) -> Singles:
    """X W' (m, k) for X (m, d) and W (k, d)."""
    S = np.empty((len(X), len(W)), np.float32)

    def fill(classes: slice) -> None:
        S[:, classes] = X @ W[classes].T

    for_each(fill, spans(len(W), panel))
    return S


def sgd_gram(X: Singles) -> Singles:
    """X X' (m, m)."""
    with one_blas_thread():
        return np.ascontiguousarray(X @ X.T)


def apply_updates(W: Singles, A: Singles, X: Singles, panel: int = _CLASSES) -> None:
    """W += A' X for A (m, k); what is mostly zeros is not multiplied."""

    def add(classes: slice) -> None:
        B = np.ascontiguousarray(A[:, classes])
        if np.count_nonzero(B) < 0.05 * B.size:
            _native.move_some(X, B, W[classes], 1)
        else:
            W[classes] += B.T @ X

    for_each(add, spans(len(W), panel))
