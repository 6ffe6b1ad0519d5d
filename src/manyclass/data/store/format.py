"""The files of a store: their names, and FileRecord, what the manifest says of one of them."""

import math
import re
import zlib
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from manyclass._core.errors import StorageError
from manyclass._core.files import write_bytes
from manyclass._core.sealed import as_little_endian, raw_bytes

MANIFEST = "manifest.json"

JOURNAL = "journal"

PARTIAL = ".partial"

BLOCK_BYTES = 4 << 20  # of data per checksum, rounded down to whole rows

PIECE_BYTES = 8 << 20  # of rows that are read, converted or encoded at a time

# What a segment may hold besides its rows: the file's first name, and its dtype.
COLUMNS = {"y": "<i8", "split": "|u1", "names": "|u1", "name_offsets": "<i8"}

ROWS = {"X": ("<f2", "<f4", "<f8"), "codes": ("|u1",)}

_FILE = re.compile(r"(?:X|codes|y|split|names|name_offsets|quantizer_[a-z0-9_]{1,64})-(0|[1-9][0-9]{0,8})\.npy")

_OURS = re.compile(rf"(?:{_FILE.pattern}|journal|manifest\.json)(?:\.partial|\.tmp)?")


def file_name(name: str) -> bool:
    """Whether a manifest may name a file so."""
    return _FILE.fullmatch(name) is not None


def serial_of(name: str) -> int | None:
    """The number of the commit that made a file of ours, finished or not; None for other files.

    >>> serial_of("X-3.npy.partial"), serial_of("manifest.json")
    (3, None)
    """
    match = _OURS.fullmatch(name)
    return int(match[1]) if match and match[1] else None


def is_ours(name: str) -> bool:
    """Whether a writer may have left a file of this name, and may remove it."""
    return _OURS.fullmatch(name) is not None


DTYPES = ("<f2", "<f4", "<f8", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8")

_MOST_DIMENSIONS = 8

_MOST = 2**62  # no file is larger, and sizes below it never overflow what counts them


def npy_header(dtype: str, shape: tuple[int, ...]) -> bytes:
    """The header of an .npy file of version 1.0 in C order: 128 bytes, or the next multiple of 64 that holds it."""
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape!r}, }}"
    length = max(128, 64 * math.ceil((10 + len(text) + 1) / 64))
    return b"\x93NUMPY\x01\x00" + (length - 10).to_bytes(2, "little") + text.ljust(length - 11).encode() + b"\n"


@dataclass(frozen=True)
class FileRecord:
    """Name, layout, size in bytes and checksums of a file.

    Block i is the i-th run of `block_bytes` bytes after the header.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    size: int
    header_bytes: int
    header_crc32: int
    block_bytes: int
    crc32: tuple[int, ...]

    @classmethod
    def of(cls, name: str, dtype: str, shape: tuple[int, ...], block_bytes: int, crc32: tuple[int, ...]) -> Self:
        """The record of a file with this content."""
        header = npy_header(dtype, shape)
        size = len(header) + math.prod(shape) * np.dtype(dtype).itemsize
        return cls(name, dtype, shape, size, len(header), zlib.crc32(header), block_bytes, crc32)

    @classmethod
    def of_array(cls, name: str, array: NDArray[Any]) -> Self:
        """The record of the file that holds this array, which is C-ordered."""
        data = raw_bytes(array)
        blocks = tuple(zlib.crc32(data[i : i + BLOCK_BYTES]) for i in range(0, len(data), BLOCK_BYTES))
        return cls.of(name, array.dtype.str, array.shape, BLOCK_BYTES, blocks)

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """The record that a manifest holds; nothing in it is believed before it is checked."""
        names = {field.name for field in fields(cls)}
        if not isinstance(value, dict) or set(value) != names:
            raise StorageError(f"a file must be described by {sorted(names)}")
        if not (isinstance(value["name"], str) and file_name(value["name"])):
            raise StorageError(f"a file of a store cannot be named {value['name']!r}")
        if value["dtype"] not in DTYPES:
            raise StorageError(f"{value['name']} must have one of the dtypes {DTYPES}; got {value['dtype']!r}")
        shape, crc32 = (_numbers(value, key) for key in ("shape", "crc32"))
        if len(shape) > _MOST_DIMENSIONS:
            raise StorageError(f"{value['name']} must have at most {_MOST_DIMENSIONS} dimensions; got {len(shape)}")
        if not (_is_number(value["block_bytes"]) and value["block_bytes"]):
            raise StorageError(f"{value['name']} must have blocks of at least one byte; got {value['block_bytes']!r}")
        record = cls.of(value["name"], value["dtype"], shape, value["block_bytes"], crc32)
        record._check(value)
        return record

    @property
    def n_blocks(self) -> int:
        return len(self.crc32)

    @property
    def header(self) -> bytes:
        """The bytes with which the file begins."""
        return npy_header(self.dtype, self.shape)

    def span(self, block: int) -> tuple[int, int]:
        """The first byte of a block in the file, and the one after its last."""
        start = self.header_bytes + block * self.block_bytes
        return start, min(self.size, start + self.block_bytes)

    def json(self) -> dict[str, Any]:
        """What `from_json` takes."""
        return {**asdict(self), "shape": list(self.shape), "crc32": list(self.crc32)}

    def _check(self, value: dict[str, Any]) -> None:
        for key in ("size", "header_bytes", "header_crc32"):
            if value[key] != getattr(self, key):
                raise StorageError(f"{self.name} must have {key} {getattr(self, key)}; got {value[key]!r}")
        blocks = -(-(self.size - self.header_bytes) // self.block_bytes)
        if self.n_blocks != blocks or self.size > _MOST:
            raise StorageError(f"{self.name} of {self.size} bytes must have {blocks} checksums; got {self.n_blocks}")


def _is_number(value: Any) -> bool:
    return type(value) is int and 0 <= value <= _MOST


def _numbers(value: dict[str, Any], key: str) -> tuple[int, ...]:
    numbers = value[key]
    if not isinstance(numbers, list) or not all(map(_is_number, numbers)):
        raise StorageError(f"{value['name']} must have integers for its {key}")
    return tuple(numbers)


def write_array(folder: Path, name: str, array: NDArray[Any]) -> FileRecord:
    """Write an array, whole or not at all, and give its record."""
    array = as_little_endian(array)
    record = FileRecord.of_array(name, array)
    write_bytes(folder / name, record.header, raw_bytes(array))
    return record
