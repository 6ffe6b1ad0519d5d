"""Journal: how far an unfinished write is, so that it can go on.

A text file of lines; each is the CRC-32 of its JSON and the JSON. The first says what is being written, one may give
the quantizer, and the others are marks: so many rows are safe on disk. A line is added after what it speaks of is
synced. After a crash the lines up to the first that is not whole are true.
"""

import json
import os
import zlib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from manyclass import _atomic
from manyclass.data.store.errors import StorageError
from manyclass.data.store.layout import JOURNAL
from manyclass.data.store.manifest import QuantizerRecord
from manyclass.data.store.sealed import canonical

FORMAT = "manyclass store journal 1"
# What is being written, in what form, and from which state of the store.
WORK = ("mode", "identity", "columns", "rows_name", "dtype", "width", "quantizer", "base")
HEADER = {*WORK, "serial", "block_bytes"}


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
    marks: list[Mark] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    size: int = 0

    @classmethod
    def start(cls, folder: Path, header: dict[str, Any]) -> Self:
        """Begin a journal with this first line."""
        line = _line({"format": FORMAT, **header})
        _atomic.write_bytes(folder / JOURNAL, line)
        return cls(folder / JOURNAL, header, size=len(line))

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """The journal of a folder, as far as it is whole; None if there is none."""
        try:
            lines = (folder / JOURNAL).read_bytes().splitlines(keepends=True)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StorageError(f"{folder / JOURNAL} cannot be read ({error.strerror})") from error
        entries = _whole(lines)
        if not entries or entries[0].pop("format", None) != FORMAT or set(entries[0]) != HEADER:
            return None
        journal = cls(folder / JOURNAL, entries[0], size=len(lines[0]))
        for entry, line in zip(entries[1:], lines[1:], strict=False):
            journal._note(entry, len(line))
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

    def add_mark(self, mark: Mark) -> None:
        """These rows are safe."""
        self._add(asdict(mark))

    def keep(self, n_marks: int) -> None:
        """Forget all but the first marks, and any line that is not whole."""
        if n_marks < len(self.marks):
            self.size = self.ends[n_marks] - len(_line(asdict(self.marks[n_marks])))
            del self.marks[n_marks:], self.ends[n_marks:]
        with open(self.path, "r+b", buffering=0) as file:
            file.truncate(self.size)
            _atomic.sync(file.fileno())

    def _add(self, entry: dict[str, Any]) -> None:
        line = _line(entry)
        descriptor = os.open(self.path, os.O_WRONLY)
        try:
            _atomic.write_at(descriptor, line, self.size)
            _atomic.sync(descriptor)
        finally:
            os.close(descriptor)
        self._note(entry, len(line))

    def _note(self, entry: dict[str, Any], length: int) -> None:
        self.size += length
        if "quantizer" in entry:
            self.quantizer = QuantizerRecord.from_json(entry["quantizer"])
        else:
            self.marks.append(Mark(**entry))
            self.ends.append(self.size)


def _line(entry: dict[str, Any]) -> bytes:
    text = canonical(entry)
    return f"{zlib.crc32(text):08x} ".encode() + text + b"\n"


def _whole(lines: list[bytes]) -> list[dict[str, Any]]:
    entries = []
    for line in lines:
        text = line[9:-1]
        if line != f"{zlib.crc32(text):08x} ".encode() + text + b"\n":
            break
        entries.append(json.loads(text))
    return entries
