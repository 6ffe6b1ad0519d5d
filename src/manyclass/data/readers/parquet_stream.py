"""ColumnStream: a column of a parquet file, read forward some rows at a time; what is near the last rows is at hand.

Of a file that is larger than memory only the pages under way are there. To go back, or far ahead, begins anew with the
row group: who asks for rows in their order reads every page once.
"""

import os
import threading
from bisect import bisect_right
from collections import OrderedDict, deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from manyclass._core.errors import is_of_machine
from manyclass.data.readers.parquet import check_column_size, opened_parquet

_OPEN_STREAMS = 4  # of a process


class ColumnStream:
    """The rows of a column, or of a field of a column that is a struct, as arrays of Arrow.

    Parameters
    ----------
    path : Path
        The file.
    column : str
        The column, such as "embedding"; "image.bytes" for a field.
    batch_rows : int
        Rows that are read at a time.
    kept : int, default=4
        Batches that are kept: several threads ask for rows that are not far apart.

    Attributes
    ----------
    n_rows : int
        Rows that the footer says.
    rows_read : int
        Rows that were read so far, those that were read again included.
    """

    def __init__(self, path: Path, column: str, batch_rows: int, kept: int = 4):
        self.path, self.column, self.batch_rows = path, column, batch_rows
        with opened_parquet(path) as file:
            check_column_size(path, file, column)
            about = file.metadata
            self._firsts, self.n_rows = [], 0
            for group in range(about.num_row_groups):
                self._firsts.append(self.n_rows)
                self.n_rows += int(about.row_group(group).num_rows)
        self._lock = threading.Lock()
        self._batches: Iterator[Any] = iter(())
        self._next = self.n_rows  # the first row of the batch that comes next
        self._kept: deque[tuple[int, Any]] = deque(maxlen=kept)
        self.rows_read = 0
        self._broken: dict[int, str] = {}  # by group: to try again for each of its rows would never end

    def batch(self, row: int) -> tuple[int, Any]:
        """The batch that holds a row, and the number of its first row."""
        with self._lock:
            found = self._find(row)
            if found is None:
                self._go_to(row)
            while found is None:
                self._advance(row)
                found = self._find(row)
            return found

    def _find(self, row: int) -> tuple[int, Any] | None:
        return next(((first, batch) for first, batch in self._kept if first <= row < first + len(batch)), None)

    def _go_to(self, row: int) -> None:
        """Begin with the group of the row, unless it comes sooner by going on."""
        group = self._group(row)
        if group in self._broken:
            raise ValueError(self._broken[group])
        if not self._firsts[group] <= self._next <= row:
            self._batches, self._next = self._read_from(group), self._firsts[group]

    def _group(self, row: int) -> int:
        return bisect_right(self._firsts, row) - 1

    def _advance(self, row: int) -> None:
        try:
            batch = next(self._batches, None)
            if batch is None:
                rule = f"must have the {self.n_rows} rows that its footer says"
                raise ValueError(f"{self.path} {rule}; got {self._next}")
        except ValueError as error:
            if not is_of_machine(error):
                self._broken[self._group(row)] = str(error)
            self._next = self.n_rows
            raise
        self._kept.append((self._next, batch))
        self._next += len(batch)
        self.rows_read += len(batch)

    def _read_from(self, group: int) -> Iterator[Any]:
        with opened_parquet(self.path) as file:
            for one in range(group, len(self._firsts)):  # each by itself: no batch is of two, of which one is damaged
                for batch in file.iter_batches(
                    self.batch_rows, row_groups=[one], columns=[self.column], use_threads=False
                ):
                    if len(batch):
                        yield batch.column(0)


_streams: OrderedDict[tuple[int, str, str], ColumnStream] = OrderedDict()

_streams_lock = threading.Lock()


def stream_of(path: str, column: str, batch_rows: int) -> ColumnStream:
    """The stream of a column that this process has under way, or a new one.

    Those of a process that this one was forked from stay where they are: to close their files would close others, which
    have their numbers by now.
    """
    key = os.getpid(), path, column
    with _streams_lock:
        stream = _streams.get(key)
        if stream is None:
            stream = _streams[key] = ColumnStream(Path(path), column, batch_rows)
            mine = [one for one in _streams if one[0] == key[0]]
            for old in mine[:-_OPEN_STREAMS]:
                del _streams[old]
        else:
            _streams.move_to_end(key)
        return stream
