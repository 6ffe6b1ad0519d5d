"""PictureFilter: which pictures have a class, a label, a folder, or a text in their name, for any number of them.

Everything that is asked for is a number by picture before anybody asks; texts are looked for in all names at once.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]

_BETWEEN = b"\xff"  # two names; no text has this byte

_SHOWN_FOLDERS = 200

_SLOTS = 256  # of bytes


@dataclass(frozen=True)
class Condition:
    """What must be true of pictures; None or empty asks for nothing."""

    class_: str | None = None
    folder: str | None = None
    text: str | None = None
    label: str | None = None

    def __bool__(self) -> bool:
        return any((self.class_, self.folder, self.text, self.label))


class PictureFilter:
    """Classes, folders and names of pictures by number.

    >>> pictures = PictureFilter(["a/Cat.jpg", "a/b/dog.jpg", "c/cat.jpg"], ["cat", "dog", None])
    >>> pictures.mask(Condition(folder="a")).tolist(), pictures.mask(Condition(text="CAT")).tolist()
    ([True, True, False], [True, False, True])
    """

    def __init__(self, ids: Sequence[str], given: Sequence[str | None]):
        self._n = len(ids)
        self._classes, self._class_codes = _coded(given)
        self._folders, self._folder_codes = _coded([one.rpartition("/")[0] for one in ids])
        self._names = _Names(ids)
        self._text = lru_cache(16)(self._names.having)

    @property
    def classes(self) -> list[str]:
        """Names of the classes that pictures came with."""
        return [name for name in self._classes if name is not None]

    def class_codes(self) -> NDArray[np.int32]:
        """A number by picture, the same for those of a class."""
        return self._class_codes

    def folders(self) -> list[dict[str, Any]]:
        """The folders with most pictures in them or below, by name."""
        counts: Counter[str] = Counter()
        sizes = np.bincount(self._folder_codes, minlength=len(self._folders)).tolist()
        for folder, size in zip(self._folders, sizes, strict=True):
            parts = str(folder).split("/") if folder else []
            for depth in range(1, len(parts) + 1):
                counts["/".join(parts[:depth])] += size
        largest = sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:_SHOWN_FOLDERS]
        return [{"name": name, "count": size} for name, size in sorted(largest)]

    def mask(self, wanted: Condition, said: "SaidLabels | None" = None) -> Mask:
        """Which pictures are wanted; `said` is what people said of them."""
        mask = np.ones(self._n, bool)
        if wanted.folder:
            mask &= self._in_folder(wanted.folder)
        if wanted.text:
            mask &= self._text(wanted.text)
        if wanted.class_:
            mask &= self._of_class(wanted.class_, said)
        if wanted.label:
            mask &= _of_label(self._n, wanted.label, said)
        return mask

    def _in_folder(self, folder: str) -> Mask:
        folder = folder.rstrip("/")
        inside = [name == folder or str(name).startswith(folder + "/") for name in self._folders]
        found: Mask = np.array(inside, bool)[self._folder_codes] if self._n else np.zeros(0, bool)
        return found

    def _of_class(self, name: str, said: "SaidLabels | None") -> Mask:
        """Those that people called so, and of the others those that came so."""
        known = [one == name for one in self._classes]
        mask: Mask = np.array(known, bool)[self._class_codes] if self._n else np.zeros(0, bool)
        if said is not None:
            mask[said.numbers] = said.is_label(name)
        return mask


@dataclass(frozen=True)
class SaidLabels:
    """Labels that people gave: numbers of pictures, and which of the names each has."""

    numbers: NDArray[np.int64]
    names: list[str | None]
    codes: NDArray[np.int32]

    @classmethod
    def of(cls, numbers: Sequence[int], labels: Sequence[str]) -> "SaidLabels":
        """Labels by the numbers of pictures."""
        names, codes = _coded(labels)
        return cls(np.asarray(numbers, np.int64), names, codes)

    def is_label(self, name: str) -> Mask:
        """Which of the numbers have this label."""
        known = np.array([one == name for one in self.names], bool)
        found: Mask = known[self.codes] if len(self.codes) else np.zeros(0, bool)
        return found


def _of_label(n: int, name: str, said: SaidLabels | None) -> Mask:
    mask = np.zeros(n, bool)
    if said is not None:
        mask[said.numbers] = said.is_label(name)
    return mask


def _coded(values: Sequence[str | None]) -> tuple[list[str | None], NDArray[np.int32]]:
    """Distinct values in their order, and which of them each is."""
    first: dict[str | None, int] = {}
    codes = np.fromiter((first.setdefault(value, len(first)) for value in values), np.int32, len(values))
    return list(first), codes


class _Names:
    """All names one after the other, as bytes in which a text is found at once."""

    def __init__(self, names: Sequence[str]):
        written = [name.casefold().encode("utf-8", "surrogatepass") for name in names]
        self._starts = np.cumsum([0, *(len(name) + 1 for name in written)])[:-1].astype(np.int64)
        self._bytes = np.frombuffer(_BETWEEN.join(written), np.uint8)
        self._counts = np.bincount(self._bytes, minlength=_SLOTS)

    def having(self, text: str) -> Mask:
        """Which names have a text, whatever the case."""
        wanted = np.frombuffer(text.casefold().encode("utf-8", "surrogatepass"), np.uint8)
        mask = np.zeros(len(self._starts), bool)
        if len(wanted) == 0 or len(wanted) > len(self._bytes):
            return ~mask if len(wanted) == 0 else mask
        # From where the rarest of its bytes is, of which there are few.
        rarest = int(np.argmin(self._counts[wanted]))
        at = np.flatnonzero(self._bytes == wanted[rarest]) - rarest
        at = at[(at >= 0) & (at <= len(self._bytes) - len(wanted))]
        for i, byte in enumerate(wanted):
            if i != rarest:
                at = at[self._bytes[at + i] == byte]
        mask[np.searchsorted(self._starts, at, side="right") - 1] = True
        return mask
