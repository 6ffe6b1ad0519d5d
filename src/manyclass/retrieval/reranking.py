"""From queries to the best images: expansion, search, a second encoder, and re-ranking by k-reciprocal neighbors."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.algebra.linalg import l2_normalize
from manyclass._core.checks import check_count, check_nonnegative
from manyclass._core.typing import Doubles, Embeddings
from manyclass.retrieval.faiss_index import FaissIndex
from manyclass.retrieval.search import Best, FlatIndex, sort_best
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


@dataclass
class Ranking:
    """How a gallery searches: its indexes, one per encoder, and what is asked of them."""

    indexes: list[FlatIndex]
    n_candidates: int
    index: FaissIndex | None
    expansion: QueryExpansion | None = None
    reranking: KReciprocal | None = None

    def search(
        self, codes: list[Embeddings], positions: Positions | None, live: Positions, k: int
    ) -> tuple[Best, Embeddings]:
        """The best of each query as (scores, positions) (q, k), and how similar they are to the query itself: that is
        the score, unless images are re-ranked or were found by an expanded query, which is alike to them by its making.

        `codes` are those of the queries, one array per encoder; `live` are the positions of all images.
        """
        C = codes[0] if self.expansion is None else self._expand(self.expansion, codes[0], positions, live)
        best = self._first_search(C, positions, live, self._depth(k))
        if len(self.indexes) > 1:
            C = codes[1]
            best = sort_best(self.indexes[1].scores(C, best[1]), best[1])
        if self.reranking is not None:
            best = self._rerank(self.reranking, C, best)
        best = best[0][:, :k], best[1][:, :k]
        if C is codes[-1] and self.reranking is None:
            return best, best[0]
        return best, self.indexes[-1].scores(codes[-1], best[1])

    def _depth(self, k: int) -> int:
        wanted = [k]
        if len(self.indexes) > 1:
            wanted.append(self.n_candidates)
        if self.reranking is not None:
            wanted.append(self.reranking.n_candidates)
        return max(wanted)

    def _first_search(self, C: Embeddings, positions: Positions | None, live: Positions, k: int) -> Best:
        """The k best, or all if they are fewer, by the first encoder."""
        n = len(live) if positions is None else len(positions)
        # An index knows nothing of filters; what they leave is searched exactly.
        if self.index is None or n < len(live):
            return self.indexes[0].search(C, positions, min(n, k))
        scores, found = self.index.search(C, self.indexes[0].embeddings, live, min(n, k))
        # Some kinds of index give up early.
        short = np.flatnonzero((found < 0).any(axis=1))
        scores[short], found[short] = self.indexes[0].search(C[short], positions, min(n, k))
        return scores, found

    def _expand(
        self, expansion: QueryExpansion, C: Embeddings, positions: Positions | None, live: Positions
    ) -> Embeddings:
        if not self.indexes[0].inner_product:
            raise ValueError(
                "expansion must be None for an encoder whose similarity is not an inner product, as a kernel's is not"
            )
        scores, found = self._first_search(C, positions, live, expansion.neighbors)
        rows = self.indexes[0].embeddings.rows(found.ravel())
        return expansion.expanded(C, scores, rows.reshape(*found.shape, -1))

    def _rerank(self, reranking: KReciprocal, C: Embeddings, best: Best) -> Best:
        index, scores = self.indexes[-1], np.empty_like(best[0])
        for q, places in enumerate(best[1]):
            group = np.concatenate([C[q : q + 1], index.embeddings.rows(places)])
            scores[q] = reranking.scores(np.asarray(index.encoder.similarity(group, group)))
        return sort_best(scores, best[1])


def drop_self(best: Best, similar: Embeddings, own: Positions, k: int) -> tuple[Best, Embeddings]:
    """The k best of each query and their similarities, but for the query itself, whose position is in own (q,)."""
    itself = best[1] == own[:, None]
    width = min(k, best[1].shape[1] - bool(itself.any()))
    order = np.argsort(itself, axis=1, kind="stable")[:, :width]
    others = np.take_along_axis(best[0], order, 1), np.take_along_axis(best[1], order, 1)
    return others, np.take_along_axis(similar, order, 1)
