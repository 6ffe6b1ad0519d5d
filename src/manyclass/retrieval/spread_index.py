"""SpreadIndex: exact search by workers, each of which has some of the embeddings.

A worker finds its best by sums in float32, as one process does among all images; the best of all of these are the ones
that one process finds, and the order among them is made here, by sums in float64. So hits have the same bits for any
number of workers.
"""

from threading import RLock
from typing import Any

import numpy as np

from manyclass._core.typing import Embeddings
from manyclass._core.worker_groups import WorkerGroup, Workers
from manyclass.retrieval.search import Best, FlatIndex, best_candidates, n_candidates, rank_exactly, sort_best
from manyclass.retrieval.vectors import GrowableArray, Positions

PlacedRows = tuple[int, Embeddings]  # the position of the first image, and embeddings


class SegmentSearch:
    """What a worker has: segments of the embeddings of a gallery, in ascending order.

    >>> worker = SegmentSearch([(4, np.eye(2, dtype=np.float32))])
    >>> worker.best(np.float32([[0, 1]]), 1, None)
    (array([[1.]], dtype=float32), array([[5]]))
    """

    def __init__(self, segments: list[PlacedRows]):
        self._segments = list(segments)

    def append(self, segments: list[PlacedRows]) -> None:
        """Add images, which come after all that are there."""
        self._segments += segments

    def best(self, Q: Embeddings, k: int, kept: Any) -> Best:
        """The best k of its images by sums in float32; `kept` has a bit for each that may be found, or is None."""
        mask = None if kept is None else np.unpackbits(kept).view(bool)
        blocks, done = [], 0
        for start, array in self._segments:
            index = None if mask is None else np.flatnonzero(mask[done : done + len(array)])
            if index is None or len(index):
                blocks.append((start, array, index))
            done += len(array)
        return best_candidates(Q, blocks, k)


class SpreadIndex(FlatIndex):
    """An index whose images are searched by workers; what is added to it goes to the one that has the fewest."""

    def __init__(self, index: FlatIndex, workers: Workers):
        if not index.inner_product:
            raise ValueError(
                "a gallery can be spread if the similarity of its encoder is an inner product; that of "
                f"{type(index.encoder).__name__} is not"
            )
        self.encoder, self.inner_product, self.embeddings = index.encoder, True, index.embeddings
        self._workers, self._lock = workers, RLock()
        self._group: WorkerGroup | None = None
        self._sent: GrowableArray | None = None
        self._owned: list[list[range]] = []

    def search(self, C: Embeddings, positions: Positions | None, k: int) -> Best:
        with self._lock:
            group = self._in_step()
            n = len(self.embeddings) if positions is None else len(positions)
            wanted = n_candidates(k, n)
            kept = [[None]] * len(group) if positions is None else [[bits] for bits in self._kept(positions)]
            found = group.query("best", np.ascontiguousarray(C), wanted, each=kept)
        scores, places = (np.concatenate(arrays, axis=1) for arrays in zip(*found, strict=True))
        best = rank_exactly(C, self.embeddings, sort_best(scores, places)[1][:, :wanted], k)
        if (best[1] < 0).any():
            raise ValueError(f"similarities must be finite numbers; those of {type(self.encoder).__name__} are not")
        return best

    def close(self) -> None:
        """Let go of the workers' objects."""
        with self._lock:
            if self._group is not None:
                self._group.close()
            self._group = self._sent = None

    def _in_step(self) -> WorkerGroup:
        """The workers' objects, which have all images that the index has."""
        n = len(self.embeddings)
        if self._group is None or self._sent is not self.embeddings:  # closed up, after many were removed
            self.close()
            count = max(1, min(len(self._workers), n))
            spans = [range(i * n // count, (i + 1) * n // count) for i in range(count)]
            self._sent, self._owned = self.embeddings, [[span] for span in spans]
            self._group = self._workers.start(SegmentSearch, [], [[self._segments(span)] for span in spans])
        elif new := range(sum(sizes := [sum(map(len, spans)) for spans in self._owned]), n):
            smallest = sizes.index(min(sizes))
            given = [[self._segments(new) if i == smallest else []] for i in range(len(self._owned))]
            self._group.update("append", each=given)
            self._owned[smallest].append(new)
        return self._group

    def _segments(self, span: range) -> list[PlacedRows]:
        found = []
        for start, array in self.embeddings:
            first, stop = max(start, span.start), min(start + len(array), span.stop)
            if first < stop:
                found.append((first, array[first - start : stop - start]))
        return found

    def _kept(self, positions: Positions) -> list[Any]:
        mask = np.zeros(len(self.embeddings), bool)
        mask[positions] = True
        own = (np.concatenate([mask[span.start : span.stop] for span in spans]) for spans in self._owned)
        return [np.packbits(bits) for bits in own]
