"""PartialRows: a file of rows that grows block by block, and survives its writer."""

import os
import time
import zlib
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from manyclass import _atomic
from manyclass.data.store.journal import Journal, Mark
from manyclass.data.store.layout import PARTIAL
from manyclass.data.store.raw import raw_bytes
from manyclass.data.store.record import FileRecord, npy_header

_SECONDS = 10.0  # between marks, where rows come so slowly that a block takes longer


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
        _atomic.write_at(self._descriptor, view, self._end(self.rows))
        if self.rows % self._per_block == 0:
            self._crc32 = self._source = 0
        self._crc32 = zlib.crc32(view, self._crc32)
        self._source = self._crc32 if data is source else zlib.crc32(raw_bytes(source), self._source)
        self.rows += len(data)
        if self.room == self._per_block or time.monotonic() - self._marked_at > _SECONDS:
            self.mark()

    def mark(self) -> None:
        """Make all rows so far safe."""
        marks = self._journal.marks
        if self.rows > (marks[-1].rows if marks else 0):
            _atomic.sync(self._descriptor)
            self._journal.add_mark(Mark(self.rows, self._crc32, self._source))
        self._marked_at = time.monotonic()

    def finish(self) -> FileRecord:
        """Write the header and give the file, which is marked to its end, its name."""
        record = self.record()
        _atomic.write_at(self._descriptor, record.header, 0)
        _atomic.sync(self._descriptor)
        self.close()
        _atomic.replace(self._path, self._folder / self.name)
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
            _atomic.replace(finished, self._path)
        return os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)

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
        _atomic.sync_folder(self._folder)

    def _good(self, mark: Mark) -> bool:
        start = self._end((mark.rows - 1) // self._per_block * self._per_block)
        length = self._end(mark.rows) - start
        data = os.pread(self._descriptor, length, start)
        return len(data) == length and zlib.crc32(data) == mark.crc32

    def _end(self, rows: int) -> int:
        return self._header_bytes + rows * self._row_bytes
