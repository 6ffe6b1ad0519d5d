"""NeighborTable: the two nearest other things of every image, by which a gallery tells its own images from strangers.

An image shows a thing t: what a column of the metadata says, or itself. The margin of a query q with the best hit g is

    a(q) = s(q, g) - (s2(q) + s1(g)) / 2,

s2(q) its best score among things other than t(g), and s1(g) that of g. Every image i of the gallery is a stranger if
its own thing is left out, so the a_i of such queries are a sample of the margins of strangers, and

    p(q) = (1 + number of a_i >= a(q)) / (n + 1).

All a_i follow from (s1, i1, s2, i2) of every image, the best image of another thing and that of a third: with
g = i1(i), s1(g) without t(i) is s1(g), or s2(g) where i1(g) shows t(i). A row is worked out when it is asked for, and
forgotten when a new image beats it or one that it names is removed; so it never depends on the gallery's history.
"""

import math
from hashlib import blake2b
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.parallel import one_blas_thread, thread_map
from manyclass._core.typing import Doubles, Embeddings
from manyclass.data.matrix import spans
from manyclass.retrieval.catalog import Catalog
from manyclass.retrieval.reranking import drop_self
from manyclass.retrieval.search import Best, FlatIndex, embedding_blocks
from manyclass.retrieval.vectors import Positions

_LOCK = RLock()  # searches of several threads work out rows of one table

MOST = 10_000  # images that are all asked; of more, as their pairs grow too many, a sample is

SAMPLE = 1000  # of these, by a hash of their ids: the share of 5 % is known to 0.7 points

_ENTRIES = 1 << 23  # scores that are held at once

_DOUBT = 1e-4  # of |x| |z|: what float32 sums of a product may be wrong by; exact ones decide within it


