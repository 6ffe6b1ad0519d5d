"""Machines: one linear machine for every class, as stochastic gradient descent keeps them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.data.matrix import Matrix
from manyclass.data.tiles import Floats
from manyclass.solvers.best_classes import Scores, best_classes


@dataclass
class Machines:
    """Class c scores scales[c] * W[c]' x + biases[c].

    The scale makes the decay of W by the ridge one multiplication; `steps` counts the examples that a class has seen.
    """

    W: NDArray[np.float32]  # (k, d)
    biases: NDArray[np.float32]  # (k,)
    scales: NDArray[np.float64]  # (k,): a decay of 1e-8 must not round away
    steps: NDArray[np.int64]  # (k,)

    @classmethod
    def zeros(cls, k: int, d: int) -> "Machines":
        """Machines that have seen nothing."""
        return cls(np.zeros((k, d), np.float32), np.zeros(k, np.float32), np.ones(k), np.zeros(k, np.int64))

    @classmethod
    def of(cls, coef: Any, intercept: Any) -> "Machines":
        """Machines with these weights, (k, d) and (k,), copied."""
        machines = cls.zeros(*np.shape(coef))
        machines.W[...], machines.biases[...] = coef, intercept
        return machines

    @classmethod
    def around(
        cls, coef: NDArray[np.float32], intercept: NDArray[np.float32], steps: NDArray[np.int64] | None = None
    ) -> "Machines":
        """Machines whose weights are these very arrays; they have seen nothing, unless `steps` tells."""
        k = len(coef)
        return cls(coef, intercept, np.ones(k), np.zeros(k, np.int64) if steps is None else steps)

    def copy(self) -> "Machines":
        """The same, apart."""
        return Machines(self.W.copy(), self.biases.copy(), self.scales.copy(), self.steps.copy())

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

        return best_classes(block, (len(index), X.shape[1]), len(self.W))[:, 0]

    def _scores(self, rows: Floats, classes: slice) -> Floats:
        S = rows @ self.W[classes].T
        S *= self.scales[classes].astype(np.float32)
        S += self.biases[classes]
        return S
