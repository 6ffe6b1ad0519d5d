"""PictureFiles: the pictures of a collection by number, small as pages show them, and nothing else on the disk.

A file is found by the id of a picture, never by a path of a request, and never outside of the folders of the pictures,
wherever a link leads. What is missing or cannot be read is a plain gray picture.
"""

import io
import os
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from manyclass.data.archives.packed_file import PackedFile
from manyclass.features.images.decoding import read_image
from manyclass.features.images.picture_source import PictureSource
from manyclass.features.images.pixels import ImageError, Pixels
from manyclass.server.picture_workers import EncodedPicture, PictureWorkers

_GRAY = 208

_MOST_SIZES = 1_000_000  # of pictures whose width and height are remembered


@dataclass(frozen=True)
class PictureStat:
    """What is known of the file of a picture; None where it is not."""

    width: int | None = None
    height: int | None = None
    bytes: int | None = None
    modified: str | None = None  # ISO 8601, UTC


@dataclass(frozen=True)
class FoundPicture:
    """Where a picture is, and a word that changes when it does."""

    source: str | NDArray[Any] | PackedFile
    version: str


class PictureFiles:
    """Pictures by number; thumbnails are made by processes of their own and kept as long as there is room."""

    def __init__(self, names: Sequence[str], source: PictureSource, workers: PictureWorkers, cache_bytes: int):
        self._names, self._source, self.workers = names, source, workers
        self._cache = ByteCache(cache_bytes)
        self._sizes: dict[tuple[int, str], tuple[int, int] | None] = {}

    @property
    def folders(self) -> list[Path]:
        """Where the files are."""
        return self._source.folders

    def path(self, number: int) -> Path | None:
        """The file of a picture, if it is there."""
        return next((file for _, file in self._source.files(self._names[number], links_out=False)), None)

    def find(self, number: int) -> FoundPicture | None:
        """Where a picture is now; None if it is not."""
        pixels = self._source.pixels(self._names[number])
        if pixels is not None:
            return FoundPicture(pixels, "array")
        path = self.path(number)
        packed = self._source.packed(self._names[number]) if path is None else None
        source = str(path) if path is not None else None if packed is None else packed[1]
        if source is None:
            return None
        try:
            about = os.stat(source.archive if isinstance(source, PackedFile) else source)
        except OSError:
            return None
        return FoundPicture(source, f"{about.st_mtime_ns:x}-{about.st_size:x}")

    def thumbnail(self, number: int, side: int) -> tuple[EncodedPicture, str | None]:
        """The picture, at most so wide and high, and its version; None if it is not there or cannot be read."""
        found = self.find(number)
        if found is None:
            return placeholder(), None
        key = number, side, found.version
        kept = self._cache.get(key)
        if kept is None:
            try:
                kept = self.workers.thumbnail(found.source, side)
            except ImageError:
                return placeholder(), None
            self._cache.put(key, kept, len(kept.content))
        return kept, found.version

    def pixels(self, number: int, max_pixels: int = 100_000) -> Pixels:
        """The pixels of a picture, shrunk to so many; ImageError if it is not there."""
        found = self.find(number)
        if found is None:
            raise ImageError("is not where it was")
        return read_image(found.source, max_pixels)

    def stat(self, number: int) -> PictureStat:
        """Size, bytes and time of the file of a picture."""
        found = self.find(number)
        if found is None:
            return PictureStat()
        width, height = self._size(number, found) or (None, None)
        if isinstance(found.source, PackedFile):
            return PictureStat(width, height)
        if not isinstance(found.source, str):
            return PictureStat(width, height, int(found.source.nbytes))
        try:
            about = os.stat(found.source)
        except OSError:
            return PictureStat()
        modified = datetime.fromtimestamp(about.st_mtime, UTC).isoformat(timespec="seconds")
        return PictureStat(width, height, about.st_size, modified)

    def close(self) -> None:
        """End the processes."""
        self.workers.close()

    def _size(self, number: int, found: FoundPicture) -> tuple[int, int] | None:
        key = number, found.version
        if key not in self._sizes:
            if len(self._sizes) >= _MOST_SIZES:
                self._sizes.clear()
            try:
                self._sizes[key] = self.workers.size(found.source)
            except ImageError:
                self._sizes[key] = None
        return self._sizes[key]


class ByteCache:
    """Things of some bytes each; those that were not asked for longest make room.

    >>> cache = ByteCache(10)
    >>> cache.put("a", 1, 6)
    >>> cache.put("b", 2, 6)
    >>> cache.get("a"), cache.get("b"), cache.bytes
    (None, 2, 6)
    """

    def __init__(self, most: int, most_entries: int | None = None):
        self._most, self._most_entries, self.bytes, self._lock = most, most_entries, 0, threading.Lock()
        self._entries: OrderedDict[Any, tuple[Any, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Any) -> Any:
        """What is kept under a key, or None."""
        with self._lock:
            if key not in self._entries:
                return None
            self._entries.move_to_end(key)
            return self._entries[key][0]

    def put(self, key: Any, value: Any, n_bytes: int) -> None:
        """Keep a thing, if there can be room for it."""
        with self._lock:
            self._drop(key)
            self._entries[key] = value, n_bytes
            self.bytes += n_bytes
            while self.bytes > self._most or len(self._entries) > (self._most_entries or len(self._entries)):
                self._drop(next(iter(self._entries)))

    def drop(self, key: Any) -> bool:
        """Forget a thing; whether it was there."""
        with self._lock:
            return self._drop(key)

    def _drop(self, key: Any) -> bool:
        if key not in self._entries:
            return False
        self.bytes -= self._entries.pop(key)[1]
        return True


def placeholder() -> EncodedPicture:
    """A plain gray picture."""
    return _PLACEHOLDER


def _gray_picture() -> EncodedPicture:
    file = io.BytesIO()
    Image.fromarray(np.full((64, 64), _GRAY, np.uint8)).save(file, "png")
    return EncodedPicture(file.getvalue(), "image/png", 64, 64)


_PLACEHOLDER = _gray_picture()
