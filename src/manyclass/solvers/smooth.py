"""Smooth problems over rows that fit into memory, by L-BFGS that stops when a dual bound proves little is left to gain.

`Coordinates` are rows as points of their own space, in which every kernel is the plain product.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from manyclass._core.typing import Callback, Doubles
from manyclass.penalties.smoothed import SmoothPenalty


class RowLoss(Protocol):
    """A smooth convex function of the scores of a row, and its conjugate."""

    def value_and_gradient(self, S: Any, y: Any) -> tuple[Doubles, Any]:
        """The loss of each row (n,) and its gradient by the scores (n, k)."""

    def conjugate(self, R: Any, y: Any) -> Doubles:
        """The conjugate at each row of R (n,)."""


class SmoothPoint(NamedTuple):
    """What one evaluation at W knows: objective, gradient (p, k), X'R (p, k) and R (n, k), the losses' gradient."""

    objective: float
    gradient: Doubles
    loss_gradient: Doubles
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

    def at(self, W: Doubles) -> SmoothPoint:
        """The objective at W, and what comes with it."""
        S = self.X @ W
        values, R = self.loss.value_and_gradient(S if self.fixed is None else np.hstack([self.fixed, S]), self.y)
        R *= self.weights[:, None]
        loss_gradient = self.X.T @ R[:, -self.k :]
        value, gradient = self.penalty.value_and_gradient(W)
        return SmoothPoint(value + float(self.weights @ values), gradient + loss_gradient, loss_gradient, R)

    def dual(self, point: SmoothPoint) -> float:
        """A bound from below on the optimum, by Fenchel: -p*(-X'R) - sum_i weight_i L*(R_i / weight_i).

        R is that of the point, shrunk to where the bound is finite; at the optimum it is the optimum.
        """
        shrink = self.penalty.shrink(point.loss_gradient)
        R = shrink * point.R
        bound = -self.penalty.conjugate(shrink * point.loss_gradient)
        bound -= float(self.weights @ self.loss.conjugate(R / self.weights[:, None], self.y))
        return bound if self.fixed is None else bound + float(np.vdot(R[:, : -self.k], self.fixed))


# Bounds cost about as much as an iteration. Measured, 400 x 64, 20 classes: 3, 10, 30 take 0.14, 0.15, 0.17 s.
_BETWEEN_BOUNDS = 10

_MEMORY = 20  # pairs of L-BFGS; not tuned: there 5, 20 and 60 take 190, 180 and 190 iterations


@dataclass(frozen=True)
class SmoothSolution:
    """W (p, k), its objective, by how much that can be above the optimum, iterations, and whether that is little."""

    W: Doubles
    objective: float
    gap: float
    n_iter: int
    converged: bool


def minimize_smooth(
    problem: SmoothProblem,
    tolerance: float,
    max_iter: int,
    start: Doubles | None = None,
    callbacks: Sequence[Callback] = (),
) -> SmoothSolution:
    """The minimum, up to `tolerance` times the objective or the whole gain over W = 0, whichever is less.

    The callbacks are told of every iteration.
    """
    watch = _Watch(problem, tolerance, callbacks)
    W = np.zeros(problem.shape) if start is None else start
    if max_iter and not watch.bound_proves_enough(problem.at(W)):
        how = {"maxiter": max_iter, "maxfun": 20 * max_iter, "ftol": 0.0, "gtol": 0.0, "maxcor": _MEMORY}
        found = minimize(watch, W.ravel(), jac=True, method="L-BFGS-B", callback=watch.iterated, options=how)
        W = found.x.reshape(problem.shape)
    end = problem.at(W)
    converged = watch.bound_proves_enough(end)
    return SmoothSolution(W, end.objective, max(0.0, end.objective - watch.bound), watch.n_iter, converged)


class _Watch:
    """The objective as L-BFGS wants it, with an eye on the bound."""

    def __init__(self, problem: SmoothProblem, tolerance: float, callbacks: Sequence[Callback]):
        self.problem, self.tolerance, self.callbacks = problem, tolerance, callbacks
        nothing = problem.at(np.zeros(problem.shape))
        # R = 0 is a point of the dual too, and keeps the gap from being larger than what no loss can be below.
        origin = nothing._replace(loss_gradient=0 * nothing.loss_gradient, R=0 * nothing.R)
        self.bound, self.n_iter = problem.dual(origin), 0
        self.at_zero = nothing.objective
        self.point: SmoothPoint

    def __call__(self, w: Doubles) -> tuple[float, Doubles]:
        self.point = self.problem.at(w.reshape(self.problem.shape))
        return self.point.objective, self.point.gradient.ravel()

    def iterated(self, _: NDArray[np.float64]) -> None:
        self.n_iter += 1
        for callback in self.callbacks:
            objective = self.point.objective
            callback({"iteration": self.n_iter, "objective": objective, "gap": objective - self.bound})
        # The last evaluation was that of the point the line search took.
        if self.n_iter % _BETWEEN_BOUNDS == 0 and self.bound_proves_enough(self.point):
            raise StopIteration

    def bound_proves_enough(self, point: SmoothPoint) -> bool:
        self.bound = max(self.bound, self.problem.dual(point))
        # The objective holds constants that no W can change: near W = 0 little is left of it, and so of the right side.
        return point.objective - self.bound <= self.tolerance * min(point.objective, self.at_zero - self.bound)


class Coordinates(NamedTuple):
    """Z (n, p), and the way between weights on Z (p, k) and weights as they are kept, (m, k).

    Weights w on Z are kept as back @ w, and those that are kept were forth' @ w. Where Z is X itself both are None.
    """

    Z: Doubles
    back: Doubles | None = None
    forth: Doubles | None = None

    def kept(self, W: Doubles) -> Doubles:
        """Weights (m, k) as they are kept."""
        return W if self.back is None else self.back @ W

    def on_points(self, weights: Doubles) -> Doubles:
        """Weights (p, k) on Z, of weights that are kept."""
        return weights if self.forth is None else self.forth.T @ weights


def coordinates_of_rows(X: Doubles) -> Coordinates:
    """Rows X (n, d) themselves; with more columns than rows, in an orthonormal basis of what the rows span."""
    if X.shape[1] <= X.shape[0]:
        return Coordinates(X)
    Q, R = np.linalg.qr(X.T)
    return Coordinates(R.T, Q, Q)


def coordinates_of_gram(K: Doubles) -> Coordinates:
    """Points whose Gram matrix Z Z' is K (n, n); weights w on them are kept as a (n, k), for scores K a.

    Negative eigenvalues, which only a K that is no kernel has, are left out, as are those that are zero up to rounding.

    >>> coordinates_of_gram(np.array([[4.0, 0.0], [0.0, 0.0]])).Z
    array([[2.],
           [0.]])
    """
    squares, U = np.linalg.eigh((K + K.T) / 2)
    kept = squares > len(K) * np.finfo(np.float64).eps * max(squares[-1], 0)
    # One at least: a K of zeros gives points that are all zero.
    kept[-1] = True
    U, lengths = U[:, kept], np.sqrt(np.maximum(squares[kept], 0))
    Z = U * lengths
    return Coordinates(Z, np.divide(U, lengths, out=np.zeros_like(U), where=lengths > 0), Z)
