"""Better rankings: queries that are expanded by what they find, and re-ranking by k-reciprocal neighbors."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.algebra.linalg import l2_normalize
from manyclass._core.checks import check_count, check_nonnegative
from manyclass._core.typing import Doubles, Embeddings
from manyclass.retrieval.search import Best
from manyclass.retrieval.vectors import Positions


@dataclass(frozen=True)
class QueryExpansion:
    """Query expansion: search again with the query and its nearest images.

    The expanded query is, scaled to unit length,

        q + sum_i max(s_i, 0)^alpha x_i

    where x_1 ... x_m are the nearest images of q and s_i their scores. alpha = 0 is average query expansion (Chum et
    al., ICCV 2007); a positive alpha is alpha query expansion (Radenović et al., TPAMI 2018), which weights the nearest
    most.

    Parameters
    ----------
    neighbors : int, default=10
        Number of images m that are added to the query.
    alpha : float, default=0.0
        Exponent of the scores, at least 0.
    """

    neighbors: int = 10
    alpha: float = 0.0

    def __post_init__(self) -> None:
        check_count(self.neighbors, "neighbors")
        check_nonnegative(self.alpha, "alpha")

    def expanded(self, C: Embeddings, scores: Embeddings, found: Embeddings) -> Embeddings:
        """Compute expanded queries.

        Parameters
        ----------
        C : ndarray of shape (n_queries, n_features), float32
            Embeddings of the queries.
        scores : ndarray of shape (n_queries, m), float32
            Scores of their nearest images.
        found : ndarray of shape (n_queries, m, n_features), float32
            Embeddings of these images.

        Returns
        -------
        ndarray of shape (n_queries, n_features), float32
            Embeddings of unit length.
        """
        weights = np.maximum(scores.astype(np.float64), 0) ** self.alpha
        total = C + np.einsum("qm,qmd->qd", weights, found)
        return np.ascontiguousarray(l2_normalize(total), np.float32)


@dataclass(frozen=True)
class KReciprocal:
    """Re-ranking with k-reciprocal encoding (Zhong et al., CVPR 2017).

    Two images are neighbors if each is among the k1 nearest of the other. The neighborhood of an image is extended by
    the neighborhoods of its neighbors (of half the size) that overlap it by two thirds, weighted by exp(-distance), and
    averaged over its k2 nearest images. The new score is

        weight * similarity + (1 - weight) * (weighted overlap of the neighborhoods of query and image)

    and all neighborhoods are taken within the query and its candidates.

    Parameters
    ----------
    k1 : int, default=20
        Size of a neighborhood.
    k2 : int, default=6
        Number of images over which neighborhoods are averaged.
    weight : float, default=0.3
        Weight of the original similarity, from 0 to 1; 1 leaves the order unchanged.
    n_candidates : int, default=100
        Number of best images of a query that are re-ranked.
    """

    k1: int = 20
    k2: int = 6
    weight: float = 0.3
    n_candidates: int = 100

    def __post_init__(self) -> None:
        for name in ("k1", "k2", "n_candidates"):
            check_count(getattr(self, name), name)
        if not 0 <= check_nonnegative(self.weight, "weight") <= 1:
            raise ValueError(f"weight must be from 0 to 1; got {self.weight!r}")

    def scores(self, S: NDArray[Any]) -> Doubles:
        """Compute the new scores of m images.

        Parameters
        ----------
        S : ndarray of shape (1 + m, 1 + m)
            Similarities of the query, which is first, and the images.

        Returns
        -------
        ndarray of shape (m,), float64
            New scores of the images.
        """
        S = S.astype(np.float64)
        V = self._neighborhoods(S)
        shared = np.minimum(V[:1], V).sum(axis=1)
        overlap = shared / np.maximum(np.maximum(V[:1], V).sum(axis=1), np.finfo(np.float64).tiny)
        scores: Doubles = self.weight * S[0, 1:] + (1 - self.weight) * overlap[1:]
        return scores

    def _neighborhoods(self, S: Doubles) -> Doubles:
        """V (1 + m, 1 + m): how much each belongs to the neighborhood of each, rows of sum 1."""
        order = np.argsort(-S, axis=1, kind="stable")
        near, half = _mutual(order, self.k1 + 1), _mutual(order, (self.k1 + 1) // 2 + 1)
        sizes = half.sum(axis=1)
        # half[c] joins the neighborhood of i if c belongs to it and most of half[c] does.
        common = near.astype(np.float64) @ half.T
        joins = near & (common > 2 / 3 * sizes)
        wide = near | (joins.astype(np.float64) @ half > 0)
        V = np.where(wide, np.exp(S), 0.0)
        V /= V.sum(axis=1, keepdims=True)
        return V if self.k2 == 1 else V[order[:, : self.k2]].mean(axis=1)


def _mutual(order: NDArray[np.intp], k: int) -> NDArray[np.bool_]:
    """Whether each of two is among the first k of the other's order; each counts as its own neighbor."""
    n = len(order)
    among = np.zeros((n, n), bool)
    among[np.arange(n)[:, None], order[:, :k]] = True
    np.fill_diagonal(among, True)
    mutual: NDArray[np.bool_] = among & among.T
    return mutual


def drop_self(best: Best, similar: Embeddings, own: Positions, k: int) -> tuple[Best, Embeddings]:
    """The k best of each query and their similarities, but for the query itself, whose position is in own (q,)."""
    itself = best[1] == own[:, None]
    width = min(k, best[1].shape[1] - bool(itself.any()))
    order = np.argsort(itself, axis=1, kind="stable")[:, :width]
    others = np.take_along_axis(best[0], order, 1), np.take_along_axis(best[1], order, 1)
    return others, np.take_along_axis(similar, order, 1)
