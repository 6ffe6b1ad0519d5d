"""The weights of all classes as stochastic gradient descent keeps them, and the classes of highest score.

Scores are made a panel of classes at a time, never all at once.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.parallel import thread_map
from manyclass._core.typing import Floats
from manyclass.data.matrix import Matrix, spans


@dataclass
class LinearWeights:
    """Class c scores scales[c] * W[c]' x + biases[c].

    The scale makes the decay of W by the ridge one multiplication; `steps` counts the examples that a class has seen.
    """

    W: NDArray[np.float32]  # (k, d)
    biases: NDArray[np.float32]  # (k,)
    scales: NDArray[np.float64]  # (k,): a decay of 1e-8 must not round away
    steps: NDArray[np.int64]  # (k,)

    @classmethod
    def zeros(cls, k: int, d: int) -> "LinearWeights":
        """Weights that have seen nothing."""
        return cls(np.zeros((k, d), np.float32), np.zeros(k, np.float32), np.ones(k), np.zeros(k, np.int64))

    @classmethod
    def of(cls, coef: Any, intercept: Any) -> "LinearWeights":
        """Machines with these weights, (k, d) and (k,), copied."""
        machines = cls.zeros(*np.shape(coef))
        machines.W[...], machines.biases[...] = coef, intercept
        return machines

    @classmethod
    def around(
        cls, coef: NDArray[np.float32], intercept: NDArray[np.float32], steps: NDArray[np.int64] | None = None
    ) -> "LinearWeights":
        """Machines whose weights are these very arrays; they have seen nothing, unless `steps` tells."""
        k = len(coef)
        return cls(coef, intercept, np.ones(k), np.zeros(k, np.int64) if steps is None else steps)

    def copy(self) -> "LinearWeights":
        """The same, apart."""
        return LinearWeights(self.W.copy(), self.biases.copy(), self.scales.copy(), self.steps.copy())

    def fold(self) -> None:
        """Multiply the scales into W."""
        self.W *= self.scales[:, None].astype(np.float32)
        self.scales[:] = 1

    def fold_small(self) -> None:
        """Fold before float32 runs out of digits."""
        if self.scales.min() < 1e-6:
            self.fold()

    def finite(self) -> bool:
        """Whether all is well; a step that is too large ends in infinity."""
        return bool(np.isfinite(self.biases).all() and np.isfinite(self.W).all())

    def best_classes(self, X: Matrix, index: NDArray[np.intp]) -> NDArray[np.intp]:
        """The class of highest score for some rows of X."""

        def block(at: slice) -> Scores:
            rows = X.rows(index[at]).astype(np.float32, copy=False)
            return lambda classes: self._scores(rows, classes)

        return top_classes(block, (len(index), X.shape[1]), len(self.W))[:, 0]

    def _scores(self, rows: Floats, classes: slice) -> Floats:
        S = rows @ self.W[classes].T
        S *= self.scales[classes].astype(np.float32)
        S += self.biases[classes]
        return S


# Rows enough to make a good product, unless they are very long, and panels whose scores stay in the cache.
_ROWS, _CLASSES = 64, 1024

_BYTES = 2 << 20

Places = NDArray[np.intp]

Scores = Callable[[slice], Floats]


def top_classes(block: Callable[[slice], Scores], shape: tuple[int, int], k: int, top: int = 1) -> Places:
    """The `top` of k classes for each of n rows (n, top), the best first; of equals the first.

    block(rows) reads some of the rows and gives their scores (m, p) for any slice of classes; `shape` is (n, d). Blocks
    and panels depend on the shapes alone, and so the bits do not depend on the number of threads.

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


def _best(scores: Scores, panels: list[slice], top: int) -> Places:
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
