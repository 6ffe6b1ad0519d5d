"""GrowableArray: embeddings of many images, row by row, that grow at the end."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from manyclass import _native
from manyclass._core.parallel import native_threads
from manyclass._core.typing import Embeddings

Positions = NDArray[np.int64]

_LEAST = 4096  # rows for which room is made at a time, and from which rows are taken without a copy


class GrowableArray:
    """Rows (n, d) float32 in arrays one after the other: large ones as they are given, small ones copied together.

    Room for small ones doubles, so that there are few arrays and no row is moved when others are added.

    >>> rows = GrowableArray(2)
    >>> rows.append(np.ones((3, 2), np.float32))
    >>> len(rows), rows.rows(np.array([2])).tolist()
    (3, [[1.0, 1.0]])
    """

    def __init__(self, d: int):
        self.d = d
        self._arrays: list[Embeddings] = []
        self._starts: list[int] = [0]
        self._room: Embeddings = np.empty((0, d), np.float32)  # its first rows are the last of the arrays
        self._measured, self._longest = 0, 0.0  # rows whose lengths are known, and the greatest of these

    def __len__(self) -> int:
        return self._starts[-1]

    def __iter__(self) -> Iterator[tuple[int, Embeddings]]:
        """(position of the first row, array) in order."""
        return zip(self._starts, self._arrays, strict=False)

    def attach(self, array: Embeddings) -> None:
        """Add rows without a copy; they must stay as they are."""
        if len(array):
            self._arrays.append(array)
            self._starts.append(len(self) + len(array))
            self._room = self._room[:0]

    def append(self, rows: Embeddings) -> None:
        """Add rows; many of them as they are, so that they must stay so, and few as a copy."""
        if len(rows) >= _LEAST and len(rows) > self._free():
            return self.attach(rows)
        while len(rows):
            if not self._free():
                self._room = np.empty((max(_LEAST, len(self), len(rows)), self.d), np.float32)
                self._arrays.append(self._room[:0])
                self._starts.append(len(self))
            used = len(self._arrays[-1])
            now = min(len(rows), self._free())
            self._room[used : used + now] = rows[:now]
            self._arrays[-1] = self._room[: used + now]
            self._starts[-1] += now
            rows = rows[now:]

    def rows(self, positions: Positions) -> Embeddings:
        """Copies of some rows, in any order."""
        out = np.empty((len(positions), self.d), np.float32)
        for start, array in self:
            here = np.flatnonzero((positions >= start) & (positions < start + len(array)))
            if len(here) == len(positions):
                _native.gather(array, positions - start, out, native_threads(out.nbytes))
                return out
            out[here] = array[positions[here] - start]
        return out

    def longest(self) -> float:
        """The length of the longest row; each is measured once, as rows never change."""
        for start, array in self:
            for at in range(max(start, self._measured), start + len(array), _LEAST):
                some = array[at - start : at - start + _LEAST]
                self._longest = max(self._longest, float(np.einsum("ij,ij->i", some, some).max()) ** 0.5)
        self._measured = len(self)
        return self._longest

    def blocks(self, positions: Positions | None) -> Iterator[tuple[int, Embeddings, Positions | None]]:
        """(first position, array, rows of it) for ascending positions, or None for all."""
        for start, array in self:
            if positions is None:
                yield start, array, None
                continue
            first, last = np.searchsorted(positions, [start, start + len(array)])
            if first < last:
                yield start, array, positions[first:last] - start

    def select(self, positions: Positions) -> "GrowableArray":
        """These rows alone, in a new object."""
        chosen = GrowableArray(self.d)
        for _, array, index in self.blocks(positions):
            chosen.append(array[index])
        return chosen

    def _free(self) -> int:
        return len(self._room) - len(self._arrays[-1]) if self._arrays and len(self._room) else 0
