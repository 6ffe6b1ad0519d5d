"""Catalog: which images are in a gallery, in which order, what is known of them, and which of them a search may find.

Ids are integers or strings, one kind in a gallery.
"""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.retrieval.metadata import MetadataColumns, Record
from manyclass.retrieval.vectors import Positions

Id = int | str


def as_ids(ids: Any) -> list[Id]:
    """One id or some, as a list of plain integers or strings."""
    if isinstance(ids, str | int | np.integer):
        ids = [ids]
    try:
        values = np.atleast_1d(ids).tolist() if isinstance(ids, np.ndarray) else list(ids)
        if isinstance(ids, bytes | bytearray):
            raise TypeError
    except TypeError:
        raise ValueError(f"ids must be integers or strings, one per image; got {ids!r}") from None
    return [_as_id(value, row) for row, value in enumerate(values)]


def distinct_ids(ids: Any) -> list[Id]:
    """The same of ids of one kind, none of them twice."""
    keys = as_ids(ids)
    if keys:
        check_kind(keys, None)
    if len(set(keys)) != len(keys):
        twice = next(key for i, key in enumerate(keys) if key in keys[:i])
        raise ValueError(f"ids must be distinct; got {twice!r} twice")
    return keys


def as_array(ids: Iterable[Id], shape: tuple[int, ...], strings: bool) -> NDArray[Any]:
    """Ids as an array of int64 or of strings."""
    flat = list(ids)
    return np.array(flat, dtype=np.str_ if strings and flat else None if strings else np.int64).reshape(shape)


def check_kind(ids: list[Id], strings: bool | None) -> bool:
    """Whether these ids are strings; refuse two kinds among them, or another than the gallery has (None: none yet)."""
    kind = isinstance(ids[0], str) if strings is None else strings
    wrong = next((value for value in ids if isinstance(value, str) is not kind), None)
    if wrong is not None:
        raise ValueError(f"ids must all be {'strings' if kind else 'integers'} in this gallery; got {wrong!r}")
    return kind


def _as_id(value: Any, row: int) -> Id:
    if isinstance(value, str):
        return _as_text(str(value), row)
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and -(2**63) <= value < 2**63:
        return int(value)
    raise ValueError(f"ids must be 64-bit integers or strings; got {value!r} at row {row}")


def _as_text(value: str, row: int) -> str:
    # NumPy drops NUL at the end of a string, and no file can hold half a character.
    if value.endswith("\0") or (not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value)):
        raise ValueError(
            f"ids must be text that does not end in NUL and has no lone surrogates; got {value!r} at row {row}"
        )
    return value


class Catalog:
    """Ids and metadata by position. A removed image leaves a gap, so that no other one moves, until `select`.

    `numbers` ascend with the positions and are never given twice: a saved gallery knows its images by them.
    """

    def __init__(self) -> None:
        self.ids: list[Id] = []
        self.numbers = array("q")
        self.next_number = 0
        self.columns = MetadataColumns()
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

    def select(self, positions: Sequence[int]) -> "Catalog":
        """The images at these positions, closed up."""
        catalog = Catalog()
        ids, numbers = [self.ids[i] for i in positions], [self.numbers[i] for i in positions]
        catalog.add_known(ids, None, numbers, np.ones(len(ids), bool))
        catalog.columns = self.columns.select(positions)
        catalog.next_number, catalog.strings, catalog._free = self.next_number, self.strings, self._free
        return catalog


def select_rows(catalog: Catalog, where: Any) -> Positions | None:
    """Ascending positions of the images that may be found; None for all, if there are no gaps.

    `where` is None; a boolean array over the images in the gallery's order; ids (those that are not there are passed
    over); a dict of values, or of sets, lists, ranges or arrays of them, that an image must have; or a function of its
    metadata.
    """
    if where is None:
        return None if len(catalog) == catalog.n_places else catalog.live()
    if callable(where):
        return _masked(catalog, [bool(where(catalog.columns.record(i))) for i in catalog.live().tolist()])
    if isinstance(where, Mapping):
        return _masked(catalog, _matches(catalog, where))
    if isinstance(where, np.ndarray | list | tuple) and len(where) and np.asarray(where).dtype == bool:
        return _masked(catalog, where)
    return catalog.some_positions(as_ids(where))


def _masked(catalog: Catalog, mask: Any) -> Positions:
    mask = np.asarray(mask, bool)
    if mask.shape != (len(catalog),):
        raise ValueError(f"where must have one entry per image of the gallery ({len(catalog)}); got {mask.shape}")
    kept: Positions = catalog.live()[mask]
    return kept


def _matches(catalog: Catalog, where: Mapping[str, Any]) -> Any:
    live, mask = catalog.live(), np.ones(len(catalog), bool)
    for name, wanted in where.items():
        if name not in catalog.columns.values:
            known = ", ".join(catalog.columns.values) or "none"
            raise ValueError(f"where must name metadata that images have ({known}); got {name!r}")
        column, options = catalog.columns.values[name], _options(wanted)
        mask &= np.fromiter((column[i] in options for i in live.tolist()), bool, len(live))
    return mask


def _options(wanted: Any) -> Any:
    if isinstance(wanted, np.ndarray):
        return np.atleast_1d(wanted).tolist()
    if isinstance(wanted, Iterable) and not isinstance(wanted, str | bytes | Mapping):
        return list(wanted)
    return [wanted]
