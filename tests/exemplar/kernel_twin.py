"""The kernel machine by brute force: all images as points of a space in which the kernel is the plain product."""

import numpy as np


def points_of(K):
    """Z, of which Z Z' is K."""
    squares, U = np.linalg.eigh((K + K.T) / 2)
    return U * np.sqrt(np.maximum(squares, 0))


def machine(x, negatives, regularization, theta):
    """(h, bias) that minimize theta/2 (h'x + b - 1)^2 + 1/(2n) sum_i (h'x_i + b + 1)^2 + lambda/2 |h|^2.

    One linear system for both, of the gradient's zeros.
    """
    n, p = negatives.shape
    Z = np.column_stack([np.vstack([x, negatives]), np.ones(n + 1)])
    weights, y = np.array([theta] + [1 / n] * n), np.array([1.0] + [-1.0] * n)
    ridge = np.diag([regularization] * p + [0.0])
    solution = np.linalg.solve((Z.T * weights) @ Z + ridge, Z.T @ (weights * y))
    return solution[:-1], solution[-1]


def cosines(H):
    lengths = np.linalg.norm(H, axis=1)
    return H @ H.T / np.outer(lengths, lengths)
