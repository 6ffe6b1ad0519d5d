"""From embeddings of queries to hits: expansion, search, a second encoder, re-ranking, and what scores are worth."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from manyclass._core.checks import check_count, check_finite
from manyclass._core.typing import Embeddings
from manyclass.retrieval.catalog import Catalog, select_rows
from manyclass.retrieval.faiss_index import FaissIndex
from manyclass.retrieval.neighbors import MOST, is_judged, judge_margins
from manyclass.retrieval.reranking import KReciprocal, QueryExpansion, drop_self
from manyclass.retrieval.search import Best, FlatIndex, Hits, find_copies, sort_best
from manyclass.retrieval.significance import judge_scores
from manyclass.retrieval.storage.segments import GalleryState
from manyclass.retrieval.vectors import Positions

_BY_INDEX = f"in more than {MOST:,} images strangers are told by exact search, and this one went by an index"


@dataclass
class Ranking:
    """How a gallery searches: its indexes, one per encoder, and what is asked of them."""

    indexes: list[FlatIndex]
    n_candidates: int
    index: FaissIndex | None
    expansion: QueryExpansion | None = None
    reranking: KReciprocal | None = None

    @property
    def is_plain(self) -> bool:
        """Whether hits are the best of the whole first index by its own scores."""
        return all(stage is None for stage in (self.expansion, self.reranking)) and len(self.indexes) == 1

    def search(
        self, codes: list[Embeddings], positions: Positions | None, catalog: Catalog, k: int
    ) -> tuple[Best, Embeddings]:
        """The best of each query as (scores, positions) (q, k), and how similar they are to the query itself: that is
        the score, unless images are re-ranked or were found by an expanded query, which is alike to them by its making.

        `codes` are those of the queries, one array per encoder; `positions` are those that may be found, or None.
        """
        C = codes[0] if self.expansion is None else self._expand(self.expansion, codes[0], positions, catalog)
        best = self._first_search(C, positions, catalog, self._depth(k))
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

    def _first_search(self, C: Embeddings, positions: Positions | None, catalog: Catalog, k: int) -> Best:
        """The k best, or all if they are fewer, by the first encoder."""
        n = len(catalog) if positions is None else len(positions)
        # An index knows nothing of filters; what they leave is searched exactly.
        if self.index is None or n < len(catalog):
            return self.indexes[0].search(C, positions, min(n, k))
        scores, found = self.index.search(C, self.indexes[0], catalog, min(n, k))
        # Some kinds of index give up early.
        short = np.flatnonzero((found < 0).any(axis=1))
        scores[short], found[short] = self.indexes[0].search(C[short], positions, min(n, k))
        return scores, found

    def _expand(
        self, expansion: QueryExpansion, C: Embeddings, positions: Positions | None, catalog: Catalog
    ) -> Embeddings:
        if not self.indexes[0].inner_product:
            raise ValueError(
                "expansion must be None for an encoder whose similarity is not an inner product, as a kernel's is not"
            )
        scores, found = self._first_search(C, positions, catalog, expansion.neighbors)
        rows = self.indexes[0].embeddings.rows(found.ravel())
        return expansion.expanded(C, scores, rows.reshape(*found.shape, -1))

    def _rerank(self, reranking: KReciprocal, C: Embeddings, best: Best) -> Best:
        index, scores = self.indexes[-1], np.empty_like(best[0])
        for q, places in enumerate(best[1]):
            group = np.concatenate([C[q : q + 1], index.embeddings.rows(places)])
            scores[q] = reranking.scores(np.asarray(index.encoder.similarity(group, group)))
        return sort_best(scores, best[1])


def find_hits(
    state: GalleryState,
    ranking: Ranking,
    codes: list[Embeddings],
    k: int,
    where: Any,
    false_match: float,
    own_background: bool,
    own: Positions | None = None,
    background: Embeddings | None = None,
) -> Hits:
    """The k best images of each query, judged; `codes` are the queries', one array per encoder.

    `own` (q,) are the positions of queries that are in the gallery, which do not find themselves. `background` (q, m)
    are scores of unrelated images, if these are not those of the encoder; scores are then on a scale of their own, so
    that margins among the gallery's images tell nothing of them. With `own_background` those of the encoder are of
    images of the gallery itself.
    """
    k, indexes, catalog = check_count(k, "k"), ranking.indexes, state.catalog
    positions = select_rows(catalog, where)
    n = len(catalog) if positions is None else len(positions)
    if n == 0 or len(codes[0]) == 0:
        none = np.zeros((len(codes[0]), min(k, n)), np.int64)
        best, similar = (none.astype(np.float32), none), none.astype(np.float32)
    else:
        best, similar = ranking.search(codes, positions, catalog, k + (own is not None))
        if own is not None:
            best, similar = drop_self(best, similar, own, k)
    unrelated = indexes[-1].background_scores(codes[-1]) if background is None else background
    by_bulk = own_background and background is None
    judged: dict[str, Any] = judge_scores(similar, unrelated, n, false_match, by_bulk)
    if where is None and background is None and n and len(codes[0]):
        if ranking.index is not None and judged and not is_judged(catalog, background=False):
            judged |= {"caution": _BY_INDEX, "matched": np.zeros(len(codes[0]), bool)}
        elif ranking.index is None or is_judged(catalog, background=False):
            # What is of the gallery's own kind says no more of strangers than the margins of its images do.
            agrees = np.ones(len(codes[0]), bool) if by_bulk and judged else judged.get("matched")
            given = codes[0], best if ranking.is_plain else None, false_match, agrees, own
            judged |= judge_margins(state.neighbors, indexes[0], catalog, *given)
    copies = find_copies(indexes[0].embeddings, codes[0], best[1])
    if "matched" in judged:
        judged["matched"] = judged["matched"] | copies
    return Hits(catalog.ids_at(best[1]), best[0], **judged, copies=copies)


def as_queries(C: Any, indexes: list[FlatIndex]) -> Embeddings:
    """Embeddings (q, d) of queries as C-ordered float32 rows, for an index of products; one vector is one row."""
    if len(indexes) > 1 or not indexes[0].inner_product:
        last = type(indexes[-1].encoder).__name__
        raise ValueError(
            f"search_embeddings needs a gallery of one encoder, whose similarity is an inner product; got {last}"
        )
    rows, d = np.ascontiguousarray(np.atleast_2d(np.asarray(C, np.float32))), indexes[0].embeddings.d
    if rows.ndim != 2 or rows.shape[1] != d:
        raise ValueError(f"C must have {d} columns, as the embeddings of this gallery; got shape {rows.shape}")
    check_finite(rows, "C")
    return rows


def as_background(scores: Any, q: int) -> Embeddings | None:
    """Scores (q, m) of unrelated images, at least one for each query, or None; one row is that of one query."""
    if scores is None:
        return None
    rows = np.atleast_2d(np.asarray(scores, np.float32))
    if rows.ndim != 2 or len(rows) != q or not rows.shape[1]:
        raise ValueError(f"background must have one row of scores per row of C ({q}); got shape {rows.shape}")
    check_finite(rows, "background")
    return rows
