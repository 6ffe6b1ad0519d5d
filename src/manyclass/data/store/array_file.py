"""A whole array as a file of a store."""

from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from manyclass import _atomic
from manyclass.data.store.raw import plain, raw_bytes
from manyclass.data.store.record import FileRecord


def write_array(folder: Path, name: str, array: NDArray[Any]) -> FileRecord:
    """Write an array, whole or not at all, and give its record."""
    array = plain(array)
    record = FileRecord.of_array(name, array)
    _atomic.write_bytes(folder / name, record.header, raw_bytes(array))
    return record
