"""Stochastic gradient descent for exemplar machines with the hinge loss: T steps, as published."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from manyclass.data.tiles import spans
from manyclass.exemplar.hinge_block import BLOCK, Block, Doubles


@dataclass(frozen=True)
class Descent:
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
            W, bias = self._pass(Block(rows(drawn[at]), W, positives), bias, at.start)
        return W, bias

    def _pass(self, block: Block, bias: Doubles, t: int) -> tuple[Doubles, Doubles]:
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
