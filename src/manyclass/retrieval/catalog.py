"""Catalog: which images are in a gallery, in which order, and what is known of them."""

from array import array
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.retrieval.identifiers import Id, as_array, check_kind
from manyclass.retrieval.metadata import Columns, Record
from manyclass.retrieval.pieces import Positions


class Catalog:
    """Ids and metadata by position. A removed image leaves a gap, so that no other one moves, until `kept`.

    `numbers` ascend with the positions and are never given twice: a saved gallery knows its images by them.
    """

    def __init__(self) -> None:
        self.ids: list[Id] = []
        self.numbers = array("q")
        self.next_number = 0
        self.columns = Columns()
        self.strings: bool | None = None
        self._free = 0  # the least integer above all ids so far
        self._present = bytearray()
        self._places: dict[Id, int] = {}
        self._live: Positions | None = None

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, key: Any) -> bool:
        return isinstance(key, int | str | np.integer) and key in self._places

    @property
    def n_places(self) -> int:
        """Positions in use, gaps included."""
        return len(self.ids)

    def live(self) -> Positions:
        """Positions of the images, ascending."""
        if self._live is None:
            self._live = np.flatnonzero(np.frombuffer(self._present, np.uint8)).astype(np.int64, copy=False)
        return self._live

    def free_ids(self, n: int) -> list[Id]:
        """n integers that no image of this gallery has had, if ids are integers."""
        if self.strings:
            raise ValueError("ids must be given, because those in this gallery are strings")
        return list(range(self._free, self._free + n))

    def check_new(self, ids: list[Id], n: int) -> None:
        """Refuse ids that cannot be added with n images."""
        if len(ids) != n:
            raise ValueError(f"ids must have one entry per row of X ({n}); got {len(ids)}")
        if not ids:
            return
        check_kind(ids, self.strings if len(self) else None)
        seen: set[Id] = set()
        for key in ids:
            if key in self._places:
                raise ValueError(f"ids must be new; {key!r} is in the gallery already: use update")
            if key in seen:
                raise ValueError(f"ids must be distinct; got {key!r} twice")
            seen.add(key)

    def add(self, ids: list[Id], metadata: Any) -> None:
        """Put images, whose ids are checked, at the end."""
        first = self.next_number
        self.add_known(ids, metadata, list(range(first, first + len(ids))), np.ones(len(ids), bool))

    def add_known(self, ids: list[Id], metadata: Any, numbers: list[int], present: NDArray[np.bool_]) -> None:
        """Put images at the end that have numbers already; those that are not present leave gaps."""
        self.columns.append(len(ids), metadata)
        if not ids:
            return
        self.strings = isinstance(ids[0], str)
        start = self.n_places
        self._places.update((key, start + i) for i, key in enumerate(ids) if present[i])
        self.ids.extend(ids)
        self._present.extend(present.tobytes())
        self.numbers.extend(numbers)
        self.next_number, self._live = numbers[-1] + 1, None
        self._free = max(self._free, 1 + max((key for key in ids if isinstance(key, int)), default=-1))

    def positions(self, ids: list[Id]) -> Positions:
        """Where these images are; each must be there."""
        missing = next((key for key in ids if key not in self._places), None)
        if missing is not None:
            raise ValueError(f"ids must be in the gallery; {missing!r} is not")
        return np.array([self._places[key] for key in ids], np.int64)

    def some_positions(self, ids: Iterable[Id]) -> Positions:
        """Where those of the images that are there are, ascending."""
        return np.array(sorted({self._places[key] for key in ids if key in self._places}), np.int64)

    def remove(self, ids: list[Id]) -> None:
        """Take images out, which are there."""
        for key in ids:
            self._present[self._places.pop(key)] = 0
        self._live = None

    def record(self, key: Id) -> Record:
        """Metadata of one image."""
        return self.columns.record(int(self.positions([key])[0]))

    def ids_at(self, positions: Positions) -> NDArray[Any]:
        """Ids by position, in the same shape."""
        return as_array((self.ids[i] for i in positions.ravel().tolist()), positions.shape, bool(self.strings))

    def kept(self, positions: Sequence[int]) -> "Catalog":
        """The images at these positions, closed up."""
        catalog = Catalog()
        ids, numbers = [self.ids[i] for i in positions], [self.numbers[i] for i in positions]
        catalog.add_known(ids, None, numbers, np.ones(len(ids), bool))
        catalog.columns = self.columns.kept(positions)
        catalog.next_number, catalog.strings, catalog._free = self.next_number, self.strings, self._free
        return catalog
