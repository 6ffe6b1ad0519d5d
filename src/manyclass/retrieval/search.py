"""Exact search: FlatIndex finds the best k of all images block by block, and Hits are what a gallery has found.

The whole matrix of scores is never made.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass import _native
from manyclass._core.checks import as_native
from manyclass._core.parallel import native_threads
from manyclass._core.typing import Embeddings
from manyclass.data.matrix import spans
from manyclass.retrieval.encoders import is_inner_product
from manyclass.retrieval.vectors import GrowableArray, Positions

Similarity = Callable[[Embeddings, Embeddings], Embeddings]

# Scores and positions (queries, k), best first, the first in the gallery among equals.
Best = tuple[Embeddings, Positions]

_ENTRIES = 1 << 20  # queries times k that are searched for at once

_SPARE = 16  # more rows than are asked for, of which float64 sums find the best

_BLOCK = 4096  # rows whose similarities are computed at once


def search_products(Q: Embeddings, rows: GrowableArray, positions: Positions | None, k: int) -> Best:
    """The k rows with the highest inner product with each query (q, d), among ascending positions or all.

    Products are those of float32 numbers, added in float64; so ranks are right, and have the same bits for any batch of
    queries, any other rows and any number of threads. There must be at least k rows.
    """
    n = len(rows) if positions is None else len(positions)
    return rank_exactly(Q, rows, best_candidates(Q, rows.blocks(positions), n_candidates(k, n))[1], k)


def n_candidates(k: int, n: int) -> int:
    """How many of n rows sums in float32 find, among which float64 has the last word."""
    return min(k + _SPARE, n)


def best_candidates(Q: Embeddings, blocks: Iterable[tuple[int, Embeddings, Positions | None]], k: int) -> Best:
    """The best k by sums in float32, among rows that come in blocks, as `GrowableArray.blocks` gives them."""
    found, blocks = _nothing(len(Q), k), list(blocks)
    for at in _batches(len(Q), k):
        scores, places = found[0][at], found[1][at]
        for start, array, index in blocks:
            n = len(array) if index is None else len(index)
            _native.best_rows(array, index, Q[at], start, scores, places, native_threads(4 * n * array.shape[1]))
    return found


def rank_exactly(Q: Embeddings, rows: GrowableArray, candidates: Positions, k: int) -> Best:
    """The best k by sums in float64, among some rows for each query."""
    out = _nothing(len(Q), k)
    for i, places in enumerate(candidates):
        exact = np.einsum("ij,j->i", rows.rows(places), Q[i], dtype=np.float64)
        best = np.lexsort((places, -exact))[:k]
        out[0][i], out[1][i] = exact[best], places[best]
    return out


def search_similarities(
    similarity: Similarity, C: Embeddings, rows: GrowableArray, positions: Positions | None, k: int
) -> Best:
    """The same by any similarity of embeddings, `similarity(C (q, d), D (m, d)) -> (q, m)`."""
    out = _nothing(len(C), k)
    for at in _batches(len(C), k):
        for places, block in embedding_blocks(rows, positions):
            S = as_native(similarity(C[at], block), np.float32)
            _native.best_scores(S, places, out[0][at], out[1][at], native_threads(S.nbytes))
    return out


def _nothing(q: int, k: int) -> Best:
    return np.full((q, k), -np.inf, np.float32), np.full((q, k), -1, np.int64)


def _batches(q: int, k: int) -> list[slice]:
    return spans(q, max(1, min(1024, _ENTRIES // k)))


def embedding_blocks(rows: GrowableArray, positions: Positions | None) -> Iterator[tuple[Positions, Embeddings]]:
    """Ascending positions, or all, and their embeddings, some at a time; where all are wanted, they are not copied."""
    for start, array, index in rows.blocks(positions):
        places = np.arange(len(array), dtype=np.int64) if index is None else index
        for at in spans(len(places), _BLOCK):
            yield places[at] + start, array[at] if index is None else array[index[at]]


class FlatIndex:
    """An encoder and the embeddings that it gave to images, by position, those of removed images included."""

    def __init__(self, encoder: Any):
        self.encoder = encoder
        self.inner_product = is_inner_product(encoder)
        self.embeddings = GrowableArray(encoder.n_features_out_)

    def encode(self, X: Any) -> Embeddings:
        """Embeddings of images, as C-ordered float32 rows."""
        rows = np.ascontiguousarray(self.encoder.transform(X), np.float32)
        if rows.ndim != 2 or rows.shape[1] != self.embeddings.d:
            raise ValueError(f"an encoder must give rows of {self.embeddings.d} numbers; got shape {rows.shape}")
        return rows

    def search(self, C: Embeddings, positions: Positions | None, k: int) -> Best:
        """The k most similar images of each query, among ascending positions or all."""
        if self.inner_product:
            best = search_products(C, self.embeddings, positions, k)
        else:
            best = search_similarities(self.encoder.similarity, C, self.embeddings, positions, k)
        if (best[1] < 0).any():
            raise ValueError(f"similarities must be finite numbers; those of {type(self.encoder).__name__} are not")
        return best

    def scores(self, C: Embeddings, found: Positions) -> Embeddings:
        """Similarities (q, k) of queries and images that were found for them."""
        scores = np.empty(found.shape, np.float32)
        for q, places in enumerate(found):
            scores[q] = self.encoder.similarity(C[q : q + 1], self.embeddings.rows(places))[0]
        return scores

    def background_scores(self, C: Embeddings) -> Embeddings | None:
        """Similarities (q, m) of the queries to the background set of unrelated images, if there is one."""
        if not len(self.encoder.background_):
            return None
        if hasattr(self.encoder, "background_similarity"):
            return np.asarray(self.encoder.background_similarity(C), np.float32)
        return np.asarray(self.encoder.similarity(C, self.encoder.background_), np.float32)


def sort_best(scores: Embeddings, found: Positions) -> Best:
    """What was found, best first, the first in the gallery among equals."""
    order = np.lexsort((found, -scores), axis=1)
    return np.take_along_axis(scores, order, 1), np.take_along_axis(found, order, 1)


_SAME = 1e-5  # of its length, by which the embedding of a copy may differ: some units of rounding of float32


def find_copies(embeddings: GrowableArray, C: Embeddings, found: Positions) -> NDArray[np.bool_]:
    """Whether the first of the images found (q, k) has the embedding of its query C (q, d)."""
    if not found.size:
        return np.zeros(len(C), bool)
    apart = np.linalg.norm(embeddings.rows(found[:, 0]) - C, axis=1)
    lengths = np.linalg.norm(C, axis=1)
    same: NDArray[np.bool_] = (apart <= _SAME * lengths) & (lengths > 0)
    return same


@dataclass(frozen=True)
class Hits:
    """Results of a search, best first; images with equal scores are in gallery order.

    k is the number asked for, or the number of images that can be found if that is less. What follows the scores is
    computed from the similarity of image and query itself, even if `scores` are those of an expanded query or of a
    re-ranking.

    Percentiles and E-values need a background set of unrelated images and are None without one. Its scores estimate how
    likely an image of its kind scores at least s; among N images searched, N times that is the E-value. Of a gallery
    that is its own background, some of which shows what the query shows, only the bulk of these scores is believed, and
    p-values alone say what is matched.

    The p-value of a query is how likely a stranger of the gallery's own kind stands out as much: its margin, the score
    of the best image less the mean of what the next best thing has for the query and for that image, among the margins
    that the images of the gallery have when the thing that they show is left out. Several images of one thing must be
    told by `Gallery(things=...)`; without, they are taken for strangers and little is matched. A query is matched if
    its p-value is at most `false_match` and, with a background set, the E-value of its best image is at most
    -log(1 - false_match); and if its best image is a copy of it. p-values are None for a filtered search, which is
    judged by the background set alone.

    Parameters
    ----------
    ids : ndarray of shape (n_queries, k)
        Ids of the images, int64 or strings.
    scores : ndarray of shape (n_queries, k), float32
        Similarities to the query, or the scores of a re-ranking.
    percentiles : ndarray of shape (n_queries, k), default=None
        Percentage of the background set that is less similar to the query than the image is.
    expected_false_matches : ndarray of shape (n_queries, k), default=None
        E-value: the number of searched images that would score as high if all were unrelated to the query.
    matched : ndarray of shape (n_queries,), default=None
        Whether the best image is a match; that it is the right one is not said.
    p_values : ndarray of shape (n_queries,), default=None
        Probability that a query of which the gallery shows nothing stands out as much.
    caution : str, default=None
        Why `matched` holds less than it promises, in words.
    copies : ndarray of shape (n_queries,), default=None
        Whether the best image has the embedding of the query, but for rounding.
    """

    ids: NDArray[Any]
    scores: NDArray[np.float32]
    percentiles: NDArray[np.float64] | None = None
    expected_false_matches: NDArray[np.float64] | None = None
    matched: NDArray[np.bool_] | None = None
    p_values: NDArray[np.float64] | None = None
    caution: str | None = None
    copies: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        """Number of queries."""
        return len(self.ids)

    def __iter__(self) -> Iterator[list[tuple[Any, float]]]:
        """(id, score) of the images of each query, as plain lists."""
        return (list(zip(i, s, strict=True)) for i, s in zip(self.ids.tolist(), self.scores.tolist(), strict=True))
