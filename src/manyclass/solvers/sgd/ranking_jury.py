"""How machines rank rows that have any number of classes: the average precision of every class, and its mean.

The average precision of a class is the mean, over its rows, of the precision at the score of each: the part of the rows
of that score or more that are of the class. So every pair of a row and a class of it has a credit, as every row of one
class has, which is 1 if that class wins, and the same rules compare and average both. No machine needs to know of the
others, and ranges of the classes are judged apart.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.parallel import one_blas_thread, thread_map
from manyclass._core.typing import Doubles, Singles
from manyclass.data.matrix import spans
from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd.linear_weights import PANEL, LinearWeights

_BYTES = 1 << 22  # of rows that are scored at a time


@dataclass(frozen=True)
class RankingJury:
    """Who judges by the rows of a problem, which may have several classes or none."""

    problem: Problem

    @cached_property
    def y(self) -> NDArray[np.int32]:
        """The class of every pair (m,), in the order of classes."""
        return np.repeat(np.arange(self.problem.k, dtype=np.int32), self._sizes)

    def right(self, machines: LinearWeights) -> Doubles:
        """The credit of every pair whose class the machines are of, in [0, 1]."""
        panels = [slice(at.start, at.stop) for at in spans(len(machines.W), PANEL)]
        found = thread_map(lambda at: self._credits(machines, at), panels)
        return np.concatenate([np.zeros(0), *found])

    def gather(self, ask: Callable[..., list[Any]]) -> Doubles:
        """The credits of all pairs, of workers that have a range of the classes each."""
        return np.concatenate(ask("credits"))

    def scores(self, machines: LinearWeights, at: Any) -> Singles:
        """The scores of all rows by some of the classes that the machines are of (m, n)."""
        index, X = self.problem.index, self.problem.X
        W = machines.W[at] * machines.scales[at, None].astype(np.float32)
        S = np.empty((len(W), len(index)), np.float32)
        with one_blas_thread():
            for rows in spans(len(index), max(64, _BYTES // (4 * max(1, self.problem.d)))):
                S[:, rows] = W @ X.rows(index[rows]).astype(np.float32, copy=False).T
        S += machines.biases[at, None]
        return S

    def rows_of(self, c: int) -> NDArray[np.int64]:
        """Places among the rows of the problem that are of a class."""
        return self._by_class[self._ends[c] : self._ends[c + 1]]

    def _credits(self, machines: LinearWeights, at: slice) -> Doubles:
        S = self.scores(machines, at)
        first = machines.first + at.start
        return np.concatenate([precisions(row, self.rows_of(c)) for c, row in enumerate(S, first)])

    @cached_property
    def _sizes(self) -> NDArray[np.intp]:
        return self.problem.sizes

    @cached_property
    def _ends(self) -> NDArray[np.intp]:
        return np.concatenate([[0], np.cumsum(self._sizes)])

    @cached_property
    def _by_class(self) -> NDArray[np.int64]:
        lists = self.problem.label_lists(self.problem.index)
        return lists.rows[np.argsort(lists.classes, kind="stable")]


def precisions(scores: Singles, own: NDArray[np.int64]) -> Doubles:
    """The precision at the score of each of some rows: of all rows that score as much or more, the part that is own.

    Their mean is the average precision, as scikit-learn has it.

    >>> precisions(np.float32([0.9, 0.1, 0.5, 0.5]), np.array([0, 2]))
    array([1.        , 0.66666667])
    """
    if not len(own):
        return np.zeros(0)
    mine = scores[own]
    ranked, among = np.sort(scores), np.sort(mine)
    above = len(scores) - np.searchsorted(ranked, mine)
    return np.asarray((len(mine) - np.searchsorted(among, mine)) / above)
