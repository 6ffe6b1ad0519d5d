"""Ridge regression of classes as one would write it down: the normal equations with a column of ones, in float64."""

import numpy as np
from numpy.typing import NDArray


def targets(y: NDArray, k: int) -> NDArray:
    """Of classes (n,), or of an indicator matrix (n, k)."""
    if np.ndim(y) == 2:
        return np.where(y, 1.0, -1.0)
    return np.where(np.arange(k) == np.asarray(y)[:, None], 1.0, -1.0)


def ridge(X: NDArray, y: NDArray, k: int, strength: float, weights: NDArray | None = None) -> tuple[NDArray, NDArray]:
    """W (d, k) and b (k,) that minimize sum_i p_i |W'x_i + b - t_i|^2 + strength |W|^2, with sum_i p_i = 1."""
    n, d = X.shape
    c = np.ones(n) if weights is None else np.asarray(weights, np.float64)
    A = np.hstack([np.asarray(X, np.float64), np.ones((n, 1))])
    penalty = strength * np.diag([*np.ones(d), 0.0])
    P = np.diag(c / c.sum())
    solution = np.linalg.solve(A.T @ P @ A + penalty, A.T @ P @ targets(y, k))
    return solution[:-1], solution[-1]


def left_out(X: NDArray, y: NDArray, k: int, strength: float, weights: NDArray | None = None) -> NDArray:
    """The scores (n, k) of n fits, each without one row and with the penalty that all rows have."""
    c = np.ones(len(X)) if weights is None else np.asarray(weights, np.float64)
    scores = np.empty((len(X), k))
    for i in range(len(X)):
        others = np.arange(len(X)) != i
        W, b = ridge(X[others], y[others], k, strength * c.sum() / c[others].sum(), c[others])
        scores[i] = X[i] @ W + b
    return scores
