"""Slow and obvious forms of what is learned of local descriptors, in float64."""

import numpy as np

from manyclass.features.aggregation.vocabulary import DiagonalGmm


def mixture_of(k: int, d: int, seed: int = 0, spread: float = 2.0) -> DiagonalGmm:
    rng = np.random.default_rng(seed)
    weights = rng.random(k) + 0.1
    return DiagonalGmm(weights / weights.sum(), spread * rng.normal(size=(k, d)), 0.2 + rng.random((k, d)))


def rows_of(mixture: DiagonalGmm, n: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    c = rng.choice(len(mixture.weights), n, p=mixture.weights)
    return (mixture.means[c] + np.sqrt(mixture.variances[c]) * rng.normal(size=mixture.means[c].shape)).astype("f4")


def log_densities(X: np.ndarray, mixture: DiagonalGmm) -> np.ndarray:
    """log w_k N(x_i; mu_k, sigma_k^2), (n, k)."""
    u = (X.astype(float)[:, None] - mixture.means) / np.sqrt(mixture.variances)
    return np.log(mixture.weights) - 0.5 * (u**2).sum(axis=2) - 0.5 * np.log(2 * np.pi * mixture.variances).sum(axis=1)


def posteriors(X: np.ndarray, mixture: DiagonalGmm) -> np.ndarray:
    L = log_densities(X, mixture)
    q = np.exp(L - L.max(axis=1, keepdims=True, initial=-np.inf))
    return q / q.sum(axis=1, keepdims=True)


def fisher(X: np.ndarray, mixture: DiagonalGmm) -> np.ndarray:
    """The Fisher vector by its formula: all means, then all variances."""
    q, w = posteriors(X, mixture), mixture.weights
    u, v = [], []
    for k in range(len(w)):
        z = (X.astype(float) - mixture.means[k]) / np.sqrt(mixture.variances[k])
        u.append((q[:, k, None] * z).sum(axis=0) / max(1, len(X)) / np.sqrt(w[k]))
        v.append((q[:, k, None] * (z**2 - 1)).sum(axis=0) / max(1, len(X)) / np.sqrt(2 * w[k]))
    return np.concatenate([*u, *v])


def nearest(X: np.ndarray, words: np.ndarray) -> np.ndarray:
    return ((X.astype(float)[:, None] - words) ** 2).sum(axis=2).argmin(axis=1)


def residuals(X: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Sums of x - c over the rows nearest to each word c, (k, d)."""
    labels = nearest(X, words)
    return np.stack([(X[labels == c].astype(float) - words[c]).sum(axis=0) for c in range(len(words))])


def images_of(n: int, seed: int = 0, shape: tuple[int, int] = (64, 80)) -> np.ndarray:
    """Pictures with blobs of several sizes, so that descriptors differ."""
    rng = np.random.default_rng(seed)
    out = np.zeros((n, *shape, 3))
    for size in (2, 4, 8, 16):
        coarse = rng.random((n, -(-shape[0] // size), -(-shape[1] // size), 3))
        out += size * coarse.repeat(size, axis=1).repeat(size, axis=2)[:, : shape[0], : shape[1]]
    return (255 * out / out.max()).astype(np.uint8)
