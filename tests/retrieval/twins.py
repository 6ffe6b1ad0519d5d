"""Slow and obvious versions of what a gallery does, and encoders to try it with."""

import numpy as np


def best(S, k, positions=None):
    """Scores and positions (q, k) of the highest of S (q, n): all sorted, the first among equals first."""
    S = np.asarray(S)
    order = np.argsort(-S, axis=1, kind="stable")[:, :k]
    places = np.arange(S.shape[1]) if positions is None else np.asarray(positions)
    return np.take_along_axis(S, order, 1), places[order]


class Distances:
    """An encoder whose codes are the vectors and whose similarity is no inner product."""

    def __init__(self, d, background=None):
        self.n_features_in_ = self.n_features_out_ = d
        self.background_ = np.zeros((0, d), np.float32) if background is None else np.asarray(background, np.float32)

    def transform(self, X):
        return X.toarray().astype(np.float32)

    def similarity(self, C, D):
        return -((C[:, None, :] - D[None, :, :]) ** 2).sum(axis=2)


def kreciprocal(S, k1, k2, weight):
    """Scores of k-reciprocal re-ranking, one set after the other, as the article words it."""
    n = len(S)
    order = [sorted(range(n), key=lambda j, i=i: (-S[i, j], j)) for i in range(n)]

    def reciprocal(i, k):
        return {j for j in order[i][: k + 1] if i in order[j][: k + 1]} | {i}

    V = np.zeros((n, n))
    for i in range(n):
        near = reciprocal(i, k1)
        wide = set(near)
        for c in near:
            half = reciprocal(c, (k1 + 1) // 2)
            if len(half & near) > 2 / 3 * len(half):
                wide |= half
        for j in wide:
            V[i, j] = np.exp(S[i, j])
        V[i] /= V[i].sum()
    V = np.array([np.mean([V[j] for j in order[i][:k2]], axis=0) for i in range(n)])
    jaccard = [1 - np.minimum(V[0], V[i]).sum() / np.maximum(V[0], V[i]).sum() for i in range(n)]
    return np.array([weight * S[0, i] + (1 - weight) * (1 - jaccard[i]) for i in range(1, n)])
