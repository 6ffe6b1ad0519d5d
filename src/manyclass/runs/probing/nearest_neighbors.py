"""NearestNeighbors: votes of the k nearest rows, found by the exact search loop; all distances are never held at once.

By cosine, votes are weighted by exp(cosine / temperature), as Wu et al. (CVPR 2018) and DINO do. By distance, a vote is
one over the distance, as with scikit-learn's `weights="distance"`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from manyclass._core.algebra.linalg import unit_rows
from manyclass._core.typing import Doubles, Embeddings, Labels
from manyclass.data.matrix import Matrix, spans
from manyclass.data.moments import column_means
from manyclass.retrieval.search import Best, search_products, sort_best
from manyclass.retrieval.vectors import GrowableArray

TEMPERATURE = 0.07  # of votes by cosine, as published

_BYTES = 1 << 27  # of rows that are searched at once

_VOTES = 1 << 20  # pairs of neighbors that are compared at once

NOBODY = -1  # in place of a class where there are fewer


@dataclass(frozen=True)
class NearestNeighbors:
    """Rows X (n, d) with their classes y (n,), of which the k nearest vote.

    >>> from manyclass.data.dense import DenseMatrix
    >>> X = DenseMatrix(np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]]))
    >>> NearestNeighbors(X, np.array([4, 4, 7]), k=2).predict_top(DenseMatrix(np.array([[1.0, 2.0]])), 2).tolist()
    [[7, 4]]
    """

    X: Matrix
    y: Labels
    k: int = 20
    metric: str = "cosine"
    temperature: float = TEMPERATURE

    def predict_top(self, X: Matrix, top: int = 5) -> Labels:
        """The classes of most votes (m, top), -1 where neighbors have fewer classes; of equals the nearest first."""
        similarities, places = self.neighbors(X, min(self.k, len(self.X)))
        return self.votes(similarities, places, self.k, top)

    def votes(self, similarities: Embeddings, places: NDArray[np.int64], k: int, top: int) -> Labels:
        """The classes of most votes of the first k neighbors of each row, which `neighbors` found."""
        weights = self._weights(similarities[:, :k])
        return most_votes(np.asarray(self.y)[places[:, :k]], weights, top)

    def neighbors(self, X: Matrix, k: int) -> Best:
        """Similarities and positions (m, k) of the nearest rows: cosines, or distances with a minus; nearest first."""
        m, width = len(X), self.X.shape[1] + (self.metric != "cosine")
        # Distances do not depend on where the origin is, and their digits do.
        origin = np.zeros(self.X.shape[1]) if self.metric == "cosine" else column_means(self.X)
        size = max(1024, _BYTES // (4 * width))
        scores, places = np.full((m, k), -np.inf, np.float32), np.full((m, k), -1, np.int64)
        for at in spans(len(self.X), size):
            rows = GrowableArray(width)
            rows.attach(self._searched(self.X, at, origin))
            for asked in spans(m, size):
                Q = self._queries(X, asked, origin)
                found = search_products(Q, rows, None, min(k, len(rows)))
                both = np.hstack([scores[asked], found[0]]), np.hstack([places[asked], found[1] + at.start])
                best = sort_best(*both)
                scores[asked], places[asked] = best[0][:, :k], best[1][:, :k]
        if self.metric == "cosine":
            return scores, places
        lengths = np.concatenate([np.square(_centered(X, at, origin)).sum(axis=1) for at in spans(m, 4096)])
        # |q - x|^2 = |q|^2 - 2 (q'x - |x|^2 / 2)
        squares = np.maximum(lengths[:, None] - 2 * scores.astype(np.float64), 0)
        return -np.sqrt(squares).astype(np.float32), places

    def _searched(self, X: Matrix, at: slice, origin: Doubles) -> Embeddings:
        if self.metric == "cosine":
            return _unit(X, at)
        T = _centered(X, at, origin)
        return np.column_stack([T, -0.5 * np.square(T).sum(axis=1)]).astype(np.float32)

    def _queries(self, X: Matrix, at: slice, origin: Doubles) -> Embeddings:
        if self.metric == "cosine":
            return _unit(X, at)
        T = _centered(X, at, origin)
        return np.column_stack([T, np.ones(len(T))]).astype(np.float32)

    def _weights(self, similarities: Embeddings) -> Doubles:
        S = similarities.astype(np.float64)
        if self.metric == "cosine":
            # Only ratios count; of the nearest the exponent is 0, so that nothing overflows.
            weights: Doubles = np.exp((S - S[:, :1]) / self.temperature)
            return weights
        return 1 / np.maximum(-S, 1e-12)


def _unit(X: Matrix, at: slice) -> Embeddings:
    return unit_rows(X.rows(at).astype(np.float64)).astype(np.float32)


def _centered(X: Matrix, at: slice, origin: Doubles) -> Doubles:
    rows: Doubles = np.subtract(X.rows(at), origin, dtype=np.float64)
    return rows


def most_votes(classes: Labels, weights: Doubles, top: int) -> Labels:
    """The classes (m, top) of the largest sums of weights, among the classes (m, k) of neighbors, nearest first.

    Of equal sums the class of the nearest comes first; -1 stands where there are fewer classes.

    >>> most_votes(np.array([[3, 5, 5, 3]]), np.array([[1.0, 0.75, 0.5, 0.25]]), 3).tolist()
    [[3, 5, -1]]
    """
    k = classes.shape[1]
    found = [_most_votes(classes[at], weights[at], top) for at in spans(len(classes), max(1, _VOTES // (k * k)))]
    return np.concatenate([np.zeros((0, top), np.int64), *found])


def _most_votes(classes: Labels, weights: Doubles, top: int) -> Labels:
    same = classes[:, :, None] == classes[:, None, :]
    sums = np.einsum("ijk,ik->ij", same, weights)
    repeated = np.tril(same, -1).any(axis=2)  # a class counts where it comes first
    sums[repeated] = -1.0
    order = np.argsort(-sums, axis=1, kind="stable")[:, :top]
    found = np.where(np.take_along_axis(repeated, order, 1), NOBODY, np.take_along_axis(classes, order, 1))
    missing = np.full((len(classes), max(0, top - found.shape[1])), NOBODY, found.dtype)
    return np.hstack([found, missing]).astype(np.int64)
