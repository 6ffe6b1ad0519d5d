"""MarkedSearch: one picture, or several that are marked, as one query; judged, and told in words.

One picture against the world of the gallery is searched for as `Gallery.search` does. Several, or another world, are
one machine in closed form (`RelevanceFeedback`), judged by what its world scores.
"""

import shlex
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from manyclass._core.typing import Doubles, Embeddings
from manyclass.retrieval.search import Hits
from manyclass.retrieval.significance import bulk_p_values, max_expected_matches, verdict
from manyclass.runs.galleries.search_by_marks import MOST_ROWS
from manyclass.server.finding.picture_filter import Condition, Mask
from manyclass.server.finding.query_pictures import QueryPicture
from manyclass.server.finding.worlds import FOLDER

if TYPE_CHECKING:
    from manyclass.server.collection import Collection

MarkedPicture = int | QueryPicture  # the number of a picture, or a picture that was sent

MOST_HITS = 5000  # that can be asked for, page by page

_AT_LEAST = 240  # hits that are looked for, so that the line is found and a few pages are there

_KEPT = 32  # searches whose pages are asked for one after the other


@dataclass(frozen=True)
class MarkedQuery:
    """What is asked: marks, the world that they are told from, which pictures may be found, and if marks may be."""

    positives: tuple[MarkedPicture, ...]
    negatives: tuple[MarkedPicture, ...]
    world: str
    condition: Condition
    leave_out: bool

    @property
    def marks(self) -> tuple[MarkedPicture, ...]:
        """All that is marked."""
        return self.positives + self.negatives

    @property
    def is_single(self) -> bool:
        """Whether one picture asks, and nothing else is marked."""
        return len(self.positives) == 1 and not self.negatives

    def key(self, version: int) -> tuple[Any, ...]:
        """What tells it from others, as long as nobody labels anything."""
        marks = [tuple(m if isinstance(m, int) else m.token for m in some) for some in (self.positives, self.negatives)]
        return *marks, self.world, self.condition, self.leave_out, version if self.condition else 0


@dataclass(frozen=True)
class Found:
    """What was found: numbers and scores best first, how they are judged, and what it took."""

    numbers: list[int]
    scores: list[float]
    percentiles: list[float] | None
    expected: list[float] | None
    total: int
    line: int | None
    matched: bool | None
    p_value: float | None
    words: str
    ms: dict[str, float]


class MarkedSearch:
    """Searches of a collection. The last few are kept, as their next pages will be asked for."""

    def __init__(self, collection: "Collection"):
        self._collection = collection
        self._kept: OrderedDict[tuple[Any, ...], tuple[int, Found]] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, asked: MarkedQuery, mask: Mask | None, version: int, most: int) -> Found:
        """The best `most` pictures and more; `mask` are those that may be found, None for all."""
        key = asked.key(version)
        with self._lock:
            depth, found = self._kept.get(key, (0, None))
        if found is not None and (depth >= most or depth >= found.total):
            return found
        k = max(most, _AT_LEAST)
        found = self._find(asked, mask, k)
        with self._lock:
            self._kept[key] = max(k, len(found.numbers)), found
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return found

    def _find(self, asked: MarkedQuery, mask: Mask | None, k: int) -> Found:
        started = perf_counter()
        search, total, background = self._prepared(asked, mask)
        encoded = perf_counter()

        def judged(k: int) -> tuple[Hits, Doubles | None, int | None]:
            hits = search(min(k, MOST_HITS))
            expected = _expected(hits, background, total)
            return hits, expected, _line(expected, self._collection.gallery.false_match)

        hits, expected, line = judged(k)
        if line is not None and line == hits.ids.shape[1] < min(total, MOST_HITS):
            hits, expected, line = judged(total)
        ms = {"encode": 1000 * (encoded - started), "search": 1000 * (perf_counter() - encoded)}
        return self._told(hits, expected, line, total, ms)

    def _prepared(
        self, asked: MarkedQuery, mask: Mask | None
    ) -> tuple[Callable[[int], Hits], int, Callable[[], Embeddings | None] | None]:
        """A search for k pictures, how many can be found, and what the world scores where its bulk alone counts."""
        gallery, first = self._collection.gallery, asked.positives[0]
        is_own = self._collection.worlds[asked.world].is_own
        if asked.is_single and asked.world == self._collection.default_world:
            n = len(self._collection) if mask is None else int(np.count_nonzero(mask))
            bulk = None  # the gallery knows itself whether it is its own background
            if isinstance(first, QueryPicture):
                return lambda k: gallery.search(first.row, k, mask), n, bulk
            if asked.leave_out:
                own = mask is None or bool(mask[first])
                return lambda k: gallery.search_ids([self._collection.raw_ids[first]], k, mask), n - own, bulk
            return lambda k: self._collection.space.search_embeddings(self._codes([first]), k, mask), n, bulk
        if asked.leave_out:
            mask = np.ones(len(self._collection), bool) if mask is None else mask.copy()
            mask[[mark for mark in asked.marks if isinstance(mark, int)]] = False
        query = (
            self._collection.worlds[asked.world]
            .machine()
            .query(self._codes(asked.positives), self._codes(asked.negatives) if asked.negatives else None)
        )
        n = len(self._collection) if mask is None else int(np.count_nonzero(mask))
        bulk = (lambda: query.background[None]) if is_own else None
        return lambda k: self._collection.space.search_embeddings(query.direction, k, mask, query.background), n, bulk

    def _codes(self, marks: Sequence[MarkedPicture]) -> Embeddings:
        rows = [self._collection.embeddings([m]) if isinstance(m, int) else m.embedding for m in marks]
        return np.concatenate(rows)

    def _told(self, hits: Hits, expected: Doubles | None, line: int | None, total: int, ms: dict[str, float]) -> Found:
        matched, p, copies = (
            None if values is None or not len(values) else values[0].item()
            for values in (hits.matched, hits.p_values, hits.copies)
        )
        judged = hits.caution is None
        words = verdict(matched, p, hits.caution, bool(copies)) if hits.ids.shape[1] else "there is nothing to be found"
        if line and judged and matched is False:
            words = f"more alike than chance: the best {line:,}; that they show the same thing is not certain"
        return Found(
            self._collection.numbers(hits.ids[0].tolist()),
            hits.scores[0].tolist(),
            None if hits.percentiles is None else hits.percentiles[0].tolist(),
            None if expected is None else expected.tolist(),
            total,
            line,
            matched if judged or copies else None,
            p,
            words,
            ms,
        )


