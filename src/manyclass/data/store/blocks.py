"""BlockFile: an .npy file of a store, mapped, whose blocks are checked when they are first touched."""

import mmap
import os
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from manyclass._threads import get_threads
from manyclass.data.store.errors import Damage, StoreCorruptedError, unreadable
from manyclass.data.store.record import FileRecord

T = TypeVar("T")
R = TypeVar("R")


class BlockFile:
    """The array of a file. Its name, size and header are checked here; its blocks by `check`, each of them once."""

    def __init__(self, folder: Path, record: FileRecord):
        self.record = record
        self._folder = folder
        self._map = _mapped(folder, record)
        self._checked = np.zeros(record.n_blocks, bool)
        values = np.frombuffer(self._map, record.dtype, offset=record.header_bytes)
        self.array: NDArray[Any] = values.reshape(record.shape)

    @property
    def sound(self) -> bool:
        """Whether every block was checked and found good."""
        return bool(self._checked.all())

    def check(self, blocks: NDArray[np.intp] | None = None) -> None:
        """Check these blocks, or all, unless they were checked; StoreCorruptedError for the first that differs."""
        self.check_size()
        blocks = np.arange(self.record.n_blocks) if blocks is None else blocks
        pending = blocks[~self._checked[blocks]]
        good = in_threads(self._good, pending.tolist())
        self._checked[pending] = good
        if not all(good):
            raise StoreCorruptedError(self._folder, wrong_block(self.record, int(pending[good.index(False)])))

    def check_size(self) -> None:
        """Refuse a file that somebody cut under us: to touch what is beyond its end would end the process."""
        if self._map.size() != self.record.size:
            raise StoreCorruptedError(self._folder, wrong_size(self.record, self._map.size()))

    def _good(self, block: int) -> bool:
        self.check_size()
        start, stop = self.record.span(block)
        return zlib.crc32(memoryview(self._map)[start:stop]) == self.record.crc32[block]


def in_threads(function: Callable[[T], R], items: list[T]) -> list[R]:
    """[function(item) for item in items] by our threads, for functions that let go of the interpreter."""
    if len(items) < 2 or get_threads() == 1:
        return [function(item) for item in items]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(len(items), get_threads())) as pool:
        return list(pool.map(function, items))


@contextmanager
def opened(folder: Path, record: FileRecord) -> Iterator[int]:
    """A descriptor of a file; StoreCorruptedError if it is missing or no file, StorageError if it cannot be opened."""
    try:
        descriptor = os.open(folder / record.name, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        raise StoreCorruptedError(folder, Damage(record.name, None, "is missing")) from None
    except OSError as error:
        raise unreadable(folder / record.name, error) from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise StoreCorruptedError(folder, Damage(record.name, None, "is not a file"))
        yield descriptor
    finally:
        os.close(descriptor)


def damaged_outside(descriptor: int, record: FileRecord) -> Iterable[Damage]:
    """What is wrong with the size or the header of an open file."""
    size = os.fstat(descriptor).st_size
    if size != record.size:
        yield wrong_size(record, size)
    try:
        if os.pread(descriptor, record.header_bytes, 0) != record.header:
            yield Damage(record.name, None, "has another header than was written")
    except OSError as error:
        yield Damage(record.name, None, f"cannot be read ({error.strerror})")


def wrong_size(record: FileRecord, size: int) -> Damage:
    return Damage(record.name, None, f"has {size} bytes and not {record.size}")


def wrong_block(record: FileRecord, block: int) -> Damage:
    start, stop = record.span(block)
    return Damage(record.name, block, f"(bytes {start} to {stop}) does not match its checksum")


def _mapped(folder: Path, record: FileRecord) -> mmap.mmap:
    with opened(folder, record) as descriptor:
        for damage in damaged_outside(descriptor, record):
            raise StoreCorruptedError(folder, damage)
        try:
            return mmap.mmap(descriptor, record.size, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise StoreCorruptedError(folder, Damage(record.name, None, f"cannot be mapped ({error})")) from error
