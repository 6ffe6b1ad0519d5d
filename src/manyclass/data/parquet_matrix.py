"""Rows in a column of parquet files that is too large to be read whole: read forward, or put down to be at hand.

Who goes through the rows in order, as quantizers, products and statistics do, reads pages one after the other. Who goes
through them again and again, or asks for them at random, would read every page for each: after a few passes the rows
are put down, as they are, in a file without a name, which is mapped and goes away with the matrix.
"""

import os
import tempfile
import threading
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.errors import StorageError
from manyclass._core.text import format_bytes
from manyclass._core.typing import Floats, Singles
from manyclass.data.dense import DenseMatrix
from manyclass.data.matrix import Matrix
from manyclass.data.readers.parquet import vector_batches, vector_column, vectors
from manyclass.data.readers.parquet_stream import ColumnStream

_BATCH_BYTES, _BATCHES_KEPT = 2 << 20, 16  # threads that share out the rows are not farther apart

_PASSES = 4  # through all rows: to look at some, to learn from some, to measure and to write take no more


class ParquetMatrix(Matrix):
    """The vectors of parquet files, one file below the other, of which a few megabytes are in memory.

    Parameters
    ----------
    paths : sequence of Path
        The files.

    Notes
    -----
    What is put down goes to the folder that TMPDIR names, or to /var/tmp: /tmp often is memory.
    """

    def __init__(self, paths: Sequence[Path]):
        self.paths = [Path(path) for path in paths]
        first = next(vector_batches(self.paths[0]))[1]
        d = first.shape[1]
        batch = int(np.clip(_BATCH_BYTES // max(1, d * first.itemsize), 16, 1024))
        self._columns_read = [vector_column(path) for path in self.paths]
        self._streams = [
            ColumnStream(path, column, batch, _BATCHES_KEPT)
            for path, column in zip(self.paths, self._columns_read, strict=True)
        ]
        self._firsts = np.cumsum([0, *(stream.n_rows for stream in self._streams)]).tolist()
        self.stored_dtype: np.dtype[Any] = first.dtype
        self.shape = (self._firsts[-1], d)
        self.dtype = np.result_type(first.dtype, np.float32)
        self._lock, self._put_down, self._rows_read = threading.Lock(), None, 0

    _put_down: DenseMatrix | None

    @property
    def nbytes(self) -> int:
        return self.shape[0] * self.shape[1] * self.stored_dtype.itemsize

    def _rows(self, index: slice | NDArray[np.intp]) -> Floats:
        dense = self._put_down or self._read_often()
        if dense is not None:
            return dense._rows(index)
        positions = np.arange(index.start, index.stop) if isinstance(index, slice) else index
        order = np.argsort(positions, kind="stable")
        out = np.empty((len(positions), self.shape[1]), self.dtype)
        with self._lock:
            done = 0
            while done < len(order):
                start, rows = self._batch(int(positions[order[done]]))
                stop = int(np.searchsorted(positions, start + len(rows), sorter=order))
                out[order[done:stop]] = rows[positions[order[done:stop]] - start]
                done = stop
        return out

    def _rows_in(self, room: Singles, index: NDArray[np.intp]) -> Floats:
        return self._rows(index) if self._put_down is None else self._put_down._rows_in(room, index)

    def release(self) -> None:
        if self._put_down is not None:
            self._put_down.release()

    def _batch(self, row: int) -> tuple[int, NDArray[Any]]:
        """The batch that holds a row, and its first row."""
        number = bisect_right(self._firsts, row) - 1
        first, above = 0, self._firsts[number]
        before = self._streams[number].rows_read
        first, batch = self._streams[number].batch(row - above)
        self._rows_read += self._streams[number].rows_read - before
        rows = vectors(batch, f"{self.paths[number]} column {self._columns_read[number]!r}", first)
        if rows.shape[1] != self.shape[1] or rows.dtype != self.stored_dtype:
            got = f"{rows.shape[1]} of {rows.dtype} in row {first}"
            rule = f"must have {self.shape[1]} numbers of {self.stored_dtype} in a row"
            raise ValueError(f"{self.paths[number]} {rule}; got {got}")
        return above + first, rows

    def _read_often(self) -> DenseMatrix | None:
        """The rows where they are at hand, once they were read a few times; None before."""
        with self._lock:
            if self._put_down is None and self._rows_read > _PASSES * self.shape[0]:
                self._put_down = DenseMatrix(self._spooled())
            return self._put_down

    def _spooled(self) -> NDArray[Any]:
        folder = None if "TMPDIR" in os.environ or not os.path.isdir("/var/tmp") else "/var/tmp"
        try:
            with tempfile.TemporaryFile(dir=folder) as file:
                if hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(file.fileno(), 0, self.nbytes)  # or the disk would be full in the middle
                row = 0
                while row < self.shape[0]:
                    row, rows = self._batch(row)
                    file.write(np.ascontiguousarray(rows).data)
                    row += len(rows)
                file.flush()
                return np.memmap(file, self.stored_dtype, "r", shape=self.shape)
        except OSError as error:
            room, place = format_bytes(self.nbytes), folder or tempfile.gettempdir()
            raise StorageError(
                f"{self.paths[0]} is read at random, for which its rows need {room} in {place}: {error.strerror}; "
                "set TMPDIR to a folder that has them, or make a store of it first with `manyclass compress`"
            ) from error

    def __getstate__(self) -> dict[str, Any]:
        return {"paths": [path.absolute() for path in self.paths]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        ParquetMatrix.__init__(self, state["paths"])