class NeighborTable:
    """Rows (s1, s2) and (i1, i2) by position; -1 where there is no such thing. `things` names a column of metadata."""

    def __init__(self, things: str | None = None):
        self.things = things
        self.scores: Embeddings = np.zeros((0, 2), np.float32)
        self.places: Positions = np.zeros((0, 2), np.int64)
        self.known: NDArray[np.bool_] = np.zeros(0, bool)
        self._null: Doubles | None = None
        self._codes: Positions = np.zeros(0, np.int64)
        self._counted: tuple[Positions, int] | None = None

    def codes(self, catalog: Catalog) -> Positions:
        """The number of the thing that each position shows; images without a word for it are things of their own."""
        if len(self._codes) < catalog.n_places:
            self._codes = np.arange(catalog.n_places, dtype=np.int64)
            words = catalog.columns.values.get(self.things, []) if self.things is not None else []
            first: dict[Any, int] = {}
            for place, word in enumerate(words):
                if isinstance(word, str | int | float):
                    self._codes[place] = first.setdefault(word, place)
        return self._codes

    def n_things(self, catalog: Catalog) -> int:
        """How many things the gallery shows."""
        if self.things is None:
            return len(catalog)
        live = catalog.live()  # another array after every change
        if self._counted is None or self._counted[0] is not live:
            self._counted = live, len(np.unique(self.codes(catalog)[live]))
        return self._counted[1]

    def add(self, index: FlatIndex, catalog: Catalog, new: Positions) -> None:
        """Forget rows that new images, which are in index and catalog, may beat."""
        self._null, old = None, np.flatnonzero(self.known)
        codes = self.codes(catalog)
        if len(new) > len(old):
            self.known[:] = False
        else:
            worst = np.where(self.places[old, 1] < 0, -np.inf, self.scores[old, 1])
            for at in spans(len(old), max(1, _ENTRIES // len(new))):
                S, doubt = _scores(index, old[at], new)
                S[codes[old[at]][:, None] == codes[new]] = -np.inf
                self.known[old[at]] = S.max(axis=1) < worst[at] - doubt
        self._grow(catalog.n_places)

    def remove(self, positions: Positions) -> None:
        """Forget images, and the rows that name them."""
        self._null = None
        self.known[np.isin(self.places, positions).any(axis=1)] = False
        self.known[positions[positions < len(self.known)]] = False

    def select(self, live: Positions) -> None:
        """Move with images that are closed up."""
        moved = np.full(max(len(self.known), 1 + int(live.max(initial=-1))) + 1, -1, np.int64)
        moved[live] = np.arange(len(live))  # the last entry stays -1, for places of -1
        self._grow(len(moved) - 1)
        self.scores, self.known = self.scores[live], self.known[live]
        self.places = moved[self.places[live]]
        self._codes = np.zeros(0, np.int64)

    def rows(self, index: FlatIndex, catalog: Catalog, wanted: Positions) -> tuple[Embeddings, Positions]:
        """(scores, places) (m, 2) of images at these positions."""
        self._grow(catalog.n_places)
        missing = np.unique(wanted[~self.known[wanted]])
        for at in spans(len(missing), max(1, _ENTRIES // max(1, len(catalog)))):
            self._work_out(index, catalog, missing[at])
        return self.scores[wanted], self.places[wanted]

    def null(self, index: FlatIndex, catalog: Catalog) -> Doubles:
        """The margins a_i of the gallery's images, ascending."""
        if self._null is None:
            asked = sampled(catalog)
            (s, i), codes = self.rows(index, catalog, asked), self.codes(catalog)
            self._null = np.sort(_margins(s[:, 0], s[:, 1], self._back(index, catalog, i[:, 0], codes[asked])))
        return self._null

    def p_values(self, index: FlatIndex, catalog: Catalog, C: Embeddings, best: Best, own: Any = None) -> Doubles:
        """p (q,) of queries C (q, d), with their hits (q, k); own (q,) are the positions of those in the gallery."""
        codes, null = self.codes(catalog), self.null(index, catalog)
        g = best[1][:, 0]
        second = np.full(len(g), -np.inf)
        other = codes[best[1]] != codes[g][:, None]
        found = other.any(axis=1)
        second[found] = best[0][found, other[found].argmax(axis=1)]
        for thing in np.unique(codes[g[~found]]):
            asks = np.flatnonzero(~found & (codes[g] == thing))
            rest = catalog.live()[codes[catalog.live()] != thing]
            # Of a query in the gallery, two at least, of which one is not itself.
            scores, places = index.search(C[asks], rest, min(2, len(rest)))
            itself = np.zeros_like(places, bool) if own is None else places == own[asks][:, None]
            second[asks] = np.where(itself, -np.inf, scores).max(axis=1)
        back = self._back(index, catalog, g, np.full(len(g), -1) if own is None else codes[own])
        a = _margins(best[0][:, 0], second, back)
        p: Doubles = (1 + len(null) - np.searchsorted(null, a, side="left")) / (len(null) + 1)
        return p

    def arrays(self, catalog: Catalog) -> dict[str, NDArray[Any]]:
        """The rows that are known, by the numbers of the images, for a file."""
        numbers, at = np.append(np.asarray(catalog.numbers, np.int64), -1), np.flatnonzero(self.known)
        return {"numbers": numbers[at], "scores": self.scores[at], "neighbors": numbers[self.places[at]]}

    def restore(self, catalog: Catalog, arrays: dict[str, NDArray[Any]]) -> None:
        """Take rows from a file; ValueError if they are not of this gallery."""
        numbers, known = np.asarray(catalog.numbers, np.int64), arrays["numbers"]
        scores, neighbors = arrays["scores"], arrays["neighbors"]
        if scores.shape != (len(known), 2) or neighbors.shape != scores.shape or scores.dtype != np.float32:
            raise ValueError("neighbors of images must be two for each")
        if known.dtype.kind not in "iu" or neighbors.dtype.kind not in "iu" or np.isnan(scores).any():
            raise ValueError("neighbors of images must be numbers of images, with scores")
        self._grow(len(numbers))
        at, named = np.searchsorted(numbers, known), neighbors[neighbors >= 0]
        live = numbers[catalog.live()]
        if not np.isin(known, live).all() or not np.isin(named, live).all():
            raise ValueError("neighbors of images must be images of the gallery")
        self.scores[at] = scores
        self.places[at] = np.where(neighbors < 0, -1, np.searchsorted(numbers, neighbors))
        self.known[at] = True

    def _back(self, index: FlatIndex, catalog: Catalog, g: Positions, without: Positions) -> Embeddings:
        """s1 of images g (m,) without things (m,)."""
        s, i = self.rows(index, catalog, g)
        codes = self.codes(catalog)
        return np.where((i[:, 0] >= 0) & (codes[i[:, 0]] == without), s[:, 1], s[:, 0])

    def _work_out(self, index: FlatIndex, catalog: Catalog, asked: Positions) -> None:
        if self.things is None and len(catalog) > 2:
            return self._search(index, catalog, asked)
        live, codes = catalog.live(), self.codes(catalog)
        S, doubt = _scores(index, asked, live)
        S[codes[asked][:, None] == codes[live]] = -np.inf
        nearest = codes[live[S.argmax(axis=1)]]
        least = np.where(codes[live] == nearest[:, None], -np.inf, S).max(axis=1) - doubt

        def settle(r: int) -> None:
            places = live[(S[r] >= least[r]) & (S[r] > -np.inf)]
            exact = _exact(index, asked[r], places) if index.inner_product else S[r, np.searchsorted(live, places)]
            order = np.lexsort((places, -exact))
            places, exact = places[order], exact[order]
            pair = [0, *np.flatnonzero(codes[places] != codes[places[:1]])[:1]] if len(places) else []
            self.scores[asked[r]], self.places[asked[r]] = -np.inf, -1
            self.scores[asked[r], : len(pair)], self.places[asked[r], : len(pair)] = exact[pair], places[pair]

        for r in range(len(asked)):
            settle(r)
        self.known[asked] = True

    def _search(self, index: FlatIndex, catalog: Catalog, asked: Positions) -> None:
        """The same where every image is a thing of its own: the two best but for itself."""
        live = None if len(catalog) == catalog.n_places else catalog.live()
        best = index.search(index.embeddings.rows(asked), live, 3)
        (self.scores[asked], self.places[asked]), _ = drop_self(best, best[0], asked, 2)
        self.known[asked] = True

    def _grow(self, n: int) -> None:
        more = n - len(self.known)
        if more > 0:
            self.scores = np.concatenate([self.scores, np.full((more, 2), -np.inf, np.float32)])
            self.places = np.concatenate([self.places, np.full((more, 2), -1, np.int64)])
            self.known = np.concatenate([self.known, np.zeros(more, bool)])


def _margins(first: Any, second: Any, back: Any) -> Doubles:
    """s(q, g) - (s2(q) + s1(g)) / 2; of fewer than three things there is none, which is no margin at all."""
    both = np.asarray(second, np.float64) + back
    return np.where(np.isfinite(both), np.asarray(first, np.float64) - both / 2, -np.inf)


def _scores(index: FlatIndex, asked: Positions, places: Positions) -> tuple[Embeddings, float]:
    """Scores (m, n) of images with images, and how far from the exact ones they may be."""
    C, rows = index.embeddings.rows(asked), index.embeddings
    blocks = [D for _, D in embedding_blocks(rows, None if len(places) == len(rows) else places)]
    if not index.inner_product:
        return np.concatenate([np.asarray(index.encoder.similarity(C, D), np.float32) for D in blocks], axis=1), 0.0
    with one_blas_thread():
        S = np.concatenate(list(thread_map(lambda D: C @ D.T, blocks)), axis=1)
    return S, _DOUBT * float(np.linalg.norm(C, axis=1).max()) * rows.longest()


def _exact(index: FlatIndex, asked: int, places: Positions) -> Embeddings:
    """Scores (m,) as a search has them: sums in float64."""
    x = index.embeddings.rows(np.array([asked]))[0]
    exact: Embeddings = np.einsum("ij,j->i", index.embeddings.rows(places), x, dtype=np.float64).astype(np.float32)
    return exact


def sampled(catalog: Catalog, most: int | None = None) -> Positions:
    """The images that are asked: all, or those whose ids have the least hashes, whatever the history."""
    live = catalog.live()
    if len(live) <= (MOST if most is None else most):
        return live
    hashes = [blake2b(repr(catalog.ids[i]).encode(), digest_size=8).digest() for i in live.tolist()]
    return np.sort(live[np.argsort(np.array(hashes), kind="stable")[:SAMPLE]])


def judge_margins(
    table: NeighborTable,
    index: FlatIndex,
    catalog: Catalog,
    C: Embeddings,
    best: Best | None,
    false_match: float,
    by_background: NDArray[np.bool_] | None,
    own: Positions | None = None,
) -> dict[str, Any]:
    """p-values of queries C (q, d), whether they are matched, and why that holds less than it promises, if it does.

    `best` are their hits (q, k), if these come from a search of the whole index; `by_background`, whether the
    background set agrees. Without one, large galleries are not judged, for which that costs as much as the search.
    """
    if not is_judged(catalog, by_background is not None):
        return {}
    n, fewest = table.n_things(catalog), fewest_things(false_match)
    if n < fewest:
        caution = f"{n:,} things are too few to tell strangers at a rate of {false_match:g}, which takes {fewest:,}"
        return {"caution": caution} | ({} if by_background is None else {"matched": np.zeros(len(C), bool)})
    if best is None or best[1].shape[1] < 2:
        live = None if len(catalog) == catalog.n_places else catalog.live()
        best = index.search(C, live, 3)
        best = best if own is None else drop_self(best, best[0], own, 2)[0]
    with _LOCK:
        p = table.p_values(index, catalog, C, best, own)
    return {"p_values": p, "matched": (p <= false_match) & (True if by_background is None else by_background)}


def is_judged(catalog: Catalog, background: bool) -> bool:
    """Whether queries are told from strangers: in large galleries only where scores are judged in any case."""
    return background or len(catalog) <= MOST


def background_check(
    table: NeighborTable, index: FlatIndex, catalog: Catalog, false_match: float
) -> tuple[float, float] | None:
    """(share, bound): how many images would be matched by the background alone with their thing left out, and the most
    that chance explains; a larger share tells that the background is of another kind. None where it cannot be told.
    """
    from manyclass.retrieval.significance import judge_scores

    asked = sampled(catalog, SAMPLE)
    n = table.n_things(catalog)
    background = index.background_scores(index.embeddings.rows(asked)) if n > 1 else None
    if background is None:
        return None
    with _LOCK:
        scores = table.rows(index, catalog, asked)[0][:, :1]
    matched = judge_scores(scores, background, len(catalog), false_match)["matched"]
    bound = false_match + 2 * math.sqrt(false_match * (1 - false_match) / n)
    return float(matched.mean()), bound


def fewest_things(false_match: float) -> int:
    """Of fewer things p cannot be as low as the rate.

    >>> fewest_things(0.05)
    19
    """
    return math.ceil(min(1 / false_match, 2.0**53) - 1 - 1e-9)