def _expected(hits: Hits, background: Callable[[], Embeddings | None] | None, n: int) -> Doubles | None:
    """How many of n unrelated pictures would be as much alike as each hit; None if nobody can say.

    Some of a world that is drawn from the collection show what is asked for, so that its bulk alone is believed.
    """
    if hits.expected_false_matches is None:
        return None
    scores = background() if background is not None else None
    expected: Doubles = hits.expected_false_matches[0] if scores is None else n * bulk_p_values(hits.scores, scores)[0]
    return expected


def _line(expected: Doubles | None, false_match: float) -> int | None:
    """How many of the best are more alike than chance explains; None if nobody can say."""
    if expected is None:
        return None
    more = expected > max_expected_matches(false_match)
    return int(np.argmax(more)) if more.any() else len(more)


def as_command(collection: "Collection", asked: MarkedQuery, count: int) -> str:
    """The same as a line for a shell; pictures that were sent are PICTURE."""
    plain, words = "", ["manyclass", "search", str(collection.gallery_path)]
    if asked.is_single and asked.world == collection.default_world:
        first = asked.positives[0]
        words += ["PICTURE"] if isinstance(first, QueryPicture) else ["--id", collection.ids[first]]
    else:
        if not collection.is_linear:
            words[2] = "plain.gallery"
            made = ["manyclass", "encode", str(collection.data), "-o", words[2], "--method", "none"]
            plain = f"{shlex.join(made)} && "
        for option, marks in (("--like", asked.positives), ("--unlike", asked.negatives)):
            for mark in marks:
                words += [option, "PICTURE" if isinstance(mark, QueryPicture) else collection.ids[mark]]
    if asked.condition.class_:
        words += ["--where", f"class={asked.condition.class_}"]
    return plain + shlex.join([*words, "-k", str(count)])


def as_python(collection: "Collection", asked: MarkedQuery, count: int) -> str:
    """The same as a few lines of Python; pictures that were sent are "PICTURE"."""
    where = f", where={{'class': {asked.condition.class_!r}}}" if asked.condition.class_ else ""
    lines = ["import manyclass as mc", "", f"gallery = mc.Gallery.open({str(collection.gallery_path)!r})"]
    if asked.is_single and asked.world == collection.default_world:
        first = asked.positives[0]
        call = "search_images" if isinstance(first, QueryPicture) else "search_ids"
        asks = "PICTURE" if isinstance(first, QueryPicture) else collection.raw_ids[first]
        return "\n".join([*lines, f"hits = gallery.{call}([{asks!r}], k={count}{where})"])
    if not collection.is_linear:
        lines[2] = (
            f"features = mc.read_features({str(collection.data)!r})\n"
            "gallery = mc.Gallery()\ngallery.add(features.X, ids=list(features.names))"
        )
    wanted, unwanted = (_python_marks(collection, marks) for marks in (asked.positives, asked.negatives))
    world = ""
    if asked.world != collection.default_world:
        lines += _python_world(asked.world)
        world = ", world=world"
    marks = f"{wanted}, {unwanted}" if asked.negatives else wanted
    return "\n".join([*lines, f"hits = mc.runs.search_marked(gallery, {marks}, k={count}{where}{world})"])


def _python_marks(collection: "Collection", marks: Sequence[MarkedPicture]) -> str:
    return repr(["PICTURE" if isinstance(mark, QueryPicture) else collection.raw_ids[mark] for mark in marks])


def _python_world(key: str) -> list[str]:
    """Lines that make a world of the collection's own pictures, all or those of a folder."""
    some = f" if one.startswith({key.removeprefix(FOLDER) + '/'!r})" if key.startswith(FOLDER) else ""
    return [
        "import random",
        f"ids = [one for one in gallery.ids.tolist(){some}]",
        f"world = gallery.codes(random.sample(ids, min(len(ids), {MOST_ROWS})))",
    ]
