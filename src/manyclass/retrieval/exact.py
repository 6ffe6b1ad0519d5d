"""The best k of all rows, exactly, block by block: the whole matrix of scores is never made."""

from collections.abc import Callable, Iterator

import numpy as np

from manyclass import _native
from manyclass._blas import threads_here
from manyclass.data.tiles import spans
from manyclass.retrieval.pieces import Codes, Pieces, Positions

Similarity = Callable[[Codes, Codes], Codes]
Best = tuple[Codes, Positions]  # scores and positions (queries, k), best first, the first in the gallery among equals

_ENTRIES = 1 << 20  # queries times k that are searched for at once
_SPARE = 16
_BLOCK = 4096  # rows whose similarities are computed at once


def best_by_product(Q: Codes, rows: Pieces, positions: Positions | None, k: int) -> Best:
    """The k rows with the highest inner product with each query (q, d), among ascending positions or all.

    Products are those of float32 numbers, added in float64; so ranks are right, and have the same bits for any batch of
    queries, any other rows and any number of threads. There must be at least k rows.
    """
    # Sums in float32 find some more than are asked for, among which float64 has the last word.
    found = _nothing(len(Q), min(k + _SPARE, len(rows) if positions is None else len(positions)))
    out = _nothing(len(Q), k)
    for at in _batches(len(Q), k):
        scores, places = found[0][at], found[1][at]
        for start, array, index in rows.selected(positions):
            n = len(array) if index is None else len(index)
            _native.best_rows(array, index, Q[at], start, scores, places, threads_here(4 * n * rows.d))
    for i, places in enumerate(found[1]):
        exact = np.einsum("ij,j->i", rows.rows(places), Q[i], dtype=np.float64)
        best = np.lexsort((places, -exact))[:k]
        out[0][i], out[1][i] = exact[best], places[best]
    return out


def best_by_similarity(similarity: Similarity, C: Codes, rows: Pieces, positions: Positions | None, k: int) -> Best:
    """The same by any similarity of embeddings, `similarity(C (q, d), D (m, d)) -> (q, m)`."""
    out = _nothing(len(C), k)
    for at in _batches(len(C), k):
        for places, block in _blocks(rows, positions):
            S = np.ascontiguousarray(similarity(C[at], block), np.float32)
            _native.best_scores(S, places, out[0][at], out[1][at], threads_here(S.nbytes))
    return out


def _nothing(q: int, k: int) -> Best:
    return np.full((q, k), -np.inf, np.float32), np.full((q, k), -1, np.int64)


def _batches(q: int, k: int) -> list[slice]:
    return spans(q, max(1, min(1024, _ENTRIES // k)))


def _blocks(rows: Pieces, positions: Positions | None) -> Iterator[tuple[Positions, Codes]]:
    for start, array, index in rows.selected(positions):
        places = np.arange(len(array), dtype=np.int64) if index is None else index
        for at in spans(len(places), _BLOCK):
            yield places[at] + start, array[at] if index is None else array[index[at]]
