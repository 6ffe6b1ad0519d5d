"""Stochastic gradient descent on the weights of all classes, epoch after epoch, until validation says enough.

The classes of highest score, by which weights are judged, are found a panel of classes at a time: the scores of all
classes are never held at once.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from manyclass._core.parallel import thread_map
from manyclass._core.typing import Floats
from manyclass.data.matrix import Matrix, spans
from manyclass.solvers.problem import Problem, Scorer
from manyclass.solvers.sgd.sampling import Quarter, Schedule
from manyclass.solvers.shortlist import SCORES, top_by_shortlist

# Classes of one product. Parts of the classes begin at multiples of it, and have the bits of all of them together.
PANEL = 128


@dataclass
class LinearWeights:
    """Class c scores scales[c] * W[c]' x + biases[c].

    The scale makes the decay of W by the ridge one multiplication; `steps` counts the examples that a class has seen.
    Machines may be of a part of the classes only: then k is their number, and row 0 of W is of the class `first`.
    """

    W: NDArray[np.float32]  # (k, d)
    biases: NDArray[np.float32]  # (k,)
    scales: NDArray[np.float64]  # (k,): a decay of 1e-8 must not round away
    steps: NDArray[np.int64]  # (k,)
    first: int = 0

    @classmethod
    def zeros(cls, k: int, d: int, first: int = 0) -> "LinearWeights":
        """Weights that have seen nothing."""
        return cls(np.zeros((k, d), np.float32), np.zeros(k, np.float32), np.ones(k), np.zeros(k, np.int64), first)

    @classmethod
    def of(cls, coef: Any, intercept: Any) -> "LinearWeights":
        """Machines with these weights, (k, d) and (k,), copied."""
        return cls.around(np.array(coef, np.float32, order="C"), np.array(intercept, np.float32))

    @classmethod
    def around(
        cls, coef: NDArray[np.float32], intercept: NDArray[np.float32], steps: NDArray[np.int64] | None = None
    ) -> "LinearWeights":
        """Machines whose weights are these very arrays; they have seen nothing, unless `steps` tells."""
        k = len(coef)
        return cls(coef, intercept, np.ones(k), np.zeros(k, np.int64) if steps is None else steps)

    def copy(self) -> "LinearWeights":
        """The same, apart."""
        return LinearWeights(self.W.copy(), self.biases.copy(), self.scales.copy(), self.steps.copy(), self.first)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What is learned, by name."""
        return {"W": self.W, "biases": self.biases, "scales": self.scales, "steps": self.steps}

    def lift(self, X: Matrix) -> "LinearWeights":
        """The same with weights of the columns that the rows of X came with."""
        panels = spans(len(self.W), PANEL)
        W = [np.ascontiguousarray(X.lift(self.W[at].T).T, np.float32) for at in panels]
        added = [np.broadcast_to(X.offsets(self.W[at].T), at.stop - at.start) for at in panels]
        return replace(self, W=np.concatenate(W), biases=(self.biases + np.concatenate(added)).astype(np.float32))

    def fold(self) -> None:
        """Multiply the scales into W."""
        self.W *= self.scales[:, None].astype(np.float32)
        self.scales[:] = 1

    def fold_small(self) -> None:
        """Fold those classes of which float32 would run out of digits."""
        if len(small := np.flatnonzero(self.scales < 1e-6)):
            self.W[small] *= self.scales[small, None].astype(np.float32)
            self.scales[small] = 1

    def finite(self) -> bool:
        """Whether all is well; a step that is too large ends in infinity."""
        return bool(np.isfinite(self.biases).all() and np.isfinite(self.W).all())

    def best_classes(self, X: Matrix, index: NDArray[np.intp]) -> NDArray[np.intp]:
        """The class of highest score for some rows of X."""

        def rows(at: slice) -> Floats:
            return X.rows(index[at]).astype(np.float32, copy=False)

        def block(at: slice) -> Scorer:
            some = rows(at)
            return lambda classes: self._scores(some, classes)

        shape = len(index), X.shape[1]
        many = len(index) * len(self.W) >= SCORES and (self.scales == 1).all()
        found = top_by_shortlist(rows, shape, self.W, self.biases, 1) if many else None
        return (top_classes(block, shape, len(self.W)) if found is None else found)[:, 0]

    def _scores(self, rows: Floats, classes: slice) -> Floats:
        S = rows @ self.W[classes].T
        S *= self.scales[classes].astype(np.float32)
        S += self.biases[classes]
        return S


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
    keeps_best: bool = True  # whether the best are of use later, and not only when they were
    history: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def start(cls, machines: LinearWeights) -> "SgdRun":
        """A descent from these machines."""
        return cls(machines, machines.copy())

    @property
    def is_judged(self) -> bool:
        """Whether there was a score yet."""
        return self.best_score >= 0

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
        at_start = self.is_judged and self.best_epoch == 0
        if at_start and not stopping.surpasses(score, self.best_score):
            self.stale += 1
            return self.stale >= stopping.start_patience
        if stopping.as_good(score, self.best_score):
            self.best_score, self.best_epoch = max(score, self.best_score), self.epoch
            if self.best is not None:
                self.best.W[...], self.best.biases[...] = self.mean.W, self.mean.biases
            elif self.keeps_best:
                self.best = self.mean.copy()
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


