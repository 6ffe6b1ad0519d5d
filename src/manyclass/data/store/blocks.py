"""BlockFile and VerifiedMatrix: mapped files and their rows, checked block by block before they are first used."""

import hashlib
import mmap
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from manyclass._core.errors import Damage, FileRefusedError, StoreCorruptedError, unreadable_error
from manyclass._core.parallel import get_threads
from manyclass._core.reading import open_file
from manyclass._core.typing import Floats
from manyclass.data.matrix import Matrix
from manyclass.data.quantizer import Quantizer
from manyclass.data.store.attachments import Attachment
from manyclass.data.store.manifest import FileRecord, row_bytes

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
        good = map_blocks(self._good, pending.tolist())
        self._checked[pending] = good
        if not all(good):
            raise StoreCorruptedError(self._folder, block_damage(self.record, int(pending[good.index(False)])))

    def check_size(self) -> None:
        """Refuse a file that somebody cut under us: to touch what is beyond its end would end the process."""
        if self._map.size() != self.record.size:
            raise StoreCorruptedError(self._folder, size_damage(self.record, self._map.size()))

    def release(self) -> None:
        """Let go of the memory that mirrors the file; what is needed is read again."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED)

    def _good(self, block: int) -> bool:
        self.check_size()
        start, stop = self.record.span(block)
        return zlib.crc32(memoryview(self._map)[start:stop]) == self.record.crc32[block]


def map_blocks(function: Callable[[T], R], items: list[T]) -> list[R]:
    """[function(item) for item in items] by our threads, for functions that let go of the interpreter."""
    if len(items) < 2 or get_threads() == 1:
        return [function(item) for item in items]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(len(items), get_threads())) as pool:
        return list(pool.map(function, items))


@contextmanager
def open_recorded(folder: Path, record: FileRecord | Attachment) -> Iterator[int]:
    """A descriptor of a file; StoreCorruptedError if it is missing or no file, StorageError if it cannot be opened."""
    try:
        file = open_file(folder / record.name)
    except FileNotFoundError:
        raise StoreCorruptedError(folder, Damage(record.name, None, "is missing")) from None
    except FileRefusedError as error:
        raise StoreCorruptedError(folder, Damage(record.name, None, error.reason)) from None
    except OSError as error:
        raise unreadable_error(folder / record.name, error) from error
    with file:
        yield file.fileno()


def header_damages(descriptor: int, record: FileRecord) -> Iterable[Damage]:
    """What is wrong with the size or the header of an open file."""
    size = os.fstat(descriptor).st_size
    if size != record.size:
        yield size_damage(record, size)
    try:
        if os.pread(descriptor, record.header_bytes, 0) != record.header:
            yield Damage(record.name, None, "has another header than was written")
    except OSError as error:
        yield Damage(record.name, None, f"cannot be read ({error.strerror})")


def size_damage(record: FileRecord | Attachment, size: int) -> Damage:
    return Damage(record.name, None, f"has {size} bytes and not {record.size}")


def block_damage(record: FileRecord, block: int) -> Damage:
    start, stop = record.span(block)
    return Damage(record.name, block, f"(bytes {start} to {stop}) does not match its checksum")


def _mapped(folder: Path, record: FileRecord) -> mmap.mmap:
    with open_recorded(folder, record) as descriptor:
        for damage in header_damages(descriptor, record):
            raise StoreCorruptedError(folder, damage)
        try:
            return mmap.mmap(descriptor, record.size, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise StoreCorruptedError(folder, Damage(record.name, None, f"cannot be mapped ({error})")) from error


_PIECE = 1 << 20  # bytes of an attached file that are read at once


@contextmanager
def open_attached(folder: Path, record: Attachment) -> Iterator[int]:
    """A descriptor of an attached file, if it has its size."""
    with open_recorded(folder, record) as descriptor:
        size = os.fstat(descriptor).st_size
        if size != record.size:
            raise StoreCorruptedError(folder, size_damage(record, size))
        yield descriptor


def attached_pieces(folder: Path, record: Attachment) -> Iterator[bytes]:
    """The bytes of an attached file, a piece at a time; StoreCorruptedError at the end if any bit is wrong."""
    state = hashlib.sha256()
    with open_attached(folder, record) as descriptor:
        for start in range(0, record.size, _PIECE):
            piece = os.pread(descriptor, min(_PIECE, record.size - start), start)
            state.update(piece)
            yield piece
    if state.hexdigest() != record.sha256:
        raise StoreCorruptedError(folder, Damage(record.name, None, "does not match its checksum"))


def read_attached(folder: Path, record: Attachment) -> bytes:
    """All of an attached file, as it was written."""
    return b"".join(attached_pieces(folder, record))


def verify_attached(folder: Path, record: Attachment) -> None:
    """Refuse an attached file that differs from what was written in any bit."""
    for _ in attached_pieces(folder, record):
        pass


@dataclass(frozen=True)
class StoreOrigin:
    """Where rows come from: the path of a store, the digest of its manifest, and the first of the rows."""

    path: Path
    digest: str
    first: int = 0

    def open(self, n: int) -> Matrix:
        """The n rows from the first on, of the store at the path; StorageError where there is none, or another."""
        from manyclass.data.store.store import open_rows

        return open_rows(self.path, self.digest).row_slice(slice(self.first, self.first + n))


class VerifiedMatrix(Matrix):
    """The rows of a store, checked against their checksums before they are used.

    Reading rows checks the blocks that hold them, and products check all blocks; each is checked once. Sizes of files
    are checked every time. A block that differs from what was written raises `StoreCorruptedError`.

    Sent to another process, rows travel as the path of their store, and are opened again there.

    Parameters
    ----------
    inner : Matrix of shape (n, d)
        The rows over mapped files.
    files : sequence of BlockFile
        Those files.
    quantizer : Quantizer, default=None
        The quantizer of the rows, if they are codes.
    start : int, default=0
        Where the rows begin among those of the files.
    origin : StoreOrigin, default=None
        Where the rows begin in which store; None for rows that cannot be sent.

    Attributes
    ----------
    quantizer : Quantizer or None
        The quantizer of the rows, if they are codes.
    stored_dtype : numpy.dtype
        The dtype of the files.
    """

    def __init__(
        self,
        inner: Matrix,
        files: Sequence[BlockFile],
        quantizer: Quantizer | None = None,
        start: int = 0,
        origin: "StoreOrigin | None" = None,
    ):
        self._origin = origin
        self.inner = inner
        self.quantizer = quantizer
        self.shape = inner.shape
        self.dtype = inner.dtype
        self.stored_dtype = files[0].array.dtype
        self._files = list(files)
        self._starts = np.cumsum([-start, *(len(file.array) for file in files)])
        self._sound = False

    @property
    def nbytes(self) -> int:
        return self.shape[0] * row_bytes(self._files[0].record)

    def check(self) -> None:
        """Check every block of these rows that was not checked yet."""
        self._check_rows(slice(0, self.shape[0]))
        self._sound = True

    def stored(self, start: int, stop: int) -> NDArray[Any]:
        """Read rows as the files have them.

        Parameters
        ----------
        start : int
            The first row.
        stop : int
            The row after the last.

        Returns
        -------
        ndarray
            Codes, or numbers of `stored_dtype`.
        """
        self._check_rows(slice(start, stop))
        pieces = [file.array[max(0, start - first) : max(0, stop - first)] for first, file in self._placed()]
        filled = [piece for piece in pieces if len(piece)] or pieces[:1]
        return filled[0] if len(filled) == 1 else np.concatenate(filled)

    def release(self) -> None:
        for file in self._files:
            file.release()

    def row_norms(self, squared: bool = False) -> Floats:
        self.check()
        return self.inner.row_norms(squared)

    def _rows(self, index: slice | NDArray[np.intp]) -> Floats:
        self._check_rows(index)
        return self.inner._rows(index)

    def _row_slice(self, start: int, stop: int) -> Matrix:
        inner = self.inner.row_slice(slice(start, stop))
        met = [(first, file) for first, file in self._placed() if first < stop and start < first + len(file.array)]
        met = met or self._placed()[:1]
        origin = self._origin and replace(self._origin, first=self._origin.first + start)
        return VerifiedMatrix(inner, [file for _, file in met], self.quantizer, start - met[0][0], origin)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._origin is None:
            raise TypeError("rows of a store can be sent to another process if `open_store` opened them; these cannot")
        return self._origin.open, (self.shape[0],)

    def _matmat(self, W: Floats) -> Floats:
        self.check()
        return self.inner._matmat(W)

    def _rmatmat(self, R: Floats) -> Floats:
        self.check()
        return self.inner._rmatmat(R)

    def _placed(self) -> list[tuple[int, BlockFile]]:
        return [(int(first), file) for first, file in zip(self._starts[:-1], self._files, strict=True)]

    def _check_rows(self, index: slice | NDArray[np.intp]) -> None:
        for first, file in self._placed():
            if self._sound:
                file.check_size()
            elif len(blocks := _blocks(file, index, first)):
                file.check(blocks)
        self._sound = self._sound or all(file.sound for file in self._files)


def _blocks(file: BlockFile, index: slice | NDArray[np.intp], first: int) -> NDArray[np.intp]:
    """The blocks of a file, whose first row is row `first` of all, in which the rows of an index lie."""
    n, per_block = len(file.array), file.record.block_bytes // row_bytes(file.record)
    if isinstance(index, slice):
        start, stop = max(0, index.start - first), min(n, index.stop - first)
        return np.arange(start // per_block, -(-stop // per_block)) if start < stop else np.zeros(0, np.intp)
    inside = index[(index >= first) & (index < first + n)] - first
    return np.unique(inside // per_block)
