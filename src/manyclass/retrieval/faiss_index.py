"""FaissIndex: an index of the faiss library beside the embeddings, for galleries too large for exact search.

An index only makes a shortlist: the embeddings themselves score what it finds, so that scores are exact and only an
image that is not on the list can be missed. Images that were removed are passed over, and those that came later are
searched one and all, until there are so many that the index takes them in, or is made anew.
"""

import math
from collections.abc import Callable
from threading import RLock
from typing import Any

import numpy as np

from manyclass._core.parallel import get_threads
from manyclass._core.typing import Embeddings
from manyclass.data.matrix import spans
from manyclass.retrieval.catalog import Catalog
from manyclass.retrieval.reranking import drop_self
from manyclass.retrieval.search import Best, FlatIndex, rank_exactly
from manyclass.retrieval.vectors import Positions

EXACT = "exact"

RECALL = 0.95  # of the ten nearest, which the settings of a named kind are chosen to find

FEWEST = 1000  # images from which on a named kind is made; of fewer, search is exact

# (efSearch or nprobe, candidates for each image that is asked for), from quick to thorough.
_SETTINGS = {
    "hnsw": [(16 << i, 4 << max(0, i - 2)) for i in range(1, 7)],
    "ivf": [(1 << i, 4) for i in range(2, 9)],
    "pq4": [(1 << i, 10 << (i - 2)) for i in range(2, 9)],
}

INDEX_KINDS = tuple(_SETTINGS)

_BLOCK = 1 << 16  # rows that are copied for faiss at a time

_ASKED, _NEAREST = 100, 10  # images by which recall is measured, and how many neighbors of each

_SPARE = 16  # more candidates than are asked for

_LOCK = RLock()  # searches of several threads bring one index up to date