def mean_class_accuracy(problem: Problem) -> Callable[[LinearWeights], float]:
    """The fraction of examples given their own class, in each class, averaged over the classes that occur."""
    y = problem.y[problem.index]
    return lambda machines: balanced_accuracy(machines.best_classes(problem.X, problem.index) == y, y)


def balanced_accuracy(right: NDArray[np.bool_], y: NDArray[np.int32]) -> float:
    """Of what is right (n,) and what classes it is of (n,): the fraction in each class, averaged over those that occur.

    >>> balanced_accuracy(np.array([True, True, True, False]), np.array([0, 0, 0, 2]))
    0.5
    """
    counts = np.bincount(y)
    hits = np.bincount(y[right], minlength=len(counts))
    return float((hits[counts > 0] / counts[counts > 0]).mean())


# Rows enough to make a good product, unless they are very long, and panels whose scores stay in the cache.
_ROWS, _CLASSES = 64, 1024

_BYTES = 2 << 20

Places = NDArray[np.intp]


def top_classes(block: Callable[[slice], Scorer], shape: tuple[int, int], k: int, top: int = 1) -> Places:
    """Find the classes of highest score for each of n rows, the best first; of equals the first.

    Blocks and panels depend on the shapes alone, and so the bits do not depend on the number of threads.

    Parameters
    ----------
    block : callable
        The function (rows) that reads a slice of the rows, and gives the function (classes) of their scores (m, p)
        for a slice of classes.
    shape : tuple of int
        (n, d), the shape of X.
    k : int
        The number of classes.
    top : int, default=1
        How many classes to find, at most k.

    Returns
    -------
    ndarray of intp of shape (n, top)
        The classes.

    Examples
    --------
    >>> S = np.array([[1, 3, 3], [2, 1, 0]])
    >>> top_classes(lambda rows: lambda classes: S[rows, classes], (2, 1), 3, top=2)
    array([[1, 2],
           [0, 1]])
    """
    n, d = shape
    height = max(1, min(_ROWS, _BYTES // (2 * max(1, d)), _BYTES // (16 * top)))
    # As many classes as have a copy of their weights in float64, which rows of float64 need, in so many bytes.
    panels = spans(k, max(8, min(_CLASSES, _BYTES // (8 * max(1, d)))))
    found = thread_map(lambda rows: _best(block(rows), panels, top), spans(n, height))
    return np.concatenate([np.zeros((0, top), np.intp), *found])


def _best(scores: Scorer, panels: list[slice], top: int) -> Places:
    first, *others = panels
    S = scores(first)
    classes = _highest(S, top)
    values = np.take_along_axis(S, classes, axis=1)
    for panel in others:
        # What is best so far stands before the panel, as its classes do: of equals the first stay first.
        S = np.concatenate([values, scores(panel)], axis=1)
        places = _highest(S, top)
        values, old = np.take_along_axis(S, places, axis=1), classes.shape[1]
        known = np.take_along_axis(classes, np.minimum(places, old - 1), axis=1)
        classes = np.where(places < old, known, places - old + panel.start)
    return classes


def _highest(S: Floats, top: int) -> Places:
    """Where the highest numbers of each row are, the highest first, of equals the first; all if they are fewer."""
    if top == 1:
        first: Places = np.argmax(S, axis=1, keepdims=True)
        return first
    if top >= S.shape[1]:
        return np.argsort(-S, axis=1, kind="stable")
    places = np.argpartition(S, -top, axis=1)[:, -top:]
    least = np.take_along_axis(S, places[:, :1], axis=1)
    # A partition picks any of those that equal the least.
    tied = np.count_nonzero(least <= S, axis=1) > top
    places[tied] = np.argsort(-S[tied], axis=1, kind="stable")[:, :top]
    places.sort(axis=1)
    order = np.argsort(-np.take_along_axis(S, places, axis=1), axis=1, kind="stable")
    found: Places = np.take_along_axis(places, order, axis=1)
    return found
