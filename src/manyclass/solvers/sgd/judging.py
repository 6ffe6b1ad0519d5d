"""Which rows are given their own class: by all classes at once, or by ranges of them that are judged apart.

Whoever has a range of the classes, beginning at a multiple of PANEL, opens with the scores of the rows of its own
classes, and with a few of its weights. Once all have heard all of that, each gives a verdict, the best class of its
range for every row, and the best of the verdicts is the class of the row. A score depends on its row and its class
alone, and so does whether packed weights rule a class out: they do where it cannot reach the own class of the row.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from manyclass import _native
from manyclass._core.parallel import for_each, one_blas_thread, thread_map
from manyclass._core.typing import Doubles, Singles
from manyclass.data.matrix import spans
from manyclass.losses.multiclass import best_temperature
from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd.linear_weights import LinearWeights
from manyclass.solvers.sgd.ranking_jury import RankingJury
from manyclass.solvers.shortlist import LONGEST, SAMPLE, ClassShortlist, ClassUnits, is_sane, packing_pays

_EVERY = 32  # of so many classes one has its weights told, by which all are packed; a divisor of PANEL

_BYTES = 1 << 20  # of rows that are scored at a time, if not by packed weights

_ROWS = 256  # that are scored by these at a time, as the compiled loop takes them; 1,024 are as fast


@dataclass(frozen=True)
class Opening:
    """What those who judge tell one another first; nothing where packed weights would not pay."""

    own: Singles  # (n,) scores by the own class of every row; NaN where that is not of the range
    some: Singles  # (m, d) the weights of every 32nd class
    biases: Singles  # (m,)

    @classmethod
    def join(cls, parts: Iterable[Self]) -> Self:
        """What all have told, in the order of their classes."""
        own, some, biases = zip(*((part.own, part.some, part.biases) for part in parts), strict=True)
        return cls(np.fmax.reduce(own), np.concatenate(some), np.concatenate(biases))


@dataclass(frozen=True)
class Verdict:
    """A class of a range for every row: the best, or any that beats the own class of the row.

    None, -1 of score -infinity, where packed weights rule all of them out.
    """

    scores: Singles  # (n,)
    classes: NDArray[np.int64]  # (n,)

    @classmethod
    def join(cls, parts: Iterable[Self]) -> Self:
        """The verdict of all ranges: the higher score, and of equals the first class.

        >>> one, other = Verdict(np.float32([1, 2]), np.array([3, 3])), Verdict(np.float32([1, 4]), np.array([2, 9]))
        >>> Verdict.join([one, other]).classes.tolist()
        [2, 9]
        """
        first, *others = parts
        scores, classes = first.scores.copy(), first.classes.copy()
        for other in others:
            better = (other.scores > scores) | ((other.scores == scores) & (other.classes < classes))
            scores[better], classes[better] = other.scores[better], other.classes[better]
        return cls(scores, classes)


_Found = tuple[Singles, NDArray[np.int64]]  # scores and classes of some rows


@dataclass(frozen=True)
class Jury:
    """Who judges the rows of a problem by its classes, or by a range of them."""

    problem: Problem

    def right(self, machines: LinearWeights) -> NDArray[np.bool_]:
        """Which rows are given their own class by machines of all classes; of equals the first is given."""
        return self.is_own(self.verdict(machines, self.opening(machines)))

    @property
    def y(self) -> NDArray[np.int32]:
        """The class of every row."""
        return self.problem.y[self.problem.index]

    def gather(self, ask: Callable[..., list[Any]]) -> NDArray[np.bool_]:
        """Which rows are given their own class by workers that have a range of the classes each."""
        opening = Opening.join(ask("opening"))
        return self.is_own(Verdict.join(ask("verdict", opening)))

    def is_own(self, verdict: Verdict) -> NDArray[np.bool_]:
        """Which rows are given their own class by the verdict of all ranges."""
        own: NDArray[np.bool_] = verdict.classes == self._y
        return own

    def opening(self, machines: LinearWeights) -> Opening:
        """What the others need to know of a range of classes."""
        n, d = len(self._y), self.problem.d
        if not packing_pays(n, self.problem.k, d):
            return Opening(*(np.zeros(shape, np.float32) for shape in (0, (0, d), 0)))
        machines, own, y = _folded(machines), np.full(n, np.nan, np.float32), self._y - machines.first
        held = np.flatnonzero((y >= 0) & (y < len(machines.W)))

        def score(at: slice) -> None:
            which = held[at]
            scores = np.empty(len(which), np.float32)
            _native.own_scores(self._rows(which), machines.W, machines.biases, y[which], scores)
            own[which] = scores

        for_each(score, spans(len(held), _ROWS))
        return Opening(own, machines.W[::_EVERY].copy(), machines.biases[::_EVERY].copy())

    def verdict(self, machines: LinearWeights, opening: Opening) -> Verdict:
        """What a range of classes says, once all have opened."""
        machines = _folded(machines)
        units = self._units(opening) if len(opening.own) else None
        packed = None if units is None else ClassShortlist.pack(machines.W, machines.biases, *units)[0]

        # Rows enough to make up for the panels of classes that all scores are made by, and small beside X.
        height = _ROWS if packed else min(4 * _ROWS, max(64, _BYTES // (4 * max(1, self.problem.d))))

        def judge(at: slice) -> _Found:
            rows = self._rows(np.arange(at.start, at.stop))
            if packed is None:
                return _by_all_scores(rows, machines)
            return _by_packed_weights(rows, machines, packed, opening.own[at], self._y[at] - machines.first)

        found = [(np.zeros(0, np.float32), np.zeros(0, np.int64)), *thread_map(judge, spans(len(self._y), height))]
        scores, classes = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return Verdict(scores, np.where(classes < 0, -1, classes + machines.first))

    @cached_property
    def _y(self) -> NDArray[np.int64]:
        return self.problem.y[self.problem.index].astype(np.int64)

    def _rows(self, which: NDArray[np.intp]) -> Singles:
        return np.ascontiguousarray(self.problem.X.rows(self.problem.index[which]), np.float32)

    def _units(self, opening: Opening) -> tuple[ClassUnits, float] | None:
        """What all pack their weights by; None where that misses a rival among some classes, or takes long."""
        which = np.linspace(0, len(self._y) - 1, SAMPLE).astype(np.intp)
        rows, own, y = self._rows(which), opening.own[which], self._y[which]
        if not (is_sane(rows) and is_sane(opening.biases)):
            return None
        units = ClassUnits.of(opening.some, rows.mean(axis=0))
        packed, _ = ClassShortlist.pack(opening.some, opening.biases, units)
        packed = replace(packed, rounding=packed.usual_rounding())
        known = np.where(y % _EVERY == 0, y // _EVERY, -1)
        _, rivals, looks = packed.rivals(rows, own, known)
        with one_blas_thread():
            S = rows @ opening.some.T + opening.biases
        S[known >= 0, known[known >= 0]] = -np.inf
        missed = (rivals == -1) & (S.max(axis=1) > own + 1e-5 * np.abs(own))
        return None if missed.any() or looks > LONGEST * S.size else (units, packed.rounding)


def _folded(machines: LinearWeights) -> LinearWeights:
    """The same without scales."""
    if (machines.scales == 1).all():
        return machines
    machines = machines.copy()
    machines.fold()
    return machines


def _by_all_scores(rows: Singles, machines: LinearWeights) -> _Found:
    scores, classes = np.full(len(rows), -np.inf, np.float32), np.full(len(rows), -1, np.int64)
    _native.best_classes(rows, machines.W, machines.biases, 0, scores, classes)
    return scores, classes


def _by_packed_weights(
    rows: Singles, machines: LinearWeights, packed: ClassShortlist, own: Singles, y: NDArray[np.int64]
) -> _Found:
    scores, classes, _ = packed.rivals(rows, own, y)
    alone = (classes == -1) & (y >= 0) & (y < len(machines.W))
    scores[alone], classes[alone] = own[alone], y[alone]
    unknown = classes < -1
    if unknown.any():
        scores[unknown], classes[unknown] = _by_all_scores(rows[unknown], machines)
    return scores, classes


AnyJury = Jury | RankingJury

Right = NDArray[np.bool_] | Doubles  # which rows are right, or how much of each pair of a row and its class


class Judged(Protocol):
    """Weights that a jury can judge, wherever they are."""

    def right(self, jury: AnyJury) -> Right:
        """Which examples are given their own class."""


def jury_of(problem: Problem) -> AnyJury:
    """Who judges by these examples: by whether their class wins, or, of several, by how each ranks them."""
    return Jury(problem) if problem.labels is None else RankingJury(problem)


def mean_class_accuracy(problem: Problem) -> Callable[[Judged], float]:
    """The fraction of examples given their own class, in each class, averaged over the classes that occur.

    Of examples with several classes it is the mean average precision.
    """
    jury = jury_of(problem)
    y = jury.y
    return lambda weights: balanced_accuracy(weights.right(jury), y)


def balanced_accuracy(right: Right, y: NDArray[np.int32]) -> float:
    """Of what is right (n,) and what classes it is of (n,): the fraction in each class, averaged over those that occur.

    >>> balanced_accuracy(np.array([True, True, True, False]), np.array([0, 0, 0, 2]))
    0.5
    """
    counts = np.bincount(y)
    hits = np.bincount(y, right, len(counts))
    return float((hits[counts > 0] / counts[counts > 0]).mean())


_SCORES = 1 << 18  # that a temperature is found by


def softmax_temperature(machines: LinearWeights, judged: Problem) -> float:
    """The T at which softmax(scores / T) fits examples best that machines have not seen.

    A few hundred are enough. Where all are right, any T would be too high; as if one more had been wrong, the best one
    is finite.
    """
    n = len(judged.index)
    index = judged.index[np.linspace(0, n - 1, min(n, max(128, _SCORES // judged.k))).astype(np.intp)]
    with one_blas_thread():  # the same bits for any number of threads
        S = judged.X.rows(index).astype(np.float32, copy=False) @ machines.W.T + machines.biases
    return best_temperature(S, judged.y[index], judged.weights[index], smoothing=1 / (1 + len(index)))
