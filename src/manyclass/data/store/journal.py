"""Journal: how far an unfinished write is, so that it can go on; and PartialRows: the file of rows that it speaks of.

A journal is a text file of lines; each is the CRC-32 of its JSON and the JSON. The first says what is being written,
one may give the quantizer, some what is attached, and the others are marks: so many rows are safe on disk. A line is
added after what it speaks of is synced. After a crash the lines up to the first that is not whole are true. The rows
grow block by block, and what is marked of them survives the writer.
"""

import os
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from numpy.typing import NDArray

from manyclass._core.digest import canonical_json
from manyclass._core.errors import StorageError
from manyclass._core.files import Bytes, open_own, replace_file, sync_file, sync_folder, write_at, write_bytes
from manyclass._core.reading import load_json, read_file
from manyclass._core.sealed import raw_bytes
from manyclass.data.store.attachments import Attachment, Attachments
from manyclass.data.store.manifest import JOURNAL, MANIFEST, ROWS, FileRecord, QuantizerRecord, is_number, npy_header

FORMAT = "manyclass store journal 2"

_FORMATS = (FORMAT, "manyclass store journal 1")  # in which nothing is attached

PARTIAL = ".partial"

PIECE_BYTES = 8 << 20  # of rows that are read, converted or encoded at a time

# What is being written, in what form, and from which state of the store.
SPEC = ("mode", "identity", "columns", "rows_name", "dtype", "width", "quantizer", "base")

HEADER = {*SPEC, "serial", "block_bytes"}


@dataclass(frozen=True)
class Mark:
    """`rows` rows are safe. `crc32` is of their stored bytes since the last block began, `source` of the rows as they
    were given since then."""

    rows: int
    crc32: int
    source: int


