"""A smooth penalty and a smooth loss over rows that fit into memory: value, gradient and dual."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from manyclass.penalties.smooth import SmoothPenalty

Doubles = NDArray[np.float64]


class RowLoss(Protocol):
    """A smooth convex function of the scores of a row, and its conjugate."""

    def value_and_gradient(self, S: Any, y: Any) -> tuple[Doubles, Any]:
        """The loss of each row (n,) and its gradient by the scores (n, k)."""

    def conjugate(self, R: Any, y: Any) -> Doubles:
        """The conjugate at each row of R (n,)."""


class Point(NamedTuple):
    """What one evaluation at W knows: objective, gradient (p, k), X'R (p, k) and R (n, k), the losses' gradient."""

    objective: float
    gradient: Doubles
    pull: Doubles
    R: Doubles


@dataclass(frozen=True)
class SmoothProblem:
    """minimize over W (p, k)    penalty(W) + sum_i weight_i loss(x_i W, y_i)

    X (n, p) holds float64; weights (n,) are above 0. `fixed` (n, f) are scores of f further classes, which come before
    the k that are learned and stay as they are.
    """

    X: Doubles
    y: NDArray[Any]
    k: int
    weights: Doubles
    loss: RowLoss
    penalty: SmoothPenalty
    fixed: Doubles | None = None

    @classmethod
    def of(
        cls,
        X: Doubles,
        y: NDArray[Any],
        k: int,
        weights: Doubles,
        loss: RowLoss,
        penalty: SmoothPenalty,
        fixed: Doubles | None = None,
    ) -> "SmoothProblem":
        """The problem of the rows whose weight is above 0."""
        used = weights > 0
        if not used.all():
            X, y, weights, fixed = X[used], y[used], weights[used], None if fixed is None else fixed[used]
        return cls(X, y, k, weights, loss, penalty, fixed)

    @property
    def shape(self) -> tuple[int, int]:
        """That of W."""
        return self.X.shape[1], self.k

    def at(self, W: Doubles) -> Point:
        """The objective at W, and what comes with it."""
        S = self.X @ W
        values, R = self.loss.value_and_gradient(S if self.fixed is None else np.hstack([self.fixed, S]), self.y)
        R *= self.weights[:, None]
        pull = self.X.T @ R[:, -self.k :]
        value, gradient = self.penalty.value_and_gradient(W)
        return Point(value + float(self.weights @ values), gradient + pull, pull, R)

    def dual(self, point: Point) -> float:
        """A bound from below on the optimum, by Fenchel: -p*(-X'R) - sum_i weight_i L*(R_i / weight_i).

        R is that of the point, shrunk to where the bound is finite; at the optimum it is the optimum.
        """
        shrink = self.penalty.shrink(point.pull)
        R = shrink * point.R
        bound = -self.penalty.conjugate(shrink * point.pull)
        bound -= float(self.weights @ self.loss.conjugate(R / self.weights[:, None], self.y))
        return bound if self.fixed is None else bound + float(np.vdot(R[:, : -self.k], self.fixed))
