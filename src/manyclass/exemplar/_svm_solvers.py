"""Solvers of exemplar support vector machines, for many images at once: stochastic gradients, and the dual.

`ExemplarSgd` makes T steps, as published. `DualDescent`, coordinate descent, goes to any accuracy. The bias is free, so
the dual has sum_i alpha_i = alpha_0 for the positive, and with z_i = x - x_i it is

    maximize  2 S - |sum_i alpha_i z_i|^2 / (2 lambda)   over  0 <= alpha_i <= 1/n,  S = sum_i alpha_i <= theta,

with w = sum_i alpha_i z_i / lambda. S <= theta says something only if theta < 1; its multiplier xi is the slack of the
positive, w'x + b = 1 - xi, and is found by the method of multipliers. Both see negatives in blocks.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from manyclass._core.typing import Doubles
from manyclass.data.matrix import spans

BLOCK = 128  # negatives whose Gram matrix is made at once; larger blocks save turns of the loop and cost products


class NegativeBlock:
    """Scores w'x_i of the rows of a block, for b classifiers that change from row to row.

    Every change is one of w = c (w_0 + a x - sum_i D_i x_i), with x the positive of the classifier and x_i rows of the
    block; so scores come from products with w_0 and from the Gram matrix of the block, and w itself is made once, after
    the last row. The result is that of the plain loop.
    """

    def __init__(self, rows: Doubles, W: Doubles, positives: Doubles):
        """rows (m, d); W (b, d), the classifiers before the block; positives (b, d)."""
        self.rows, self.W, self.positives = rows, W, positives
        self.gram = rows @ rows.T  # (m, m)
        self.scores = rows @ W.T  # (m, b)
        self.near = rows @ positives.T  # x_i'x (m, b)
        self.squares = np.einsum("ij,ij->i", positives, positives)
        self.a = np.zeros(len(W))
        self.D = np.zeros((len(rows), len(W)))

    def score(self, i: int) -> Doubles:
        """(w_0 + a x - sum_j D_j x_j)'x_i (b,), where only rows before i have had their turn."""
        s: Doubles = self.scores[i] + self.a * self.near[i]
        s -= self.gram[i, :i] @ self.D[:i]
        return s

    def change(self, i: int, a: Doubles, D: Doubles) -> Doubles:
        """Add a x - D x_i to every classifier, and say by how much its score of its positive x grows."""
        self.a += a
        self.D[i] = D
        grown: Doubles = a * self.squares - D * self.near[i]
        return grown

    def classifiers(self) -> Doubles:
        """w_0 + a x - sum_i D_i x_i (b, d)."""
        W: Doubles = self.W + self.a[:, None] * self.positives
        W -= self.D.T @ self.rows
        return W


@dataclass(frozen=True)
class ExemplarSgd:
    """Steps on theta max(0, 1 - f(x)) + max(0, 1 + f(x_i)) + lambda/2 |w|^2, with f(z) = w'z + b.

    The negative x_i of a step is drawn beforehand and is the same for all positives x, so that a positive has the same
    classifier alone and among others. The step falls as 1 / (lambda t + square), where `square` is the mean of
    |x_i|^2; that of the bias, which is not regularized, is `square` times longer: a constant feature of that size.
    """

    regularization: float
    positive_weight: float
    square: float

    def run(
        self, rows: Callable[[NDArray[np.intp]], Doubles], drawn: NDArray[np.intp], positives: Doubles
    ) -> tuple[Doubles, Doubles]:
        """(W (b, d), biases (b,)) of positives (b, d) after one step for each of the drawn negatives."""
        W, bias = np.zeros_like(positives), np.zeros(len(positives))
        for at in spans(len(drawn), BLOCK):
            W, bias = self._pass(NegativeBlock(rows(drawn[at]), W, positives), bias, at.start)
        return W, bias

    def _pass(self, block: NegativeBlock, bias: Doubles, t: int) -> tuple[Doubles, Doubles]:
        # w is c times what the block holds, as every step shrinks all of it.
        c, own = 1.0, np.einsum("ij,ij->i", block.W, block.positives)
        for i in range(len(block.rows)):
            step = 1 / (self.regularization * (t + i) + max(self.square, self.regularization))
            missed = self.positive_weight * (c * own + bias < 1)
            crossed = (c * block.score(i) + bias > -1).astype(np.float64)
            # The first step shrinks by at most all; c must stay above 0.
            c *= max(1 - step * self.regularization, 0.5)
            own += block.change(i, step / c * missed, step / c * crossed)
            bias = bias + step * self.square * (missed - crossed)
        return c * block.classifiers(), bias