@dataclass
class Journal:
    """The lines of a folder's journal; `ends` has the size of the file after each mark."""

    path: Path
    header: dict[str, Any]
    quantizer: QuantizerRecord | None = None
    attachments: Attachments = field(default_factory=dict)
    marks: list[Mark] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    size: int = 0

    @classmethod
    def start(cls, folder: Path, header: dict[str, Any], attachments: Attachments | None = None) -> Self:
        """Begin a journal with this first line, and with what is attached already."""
        attached = attachments or {}
        lines = [_line({"format": FORMAT, **header}), *(_line(file.entry(role)) for role, file in attached.items())]
        write_bytes(folder / JOURNAL, *lines, part=True)
        return cls(folder / JOURNAL, header, attachments=dict(attached), size=sum(map(len, lines)))

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """The journal of a folder, as far as it is whole; None if there is none."""
        try:
            lines = read_file(folder / JOURNAL, "manifest").splitlines(keepends=True)
        except FileNotFoundError:
            lines = []
        except OSError as error:
            raise StorageError(f"{folder / JOURNAL} cannot be read ({error.strerror})") from error
        entries = _whole(lines)
        if not entries or entries[0].pop("format", None) not in _FORMATS or not _is_header(entries[0]):
            return None
        journal = cls(folder / JOURNAL, entries[0], size=len(lines[0]))
        for entry, line in zip(entries[1:], lines[1:], strict=False):
            try:
                journal._note(entry, len(line))
            except (StorageError, TypeError):  # a line that no writer of ours wrote, and nothing after it is believed
                break
        return journal

    @property
    def rows_file(self) -> str:
        """The name that the file of rows will have."""
        return f"{self.header['rows_name']}-{self.header['serial']}.npy"

    @property
    def row_bytes(self) -> int:
        """Bytes in a stored row."""
        return int(self.header["dtype"][2]) * int(self.header["width"])

    @property
    def rows_per_block(self) -> int:
        """Rows in a block: as many as fit, and at least one."""
        return max(1, int(self.header["block_bytes"]) // self.row_bytes)

    def blocks(self) -> list[Mark]:
        """The last mark of every block, which speaks of all that is safe of it."""
        return list({(mark.rows - 1) // self.rows_per_block: mark for mark in self.marks}.values())

    def add_quantizer(self, record: QuantizerRecord) -> None:
        """The quantizer's files are safe."""
        self._add({"quantizer": record.json()})

    def attach(self, role: str, pieces: Sequence[Bytes], about: dict[str, Any], done: bool = False) -> None:
        """Make a file safe that is committed with the rows; one of the same content keeps what is known about it.

        A write that is done is not changed any more: its commit sees whether it is the same.
        """
        record, known = Attachment.of(role, self.header["serial"], pieces, about), self.attachments.get(role)
        same = known is not None and (known.name, known.sha256) == (record.name, record.sha256)
        if not done:
            write_bytes(self.path.with_name(record.name), *pieces, part=True)
        if done and not same:
            self.attachments[role] = record
        elif not same:
            self._add(record.entry(role))

    def add_mark(self, mark: Mark) -> None:
        """These rows are safe."""
        self._add(asdict(mark))

    def keep(self, n_marks: int) -> None:
        """Forget all but the first marks, and any line that is not whole."""
        if n_marks < len(self.marks):
            self.size = self.ends[n_marks] - len(_line(asdict(self.marks[n_marks])))
            del self.marks[n_marks:], self.ends[n_marks:]
        with os.fdopen(open_own(self.path, os.O_RDWR), "r+b", buffering=0) as file:
            file.truncate(self.size)
            sync_file(file.fileno())

    def _add(self, entry: dict[str, Any]) -> None:
        line = _line(entry)
        descriptor = open_own(self.path, os.O_WRONLY)
        try:
            write_at(descriptor, line, self.size)
            sync_file(descriptor)
        finally:
            os.close(descriptor)
        self._note(entry, len(line))

    def _note(self, entry: dict[str, Any], length: int) -> None:
        if "quantizer" in entry:
            self.quantizer = QuantizerRecord.from_json(entry["quantizer"])
        elif "attachment" in entry:
            self.attachments[entry["attachment"]] = Attachment.from_json(entry["attachment"], entry["file"])
        else:
            self._note_mark(Mark(**entry), self.size + length)
        self.size += length

    def _note_mark(self, mark: Mark, end: int) -> None:
        before = self.marks[-1].rows if self.marks else 0
        if not all(is_number(number) for number in asdict(mark).values()) or mark.rows <= before:
            raise TypeError("marks must count rows")
        self.marks.append(mark)
        self.ends.append(end)


def _line(entry: dict[str, Any]) -> bytes:
    text = canonical_json(entry)
    return f"{zlib.crc32(text):08x} ".encode() + text + b"\n"


def _whole(lines: list[bytes]) -> list[dict[str, Any]]:
    entries = []
    for line in lines:
        text = line[9:-1]
        if line != f"{zlib.crc32(text):08x} ".encode() + text + b"\n":
            break
        try:
            entry = load_json(text, "a line")
        except ValueError:
            break
        if not isinstance(entry, dict):
            break
        entries.append(entry)
    return entries


def _is_header(entry: dict[str, Any]) -> bool:
    """Whether a first line can be one of ours: its numbers are used before anything else is known."""
    if set(entry) != HEADER or not isinstance(entry["rows_name"], str) or entry["rows_name"] not in ROWS:
        return False
    counts = [entry[key] for key in ("width", "block_bytes")]
    return entry["dtype"] in ROWS[entry["rows_name"]] and all(map(_is_size, counts)) and is_number(entry["serial"])


def _is_size(value: Any) -> bool:
    return is_number(value) and 0 < value < 2**40


_SECONDS = 10.0  # between marks where a block takes longer: what a crash may cost, against the syncs


class PartialRows:
    """The rows that a journal speaks of. They go to `X-3.npy.partial`, after room for a header; a mark in the journal
    follows the sync of every block. Whatever a crash leaves beyond the last good mark is cut off here.
    """

    def __init__(self, folder: Path, journal: Journal):
        self.name = journal.rows_file
        self._folder = folder
        self._journal = journal
        self._row_bytes, self._per_block = journal.row_bytes, journal.rows_per_block
        self._header_bytes = len(npy_header(journal.header["dtype"], (0, journal.header["width"])))
        self._descriptor = self._open()
        try:
            self._recover()
        except BaseException:
            self.close()
            raise
        self._marked_at = time.monotonic()

    @property
    def room(self) -> int:
        """Rows until the block is full."""
        return self._per_block - self.rows % self._per_block

    def put(self, data: NDArray[Any], source: NDArray[Any]) -> None:
        """Add rows, at most `room` of them, as they are stored, and as they were given."""
        view = raw_bytes(data)
        write_at(self._descriptor, view, self._end(self.rows))
        if self.rows % self._per_block == 0:
            self._crc32 = self._source = 0
        self._crc32 = zlib.crc32(view, self._crc32)
        self._source = self._crc32 if data is source else zlib.crc32(raw_bytes(source), self._source)
        self.rows += len(data)
        if self.room == self._per_block or time.monotonic() - self._marked_at > _SECONDS:
            self.mark()

    def cut(self, X: NDArray[Any]) -> Iterator[NDArray[Any]]:
        """Rows in pieces that are small, and of which none goes over the end of a block while each is put in turn."""
        most, start = max(1, PIECE_BYTES // max(1, X.shape[1] * X.itemsize)), 0
        while start < len(X):
            piece = X[start : start + min(most, self.room)]
            yield piece
            start += len(piece)

    def mark(self) -> None:
        """Make all rows so far safe."""
        marks = self._journal.marks
        if self.rows > (marks[-1].rows if marks else 0):
            sync_file(self._descriptor)
            self._journal.add_mark(Mark(self.rows, self._crc32, self._source))
        self._marked_at = time.monotonic()

    def finish(self) -> FileRecord:
        """Write the header and give the file, which is marked to its end, its name."""
        record = self.record()
        write_at(self._descriptor, record.header, 0)
        sync_file(self._descriptor)
        self.close()
        replace_file(self._path, self._folder / self.name, part=True)
        return record

    def record(self) -> FileRecord:
        """What the manifest will say of the file, as far as it is marked."""
        header = self._journal.header
        shape, block_bytes = (self.rows, header["width"]), self._per_block * self._row_bytes
        crc32 = tuple(mark.crc32 for mark in self._journal.blocks())
        return FileRecord.of(self.name, header["dtype"], shape, block_bytes, crc32)

    def close(self) -> None:
        """Let go of the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    @property
    def _path(self) -> Path:
        return self._folder / (self.name + PARTIAL)

    def _open(self) -> int:
        finished = self._folder / self.name
        if finished.exists():  # the crash came after it had its name and before the commit
            replace_file(finished, self._path, part=True)
        return open_own(self._path, os.O_RDWR | os.O_CREAT)

    def _recover(self) -> None:
        marks = self._journal.marks
        keep = len(marks)
        while keep and not self._good(marks[keep - 1]):
            keep -= 1
        self._journal.keep(keep)
        last = marks[-1] if marks else Mark(0, 0, 0)
        self.rows, self._crc32, self._source = last.rows, last.crc32, last.source
        os.ftruncate(self._descriptor, self._end(self.rows))
        # The name must last before the first mark does.
        sync_folder(self._folder)

    def _good(self, mark: Mark) -> bool:
        start = self._end((mark.rows - 1) // self._per_block * self._per_block)
        length = self._end(mark.rows) - start
        if start + length > os.fstat(self._descriptor).st_size:
            return False
        data = os.pread(self._descriptor, length, start)
        return len(data) == length and zlib.crc32(data) == mark.crc32

    def _end(self, rows: int) -> int:
        return self._header_bytes + rows * self._row_bytes


def is_unfinished(folder: Path) -> bool:
    """Whether a folder holds a store that was never whole: a journal of ours, and no manifest."""
    try:
        return not os.path.lexists(folder / MANIFEST) and Journal.read(folder) is not None
    except StorageError:
        return False