class FaissIndex:
    """An index of one of the kinds "hnsw", "ivf" and "pq4", or of any that `faiss.index_factory` makes of a string.

    It is made when first needed. A named kind takes the least effort that finds 95 % of the ten nearest of some of its
    own images; what it found of them is `about["recall"]`. `read` gives (index, numbers, about) of one that was saved.
    """

    def __init__(self, kind: str, read: Callable[[], tuple[Any, Positions, dict[str, Any]]] | None = None):
        self.kind = kind
        self.about: dict[str, Any] = {}
        self.saved: Any = None  # what a manifest says of it, as long as that is true
        self._read = read
        self._index: Any = None
        self._numbers: Positions = np.zeros(0, np.int64)  # of the images in the index, in its order
        self._placed: tuple[Positions, Positions, Positions] | None = None

    def search(self, Q: Embeddings, flat: FlatIndex, catalog: Catalog, k: int) -> Best:
        """Scores and positions (q, k), best first; where fewer are found, -infinity and -1."""
        with _LOCK:
            self.update(flat, catalog)
            places, fresh = self._places(catalog)
        if self._index is None:
            return flat.search(Q, None if len(catalog) == catalog.n_places else catalog.live(), k)
        return self._shortlisted(Q, flat, places, fresh, k)

    def update(self, flat: FlatIndex, catalog: Catalog) -> None:
        """Make the index, or take in the images that came since, where they are more than a search should pass by."""
        self._load()
        n = len(catalog)
        if self.kind in INDEX_KINDS and n < FEWEST:
            return self._forget()
        places, fresh = self._places(catalog)
        there = len(places) - int(np.count_nonzero(places < 0))
        made = self._index is not None and 8 * (len(places) - there) <= n and len(fresh) <= there
        if made and len(fresh) <= max(FEWEST, n // 20):
            return
        try:
            if made:
                self._add(flat, catalog, fresh)
            else:
                self._make(flat, catalog)
            if self._index is not None and n >= FEWEST:  # what came may lie elsewhere, and take more effort to be found
                self._measure(flat, catalog)
        except RuntimeError as error:
            self._forget()
            raise ValueError(
                f"index must be one that faiss can fill and search without more settings, as hnsw is; got {self.kind!r}"
            ) from error
        except BaseException:  # an index that is filled in part names the wrong images
            self._forget()
            raise

    def _forget(self) -> None:
        self._index, self._numbers, self.about, self.saved, self._placed = None, self._numbers[:0], {}, None, None

    def arrays(self) -> tuple[Any, Positions]:
        """The index of faiss, or None where there are too few images, and the numbers of what it holds."""
        self._load()
        return self._index, self._numbers

    def _load(self) -> None:
        if self._read is not None:
            (self._index, self._numbers, self.about), self._read = self._read(), None

    def _places(self, catalog: Catalog) -> tuple[Positions, Positions]:
        """(positions of what the index holds, -1 for what is gone; positions of the images that it does not hold)."""
        live = catalog.live()  # another array after every change
        if self._placed is None or self._placed[0] is not live:
            numbers = np.array(catalog.numbers, np.int64)
            at = np.minimum(np.searchsorted(numbers, self._numbers), max(0, len(numbers) - 1))
            there = np.zeros(len(numbers), bool)
            there[live] = True
            known = (numbers[at] == self._numbers) & there[at] if len(numbers) else np.zeros(len(at), bool)
            there[at[known]] = False
            self._placed = live, np.where(known, at, -1), np.flatnonzero(there)
        return self._placed[1:]

    def _make(self, flat: FlatIndex, catalog: Catalog) -> None:
        live, rows = catalog.live(), flat.embeddings
        factory = factory_string(self.kind, len(live), rows.d)
        self._index, self._numbers, self._placed = make_index(factory, rows.d), np.zeros(0, np.int64), None
        if not self._index.is_trained and not self._train(rows.rows(_training_sample(live, rows.d, self._index))):
            return self._forget()
        self._add(flat, catalog, live)
        self.about = {"kind": self.kind, "factory": factory, "recall": None, "effort": None, "candidates": 2}

    def _add(self, flat: FlatIndex, catalog: Catalog, places: Positions) -> None:
        for at in spans(len(places), _BLOCK):
            _with_threads(self._index.add, flat.embeddings.rows(places[at]))
        numbers = np.array(catalog.numbers, np.int64)[places]
        self._numbers, self._placed, self.saved = np.concatenate([self._numbers, numbers]), None, None

    def _train(self, sample: Embeddings) -> bool:
        """Whether there were enough images to learn from; until then search is exact, and the gallery can be saved."""
        try:
            _with_threads(self._index.train, sample)
        except RuntimeError:
            return False
        return True

    def _measure(self, flat: FlatIndex, catalog: Catalog) -> None:
        """Find out how many of the nearest are found; of a named kind, with the least effort that finds enough."""
        live, (places, fresh) = catalog.live(), self._places(catalog)
        asked = live[:: max(1, len(live) // _ASKED)][:_ASKED]
        C, k = flat.embeddings.rows(asked), _NEAREST + 1
        right = _others(flat.search(C, None if len(live) == catalog.n_places else live, k), asked)
        for effort, candidates in _SETTINGS.get(self.kind, [(None, 2)]):
            self.about |= {"effort": effort, "candidates": candidates}
            set_effort(self._index, effort)
            found = _others(self._shortlisted(C, flat, places, fresh, k), asked)
            same = [len(np.intersect1d(a, b)) for a, b in zip(found, right, strict=True)]
            self.about["recall"] = round(float(np.mean(same)) / _NEAREST, 3)
            if self.about["recall"] >= RECALL:
                break

    def _shortlisted(self, Q: Embeddings, flat: FlatIndex, places: Positions, fresh: Positions, k: int) -> Best:
        depth = min(len(places), k * self.about["candidates"] + _SPARE)
        found = _with_threads(self._index.search, Q, depth)[1]
        known = (found >= 0) & (found < len(places))  # a file may hold numbers that were never given
        found = np.where(known, places[np.where(known, found, 0)], -1)
        if len(fresh):
            found = np.concatenate([found, flat.search(Q, fresh, min(k, len(fresh)))[1]], axis=1)
        scores, best = np.full((len(Q), k), -np.inf, np.float32), np.full((len(Q), k), -1, np.int64)
        for q, some in enumerate(found):
            there = some[some >= 0][None]
            width = min(k, there.shape[1])
            (scores[q, :width],), (best[q, :width],) = rank_exactly(Q[q : q + 1], flat.embeddings, there, width)
        return scores, best


def factory_string(kind: str, n: int, d: int) -> str:
    """What faiss calls an index of this kind for n images of d numbers.

    >>> factory_string("pq4", 1_000_000, 127)
    'Pad128,IVF1024,PQ64x4fs'
    """
    # About sqrt(n), and of fewer than 39 images for each faiss complains.
    lists = 1 << max(0, min(round(math.log2(max(1, n)) / 2), int(math.log2(max(1, n / 39)))))
    if kind == "hnsw":
        return "HNSW16,SQ8"
    if kind == "ivf":
        return f"IVF{lists},SQ8"
    if kind == "pq4":
        return f"{f'Pad{d + 1},' if d % 2 else ''}IVF{lists},PQ{(d + 1) // 2}x4fs"
    return kind


def check_index(kind: str) -> None:
    """Refuse what is no kind of index, or say that faiss is missing."""
    make_index(factory_string(kind, FEWEST, 64), 64)


def make_index(factory: str, d: int) -> Any:
    """An empty index of faiss for inner products."""
    faiss = import_faiss()
    try:
        return faiss.index_factory(d, factory, faiss.METRIC_INNER_PRODUCT)
    except (RuntimeError, TypeError) as error:
        kinds = ", ".join((EXACT, *INDEX_KINDS))
        raise ValueError(
            f"index must be {kinds}, or a string that faiss.index_factory takes; got {factory!r}"
        ) from error


def import_faiss() -> Any:
    """The library, or a word on how to get it."""
    try:
        import faiss
    except ImportError:
        raise ImportError('index needs faiss; install it with pip install "manyclass[faiss]"') from None
    return faiss


def set_effort(index: Any, effort: int | None) -> None:
    """Let an index look at so many images of a graph (efSearch), or at so many of its lists (nprobe)."""
    faiss = import_faiss()
    if effort is None:
        return
    index = faiss.downcast_index(index)
    if hasattr(index, "hnsw"):
        index.hnsw.efSearch = effort
    else:
        lists = faiss.extract_index_ivf(index)
        lists.nprobe = min(effort, lists.nlist)


def _with_threads(act: Callable[..., Any], *values: Any) -> Any:
    """What a function of faiss gives, by as many threads as the rest of a search has."""
    import_faiss().omp_set_num_threads(get_threads())
    return act(*values)


def _training_sample(live: Positions, d: int, index: Any) -> Positions:
    # Every so many, so that the same gallery trains the same index: 64 for each of its lists, and at most 1 GB.
    faiss = import_faiss()
    lists = faiss.try_extract_index_ivf(index)
    most = min((1 << 28) // d, 1 << 18 if lists is None else max(1 << 16, 64 * lists.nlist))
    sample: Positions = live[:: max(1, -(-len(live) // most))]
    return sample


def _others(best: Best, asked: Positions) -> Positions:
    """What images found beside themselves."""
    return drop_self(best, best[0], asked, _NEAREST)[0][1]
