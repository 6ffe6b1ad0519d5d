"""FaissIndex: an index of the faiss library beside the vectors, for galleries too large for exact search."""

from typing import Any

import numpy as np

from manyclass._core.typing import Embeddings
from manyclass.data.matrix import spans
from manyclass.retrieval.search import Best
from manyclass.retrieval.vectors import GrowableArray, Positions

_BLOCK = 1 << 16  # rows that are copied for faiss at a time


class FaissIndex:
    """Any index that `faiss.index_factory` makes, such as "HNSW32" or "IVF1024,Flat", with inner products.

    It is made when first needed, takes added rows as they come, and is made anew after a removal, as most kinds cannot
    forget. What it finds is approximate, and depends on faiss rather than on us.
    """

    def __init__(self, kind: str):
        self.kind = kind
        self._index: Any = None
        self._known: Positions = np.zeros(0, np.int64)

    def search(self, Q: Embeddings, rows: GrowableArray, live: Positions, k: int) -> Best:
        """Scores and positions (q, k); where faiss finds fewer, -infinity and -1."""
        self._update(rows, live)
        scores, found = self._index.search(Q, k)
        places = np.where(found >= 0, self._known[found], -1)
        order = np.lexsort((places, -scores), axis=1)
        return tuple(np.take_along_axis(a, order, 1) for a in (scores.astype(np.float32), places))  # type: ignore

    def _update(self, rows: GrowableArray, live: Positions) -> None:
        known = len(self._known)
        if self._index is None or not np.array_equal(live[:known], self._known):
            self._index, known = _make_index(self.kind, rows.d), 0
        if not self._index.is_trained:
            self._train(rows.rows(_training_sample(live)))
        for at in spans(len(live) - known, _BLOCK):
            self._index.add(rows.rows(live[known:][at]))
        self._known = live

    def _train(self, sample: Embeddings) -> None:
        try:
            self._index.train(sample)
        except RuntimeError as error:
            self._index = None
            raise ValueError(
                f"index {self.kind!r} needs more images to train on than the {len(sample)} in the gallery; "
                "add images before the first search, or use index=None"
            ) from error


def check_factory(kind: str) -> None:
    """Refuse what faiss cannot make an index of, or say that faiss is missing."""
    _make_index(kind, 64)


def _make_index(kind: str, d: int) -> Any:
    try:
        import faiss
    except ImportError:
        raise ImportError('index needs faiss; install it with pip install "manyclass[faiss]"') from None
    try:
        return faiss.index_factory(d, kind, faiss.METRIC_INNER_PRODUCT)
    except (RuntimeError, TypeError) as error:
        raise ValueError(f"index must be a string that faiss.index_factory takes; got {kind!r}") from error


def _training_sample(live: Positions, most: int = 1 << 18) -> Positions:
    # Every so many, so that the same gallery trains the same index.
    sample: Positions = live[:: max(1, -(-len(live) // most))]
    return sample
