"""Gradients by the scores, changed a little so that the gradient by b vanishes, as a point of the dual must."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from manyclass.data.tiles import Floats
from manyclass.solvers.baseline import Baseline
from manyclass.solvers.objective import Objective, Slope, Source

Doubles = NDArray[np.float64]
Labels = NDArray[np.intp]


class Feasible(Protocol):
    """Q' near Q = p R, whose columns add up to zero."""

    def gradient(self) -> Doubles:
        """X'Q' (d, k)."""

    def rows(self, R: Floats, y: Labels) -> Floats:
        """Q'_i / p_i, from R_i = Q_i / p_i, for rows of these classes."""


class Mixed:
    """(1 - share) (Q - p sums') + share Q0, with Q0 = p (shares - e_y)': no more products with X.

    Without its sums an entry of class c may leave the domain of the conjugate, by as much as that sum; Q0 is inside by
    the share of c among the rows. The gradient at W = 0 is not, for the smoothed hinge.
    """

    def __init__(self, objective: Objective, slope: Slope, base: Baseline):
        self.objective, self.slope, self.base = objective, slope, base
        over, shares = np.abs(slope.b), objective.rows.shares()
        inside = shares > 0
        self.share = float((over[inside] / (over[inside] + shares[inside])).max(initial=0.0))

    def gradient(self) -> Doubles:
        """X'Q' (d, k)."""
        G = self.slope.W.astype(np.float64)
        if not self.slope.b.any():
            return G
        centered = G - np.outer(self.base.mean, self.slope.b)
        return np.asarray((1 - self.share) * centered + self.share * self.base.allowed)

    def rows(self, R: Floats, y: Labels) -> Floats:
        """Q'_i / p_i."""
        if not self.slope.b.any():
            return R
        R0 = np.tile(self.objective.rows.shares().astype(R.dtype), (len(R), 1))
        R0[np.arange(len(R)), y] -= 1
        return ((1 - self.share) * (R - self.slope.b) + self.share * R0).astype(R.dtype)


class Scaled:
    """Q_i times t of its class, with t in [0, 1]: never outside the domain, but one more product with X.

    M (k, k), the sums of Q over the rows of each class, has rows that add up to zero and no negative entry but on its
    diagonal, where the gradient of a row is a distribution less its class. So t'M = 0 has a solution t >= 0, as the
    balance of a Markov chain has.
    """

    def __init__(self, objective: Objective, scores: Source, t: Doubles):
        self.objective, self.scores, self.t = objective, scores, t

    @classmethod
    def of(cls, objective: Objective, scores: Source) -> "Scaled | None":
        """None where no t is found."""
        M = _class_sums(objective, scores)
        size = float(np.abs(M).max(initial=0.0))
        if not objective.fit_intercept or not np.abs(M.sum(axis=1)).max(initial=0.0) <= 1e-5 * size:
            return None
        # Adding a constant to M fixes the length of t, and makes the rest regular unless classes fall apart.
        try:
            t = np.linalg.solve(M.T - size / len(M), np.full(len(M), -size))
        except np.linalg.LinAlgError:
            return None
        good = np.isfinite(t).all() and t.min() >= 0 and t.max() > 0
        return cls(objective, scores, t / t.max()) if good else None

    def gradient(self) -> Doubles:
        """X'Q' (d, k)."""
        rows, G = self.objective.rows, np.zeros((self.objective.d, self.objective.k))
        for part in self.objective.parts():
            y = rows.y[part]
            R = self.rows(rows.loss.value_and_gradient(self.scores(part), y)[1], y)
            R *= rows.p[part][:, None].astype(R.dtype)
            G += self.objective.rmatmat(R, part)
        return G

    def rows(self, R: Floats, y: Labels) -> Floats:
        """Q'_i / p_i."""
        return R * self.t[y][:, None].astype(R.dtype)


def _class_sums(objective: Objective, scores: Source) -> Doubles:
    """The sum of p_i R_i over the rows of each class (k, k)."""
    from scipy.sparse import csr_matrix

    rows, total = objective.rows, np.zeros((objective.k, objective.k))
    for part in objective.parts():
        y, p = rows.y[part], rows.p[part]
        R = rows.loss.value_and_gradient(scores(part), y)[1]
        total += csr_matrix((p, (y, np.arange(len(y)))), (objective.k, len(y))) @ R.astype(np.float64)
    return total
