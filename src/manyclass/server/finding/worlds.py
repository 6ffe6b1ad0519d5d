"""World: what pictures are compared with. Alike is what is nearer to what was marked than to the world.

A machine is fitted against a world when it is first asked for, and kept.
"""

import threading
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.typing import Embeddings
from manyclass.runs.galleries.search_by_marks import FEWEST_ROWS, MOST_ROWS, is_own_world

if TYPE_CHECKING:
    from manyclass.server.collection import Collection

NEGATIVES, ARCHIVE, FOLDER = "negatives", "gallery", "folder:"

_MOST_FOLDERS = 12

_LOCK = threading.Lock()


class World:
    """Embeddings of pictures that others are compared with, by a key and with a name for people.

    A world of the collection's `own` pictures has some that show what is asked for.
    """

    def __init__(self, key: str, name: str, size: int, rows: Callable[[], Embeddings], is_own: bool = True):
        self.key, self.name, self.size, self.is_own, self._rows = key, name, size, is_own, rows

    def embeddings(self) -> Embeddings:
        """(size, p) float32."""
        with _LOCK:
            return self._embeddings

    @cached_property
    def _embeddings(self) -> Embeddings:
        return self._rows()

    def machine(self) -> Any:
        """The RelevanceFeedback that is fitted against this world."""
        rows = self.embeddings()
        with _LOCK:
            return self._machine(rows)

    def _machine(self, rows: Embeddings) -> Any:
        from manyclass.exemplar.relevance_feedback import RelevanceFeedback

        if not hasattr(self, "_fitted"):
            self._fitted = RelevanceFeedback().fit(rows)
        return self._fitted


def worlds_of(collection: "Collection", seed: int) -> dict[str, World]:
    """The worlds of a collection, the default one first."""
    found: dict[str, World] = {}
    background = collection.index.encoder.background_
    if len(background) >= FEWEST_ROWS:
        source = str(collection.gallery.provenance.get("negatives", ""))
        is_own = is_own_world(collection.gallery)
        name = (
            "some of these pictures" if is_own else f"unrelated pictures: {source}" if source else "unrelated pictures"
        )
        found[NEGATIVES] = World(NEGATIVES, name, len(background), lambda: background, is_own)
    n = len(collection)
    size = min(n, MOST_ROWS)
    found[ARCHIVE] = World(
        ARCHIVE,
        "a sample of all these pictures" if size < n else "all of these pictures",
        size,
        _sample(collection, None, size, seed),
    )
    folders = sorted(collection.filter.folders(), key=lambda one: -one["count"])
    large = [one for one in folders if FEWEST_ROWS <= one["count"] < n][:_MOST_FOLDERS]
    for one in large:
        key, size = FOLDER + one["name"], min(one["count"], MOST_ROWS)
        found[key] = World(key, f"the folder {one['name']}", size, _sample(collection, one["name"], size, seed))
    return found


def _sample(collection: "Collection", folder: str | None, size: int, seed: int) -> Callable[[], Embeddings]:
    def rows() -> Embeddings:
        from manyclass.server.finding.picture_filter import Condition

        numbers: NDArray[np.intp] = np.arange(len(collection))
        if folder is not None:
            numbers = np.flatnonzero(collection.filter.mask(Condition(folder=folder)))
        if len(numbers) > size:
            numbers = np.sort(np.random.default_rng(seed).choice(numbers, size, replace=False))
        return collection.embeddings(numbers)

    return rows
