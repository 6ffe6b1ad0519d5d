"""A block of negatives, seen one after the other by many classifiers at once."""

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]

BLOCK = 128


class Block:
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
