"""From queries to the best images: expansion, search, second stage, re-ranking; and what chance says to them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from manyclass.retrieval.chance import chances, most_expected, percentiles
from manyclass.retrieval.exact import Best
from manyclass.retrieval.expansion import QueryExpansion
from manyclass.retrieval.faiss_index import FaissIndex
from manyclass.retrieval.pieces import Codes, Positions
from manyclass.retrieval.reciprocal import KReciprocal
from manyclass.retrieval.spaces import has_products
from manyclass.retrieval.stage import Stage, sort_best


@dataclass
class Ranking:
    """How a gallery searches: its stages, and what is asked of them."""

    stages: list[Stage]
    n_candidates: int
    index: FaissIndex | None
    expansion: QueryExpansion | None = None
    reranking: KReciprocal | None = None

    def best(self, codes: list[Codes], positions: Positions | None, live: Positions, k: int) -> tuple[Best, Codes]:
        """The best of each query as (scores, positions) (q, k), and how similar they are to the query itself: that is
        the score, unless images are re-ranked or were found by an expanded query, which is alike to them by its making.

        `codes` are those of the queries, one array per stage; `live` are the positions of all images.
        """
        C = codes[0] if self.expansion is None else self._expanded(self.expansion, codes[0], positions, live)
        best = self._first(C, positions, live, self._depth(k))
        if len(self.stages) > 1:
            C = codes[1]
            best = sort_best(self.stages[1].scores(C, best[1]), best[1])
        if self.reranking is not None:
            best = self._reranked(self.reranking, C, best)
        best = best[0][:, :k], best[1][:, :k]
        if C is codes[-1] and self.reranking is None:
            return best, best[0]
        return best, self.stages[-1].scores(codes[-1], best[1])

    def _depth(self, k: int) -> int:
        wanted = [k]
        if len(self.stages) > 1:
            wanted.append(self.n_candidates)
        if self.reranking is not None:
            wanted.append(self.reranking.n_candidates)
        return max(wanted)

    def _first(self, C: Codes, positions: Positions | None, live: Positions, k: int) -> Best:
        """The k best, or all if they are fewer, by the first stage."""
        n = len(live) if positions is None else len(positions)
        # An index knows nothing of filters; what they leave is searched exactly.
        if self.index is None or n < len(live):
            return self.stages[0].best(C, positions, min(n, k))
        scores, found = self.index.best(C, self.stages[0].rows, live, min(n, k))
        # Some kinds of index give up early.
        short = np.flatnonzero((found < 0).any(axis=1))
        scores[short], found[short] = self.stages[0].best(C[short], positions, min(n, k))
        return scores, found

    def _expanded(self, expansion: QueryExpansion, C: Codes, positions: Positions | None, live: Positions) -> Codes:
        if not has_products(self.stages[0].space):
            raise ValueError(
                "expansion must be None for an encoder whose similarity is not an inner product, as a kernel's is not"
            )
        scores, found = self._first(C, positions, live, expansion.neighbors)
        rows = self.stages[0].rows.rows(found.ravel())
        return expansion.expanded(C, scores, rows.reshape(*found.shape, -1))

    def _reranked(self, reranking: KReciprocal, C: Codes, best: Best) -> Best:
        stage, scores = self.stages[-1], np.empty_like(best[0])
        for q, places in enumerate(best[1]):
            group = np.concatenate([C[q : q + 1], stage.rows.rows(places)])
            scores[q] = reranking.scores(np.asarray(stage.space.similarity(group, group)))
        return sort_best(scores, best[1])


def without_own(best: Best, similar: Codes, own: Positions, k: int) -> tuple[Best, Codes]:
    """The k best of each query and their similarities, but for the query itself, whose position is in own (q,)."""
    itself = best[1] == own[:, None]
    width = min(k, best[1].shape[1] - bool(itself.any()))
    order = np.argsort(itself, axis=1, kind="stable")[:, :width]
    others = np.take_along_axis(best[0], order, 1), np.take_along_axis(best[1], order, 1)
    return others, np.take_along_axis(similar, order, 1)


def judged(stage: Stage, C: Codes, similar: Codes, n: int, false_match: float) -> dict[str, Any]:
    """Percentiles, E-values among n images, and whether the best is a match; nothing without a background set."""
    background = stage.background(C)
    if background is None:
        return {}
    expected = n * chances(similar, background)
    return {
        "percentiles": percentiles(similar, background),
        "false_matches": expected,
        "matched": expected.min(axis=1, initial=np.inf) <= most_expected(false_match),
    }
