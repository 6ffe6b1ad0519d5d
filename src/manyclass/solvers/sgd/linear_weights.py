"""LinearWeights: the machines of all classes, or of a range of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.algebra.linalg import aligned_copy, aligned_zeros
from manyclass.data.matrix import Matrix, spans

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
        return cls(aligned_zeros((k, d)), np.zeros(k, np.float32), np.ones(k), np.zeros(k, np.int64), first)

    @classmethod
    def of(cls, coef: Any, intercept: Any) -> "LinearWeights":
        """Machines with these weights, (k, d) and (k,), copied."""
        return cls.around(aligned_copy(coef), np.array(intercept, np.float32))

    @classmethod
    def around(
        cls, coef: NDArray[np.float32], intercept: NDArray[np.float32], steps: NDArray[np.int64] | None = None
    ) -> "LinearWeights":
        """Machines whose weights are these very arrays; they have seen nothing, unless `steps` tells."""
        k = len(coef)
        return cls(coef, intercept, np.ones(k), np.zeros(k, np.int64) if steps is None else steps)

    @classmethod
    def join(cls, ranges: Sequence["LinearWeights"]) -> "LinearWeights":
        """The machines of ranges that follow one another, copied."""
        whole = cls.zeros(sum(len(one.W) for one in ranges), ranges[0].W.shape[1], ranges[0].first)
        for one in ranges:
            whole.put(one)
        return whole

    def part(self, classes: range) -> "LinearWeights":
        """Those of a range of classes, in the very same arrays."""
        at = slice(classes.start - self.first, classes.stop - self.first)
        return LinearWeights(**{name: array[at] for name, array in self.arrays().items()}, first=classes.start)

    def put(self, part: "LinearWeights") -> None:
        """Copy the machines of some of the classes to their place."""
        for name, array in self.part(part.classes).arrays().items():
            array[...] = part.arrays()[name]

    @property
    def classes(self) -> range:
        """The classes that they are of."""
        return range(self.first, self.first + len(self.W))

    def are_new(self) -> bool:
        """Whether they have weights of zero alone, and have seen nothing."""
        return not (self.steps.any() or self.biases.any() or any(self.W[at].any() for at in spans(len(self.W), PANEL)))

    def copy(self) -> "LinearWeights":
        """The same, apart."""
        W, biases = aligned_copy(self.W), self.biases.copy()
        return LinearWeights(W, biases, self.scales.copy(), self.steps.copy(), self.first)

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
        panels = (self.W[at] for at in spans(len(self.W), PANEL))  # for no array of bytes beside W
        return bool(np.isfinite(self.biases).all() and all(np.isfinite(panel).all() for panel in panels))
