"""Weights of classes in groups, and rows near some of them."""

import numpy as np


def grouped(k, d, n=40, seed=0):
    """(W, biases, X): classes around a tenth as many centers, with a mean of their own, and rows of these classes."""
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(max(1, k // 10), d)) + rng.normal(size=d)
    W = centers[rng.integers(0, len(centers), k)] + 0.7 * rng.normal(size=(k, d))
    X = W[rng.integers(0, k, n)] + rng.normal(size=(n, d)) + rng.normal(size=d)
    return W.astype(np.float32), rng.normal(size=k).astype(np.float32), X.astype(np.float32)


def all_scores(W, b, X):
    return X.astype(np.float64) @ W.T.astype(np.float64) + b


def best(S, top):
    return np.argsort(-S, axis=1, kind="stable")[:, :top]