_Rows = Callable[[NDArray[np.intp]], Doubles]

CHECK_EVERY = 5  # sweeps; the duality gap takes one more pass over all negatives

MOST_FREE = 256  # dual variables between their bounds whose system is solved; not tuned: a bound on the cost


@dataclass
class Exemplars:
    """b classifiers under way: w (b, d), alpha (n, b), S (b,), the multiplier xi (b,) and w'x (b,)."""

    positives: Doubles
    W: Doubles
    alpha: Doubles
    S: Doubles
    xi: Doubles
    own: Doubles

    @classmethod
    def start(cls, positives: Doubles, n: int) -> "Exemplars":
        b = len(positives)
        return cls(positives, np.zeros_like(positives), np.zeros((n, b)), np.zeros(b), np.zeros(b), np.zeros(b))

    def only(self, kept: NDArray[np.bool_]) -> "Exemplars":
        """Some of them."""
        return Exemplars(
            self.positives[kept], self.W[kept], self.alpha[:, kept], self.S[kept], self.xi[kept], self.own[kept]
        )


@dataclass(frozen=True)
class DualDescent:
    """Sweeps over all negatives until the duality gap is at most `tolerance` of the objective.

    `rows(index)` gives negatives, of which there are n, with `square` the mean of |x_i|^2; lambda and theta are those
    of the objective theta max(0, 1 - f(x)) + 1/n sum_i max(0, 1 + f(x_i)) + lambda/2 |w|^2.
    """

    rows: _Rows
    n: int
    square: float
    regularization: float
    positive_weight: float
    tolerance: float
    max_epochs: int

    def solve(self, positives: Doubles, rng: np.random.Generator) -> tuple[Doubles, Doubles, Doubles]:
        """(W (b, d), biases (b,), gaps (b,) as a fraction of the objective) of positives (b, d)."""
        W, bias, gaps = np.zeros_like(positives), np.zeros(len(positives)), np.ones(len(positives))
        left, these = np.arange(len(positives)), Exemplars.start(positives, self.n)
        for epoch in range(1, self.max_epochs + 1):
            self._sweep(these, rng)
            if epoch % CHECK_EVERY and epoch < self.max_epochs:
                continue
            if epoch > CHECK_EVERY:
                self._finish_faces(these)
            W[left], bias[left], gaps[left] = these.W, 1 - these.xi - these.own, self._gaps(these)
            open_ = gaps[left] > self.tolerance
            left, these = left[open_], these.only(open_)
            if not len(left):
                break
        return W, bias, gaps

    def _sweep(self, these: Exemplars, rng: np.random.Generator) -> None:
        blocks = spans(self.n, BLOCK)
        for number in rng.permutation(len(blocks)):
            at = blocks[number]
            index = rng.permutation(np.arange(at.start, at.stop))
            self._pass(these, index, NegativeBlock(self.rows(index), these.W, these.positives))
        these.own = np.einsum("ij,ij->i", these.W, these.positives)
        these.S = these.alpha.sum(axis=0)
        these.xi = np.maximum(0, these.xi + self._stiffness(these) * (these.S - self.positive_weight))

    def _stiffness(self, these: Exemplars) -> Doubles:
        """How much the multiplier of S <= theta grows with S; nothing where S, at most 1, cannot be above theta."""
        if self.positive_weight >= 1:
            return np.zeros(len(these.W))
        squares = np.einsum("ij,ij->i", these.positives, these.positives)
        stiffness: Doubles = (squares + self.square) / self.regularization
        return stiffness

    def _pass(self, these: Exemplars, index: NDArray[np.intp], block: NegativeBlock) -> None:
        lengths = block.squares + block.gram.diagonal()[:, None]
        # Of an image that is itself a negative there is nothing but rounding; its step ends at a bound in any case.
        floor = np.finfo(np.float64).eps * lengths + 1e-100
        curvature = np.maximum(lengths - 2 * block.near, floor) / self.regularization
        stiffness = self._stiffness(these)
        curvature += stiffness
        before = these.alpha[index]
        after = np.empty_like(before)
        for i in range(len(index)):
            xi = np.maximum(0, these.xi + stiffness * (these.S - self.positive_weight))
            gradient = these.own - block.score(i) - 2 + xi
            after[i] = np.clip(before[i] - gradient / curvature[i], 0, 1 / self.n)
            change = after[i] - before[i]
            these.S += change
            change /= self.regularization
            these.own += block.change(i, change, change)
        these.alpha[index], these.W = after, block.classifiers()

    def _finish_faces(self, these: Exemplars) -> None:
        """Take what lies between its bounds to the optimum of all such, which sweeps approach slowly.

        Of few features and an image that negatives surround, sweeps tell soon which alpha_i are at a bound, and then
        take hundreds of turns for the others: 60 negatives of 6 features took 0.8 s an image, and take 0.02.
        """
        free = (these.alpha > 0) & (these.alpha < 1 / self.n)
        stiffness = np.where(these.xi > 0, self._stiffness(these), 0)
        for j in np.flatnonzero((free.sum(axis=0) > 0) & (free.sum(axis=0) <= MOST_FREE)):
            index = np.flatnonzero(free[:, j])
            Z = these.positives[j] - self.rows(index)
            # Above theta, the multiplier grows with S as if all shared one more feature.
            Z = np.column_stack([Z, np.full(len(Z), np.sqrt(self.regularization * stiffness[j]))])
            gradient = Z[:, :-1] @ these.W[j] - 2 + these.xi[j]
            change = self._face_step(Z, gradient, these.alpha[index, j])
            these.alpha[index, j] += change
            these.W[j] += change @ Z[:, :-1] / self.regularization
        these.own = np.einsum("ij,ij->i", these.W, these.positives)
        these.S = these.alpha.sum(axis=0)

    def _face_step(self, Z: Doubles, gradient: Doubles, alpha: Doubles) -> Doubles:
        """What to add to alpha (m,), by Newton steps that each end at the optimum or bind one more at its bound."""
        H = Z @ Z.T / self.regularization
        start, alpha, free = alpha, alpha.copy(), np.ones(len(alpha), bool)
        ridge = 1e-10 * H.trace() / len(H) + 1e-100
        while free.any():
            step = -np.linalg.solve(H[np.ix_(free, free)] + ridge * np.eye(free.sum()), gradient[free])
            room = np.where(step < 0, alpha[free], 1 / self.n - alpha[free])
            reach = np.divide(room, np.abs(step), out=np.full_like(step, np.inf), where=step != 0)
            length = min(1.0, reach.min())
            alpha[free] = np.clip(alpha[free] + length * step, 0, 1 / self.n)
            gradient = gradient + length * H[:, free] @ step
            if length == 1:
                break
            first = np.flatnonzero(free)[np.argmin(reach)]
            alpha[first] = 0 if step[np.argmin(reach)] < 0 else 1 / self.n
            free[first] = False
        change: Doubles = alpha - start
        return change

    def _gaps(self, these: Exemplars) -> Doubles:
        """How far each objective may be above the optimum, as a fraction of itself."""
        half = self.regularization / 2 * np.einsum("ij,ij->i", these.W, these.W)
        lost = np.zeros(len(half))
        for at in spans(self.n, 8 * BLOCK):
            scores = self.rows(np.arange(at.start, at.stop)) @ these.W.T
            lost += np.maximum(0, scores - these.own + 2 - these.xi).sum(axis=0)
        primal = half + lost / self.n + self.positive_weight * these.xi
        allowed = np.minimum(1, self.positive_weight / np.maximum(these.S, 1e-300))
        gaps: Doubles = (primal - (2 * allowed * these.S - allowed**2 * half)) / primal
        return gaps
