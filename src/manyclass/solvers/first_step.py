"""The first step of new columns, chosen on some of the rows: which way, and how far."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyclass._blas import one_thread
from manyclass.data.tiles import Floats
from manyclass.losses.score_loss import ScoreLoss
from manyclass.solvers.objective import Objective
from manyclass.solvers.points import Product

Doubles = NDArray[np.float64]

_FURTHER = 1.5  # a length is found up to this factor


class Sample(NamedTuple):
    """Some rows, their classes, and their shares among themselves."""

    X: Floats
    y: NDArray[np.intp]
    p: Doubles

    def best_length(self, objective: Objective, point: Product, A: Floats, B: Floats, strength: float) -> float:
        """The t for which W + t A B' is about the best on these rows."""
        S = ((self.X @ point.A) @ point.B.T + point.b).astype(objective.dtype)
        D = (self.X @ A) @ B.T
        cost = strength * float(np.vdot(A, A) + np.vdot(B, B)) / 2
        loss = objective.rows.loss

        def value(t: float) -> float:
            return float(self.p @ loss.in_place(S + D.dtype.type(t) * D, self.y)) + t * cost

        return _along(value, _careful(self, loss, S, D))


def some_rows(objective: Objective, most: int) -> Sample:
    """Rows spread evenly."""
    rows = np.unique(np.linspace(0, objective.n - 1, most).astype(np.intp))
    p = objective.rows.p[rows]
    return Sample(objective.X.rows(rows), objective.rows.y[rows], p / max(float(p.sum()), 1e-300))


def evened(X: Floats, G: Doubles) -> Doubles:
    """(X'X / n + typical I)^-1 G (d, r): less along what X is long in, where the same step would change scores most.

    What is typical is the mean eigenvalue of X'X / n, each counted by its size. As X has few rows, the inverse is taken
    of X X' (Woodbury): a more exact one would fit these few rows only.
    """
    with one_thread():
        K = (X @ X.T).astype(np.float64) / len(X)
        typical = float(np.vdot(K, K)) / max(float(np.trace(K)), 1e-300)
        if typical <= 0:
            return G
        weights = np.linalg.solve(K + typical * np.eye(len(K)), X.astype(np.float64) @ G)
        return np.asarray(G - X.T @ (weights / len(X)))


def _careful(sample: Sample, loss: ScoreLoss, S: Floats, D: Floats) -> float:
    """A length that no curvature makes too long."""
    R = S.copy()
    loss.in_place(R, sample.y, sample.p)
    slope, bend = (
        -float(np.vdot(R, D)),
        loss.curvature * float(sample.p @ np.einsum("nk,nk->n", D, D, dtype=np.float64)),
    )
    return slope / bend if slope > 0 and bend > 0 else 1.0


def _along(value: Callable[[float], float], t: float) -> float:
    """The best of t, and of ever longer ones as long as they are better."""
    last = value(t)
    while (further := value(_FURTHER * t)) < last:
        t, last = _FURTHER * t, further
    return t
