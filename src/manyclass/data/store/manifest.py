"""Manifest: what a store holds, as its manifest.json says it; and FileRecord, what it says of each file."""

import math
import re
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from manyclass._core.digest import json_digest
from manyclass._core.errors import Damage, StorageError, StoreCorruptedError, unreadable_error
from manyclass._core.files import write_bytes
from manyclass._core.reading import read_file
from manyclass._core.sealed import as_little_endian, raw_bytes, seal, unseal
from manyclass.data.store.attachments import Attachment, Attachments

FORMAT = "manyclass store"

VERSION = 2  # of version 1 nothing is attached: the encoder and what it skipped lie beside the folder

MANIFEST = "manifest.json"

JOURNAL = "journal"

BLOCK_BYTES = 4 << 20  # of data per checksum, rounded down to whole rows

# What a segment may hold besides its rows: the file's first name, and its dtype.
COLUMNS = {"y": "<i8", "split": "|u1", "names": "|u1", "name_offsets": "<i8"}

ROWS = {"X": ("<f2", "<f4", "<f8"), "codes": ("|u1",)}

FILE_NAME = re.compile(r"(?:X|codes|y|split|names|name_offsets|quantizer_[a-z0-9_]{1,64})-(0|[1-9][0-9]{0,8})\.npy")

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
        if not (isinstance(value["name"], str) and FILE_NAME.fullmatch(value["name"])):
            raise StorageError(f"a file of a store cannot be named {str(value['name'])[:60]!r}")
        if value["dtype"] not in DTYPES:
            raise StorageError(
                f"{value['name']} must have one of the dtypes {DTYPES}; got {str(value['dtype'])[:60]!r}"
            )
        shape, crc32 = (_numbers(value, key) for key in ("shape", "crc32"))
        if len(shape) > _MOST_DIMENSIONS:
            raise StorageError(f"{value['name']} must have at most {_MOST_DIMENSIONS} dimensions; got {len(shape)}")
        if not (is_number(value["block_bytes"]) and value["block_bytes"]):
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


def is_number(value: Any) -> bool:
    """Whether a value of JSON is a whole number that a size can be."""
    return type(value) is int and 0 <= value <= _MOST


def _numbers(value: dict[str, Any], key: str) -> tuple[int, ...]:
    numbers = value[key]
    if not isinstance(numbers, list) or not all(map(is_number, numbers)):
        raise StorageError(f"{value['name']} must have integers for its {key}")
    return tuple(numbers)


def write_array(folder: Path, name: str, array: NDArray[Any]) -> FileRecord:
    """Write an array, whole or not at all, and give its record."""
    array = as_little_endian(array)
    record = FileRecord.of_array(name, array)
    write_bytes(folder / name, record.header, raw_bytes(array), part=True)
    return record


Segment = dict[str, FileRecord]  # "X" or "codes", and the columns


@dataclass(frozen=True)
class QuantizerRecord:
    """The kind and settings of the quantizer, and the files of its arrays."""

    kind: str
    settings: dict[str, Any]
    arrays: dict[str, FileRecord]

    def json(self) -> dict[str, Any]:
        """What `from_json` takes."""
        arrays = {name: file.json() for name, file in self.arrays.items()}
        return {"kind": self.kind, "settings": self.settings, "arrays": arrays}

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """The record that a manifest holds, checked."""
        if not isinstance(value, dict) or set(value) != {"kind", "settings", "arrays"}:
            raise StorageError("its quantizer must have a kind, settings and arrays")
        kind, settings, arrays = value["kind"], value["settings"], value["arrays"]
        if not (isinstance(kind, str) and isinstance(settings, dict) and isinstance(arrays, dict)):
            raise StorageError("its quantizer must have a kind that is a word, and settings and arrays by name")
        return cls(kind, settings, {name: FileRecord.from_json(file) for name, file in arrays.items()})


@dataclass(frozen=True)
class Manifest:
    """d columns, segments of rows, and what belongs to all rows. `serial` counts the commits."""

    serial: int
    columns: int
    segments: tuple[Segment, ...]
    quantizer: QuantizerRecord | None
    classes: list[str] | None
    splits: list[str] | None
    provenance: dict[str, Any]
    attachments: Attachments = field(default_factory=dict)
    version: int = VERSION

    @property
    def rows_name(self) -> str:
        """What the files with the rows are called."""
        return "codes" if self.quantizer else "X"

    @property
    def n_rows(self) -> int:
        return sum(segment[self.rows_name].shape[0] for segment in self.segments)

    @property
    def row_files(self) -> list[FileRecord]:
        return [segment[self.rows_name] for segment in self.segments]

    def has(self, column: str) -> bool:
        """Whether every row has a label ("y"), a split ("split") or a name ("names")."""
        return column in self.segments[0]

    def files(self) -> Iterator[FileRecord]:
        """Every file of arrays."""
        for segment in self.segments:
            yield from segment.values()
        if self.quantizer:
            yield from self.quantizer.arrays.values()

    def sizes(self) -> dict[str, int]:
        """The bytes of every file of the store but the manifest, by its name."""
        sizes = {file.name: file.size for file in self.files()}
        return sizes | {file.name: file.size for file in self.attachments.values()}

    def content(self) -> dict[str, Any]:
        """What is sealed in manifest.json."""
        attached = {role: file.json() for role, file in self.attachments.items()}
        return {
            "format": FORMAT,
            "version": self.version,
            "serial": self.serial,
            "columns": self.columns,
            "segments": [{role: file.json() for role, file in segment.items()} for segment in self.segments],
            "quantizer": self.quantizer.json() if self.quantizer else None,
            "classes": self.classes,
            "splits": self.splits,
            "provenance": self.provenance,
            **({"attachments": attached} if self.version > 1 else {}),
        }

    def to_bytes(self) -> bytes:
        """manifest.json, byte for byte."""
        return seal(self.content())

    def digest(self) -> str:
        """The SHA-256 that manifest.json carries."""
        return json_digest(self.content())

    @classmethod
    def from_content(cls, content: dict[str, Any]) -> Self:
        """The manifest of some unsealed content; nothing in it is believed before it is checked."""
        _check_format(content)
        keys = {"format", "version", "serial", "columns", "segments", "quantizer", "classes", "splits", "provenance"}
        keys |= {"attachments"} if content["version"] > 1 else set()
        if set(content) != keys:
            raise StorageError(f"it must have the entries {sorted(keys)}; got {sorted(content)}")
        if not isinstance(content.get("attachments", {}), dict):
            raise StorageError("its attachments must be files by their roles")
        for key in ("serial", "columns"):
            if type(content[key]) is not int or not 0 <= content[key] < 2**31:
                raise StorageError(f"its {key} must be a whole number; got {content[key]!r}")
        manifest = cls(
            content["serial"],
            content["columns"],
            _segments(content["segments"]),
            QuantizerRecord.from_json(content["quantizer"]) if content["quantizer"] is not None else None,
            _words(content, "classes"),
            _words(content, "splits"),
            content["provenance"],
            {role: Attachment.from_json(role, file) for role, file in content.get("attachments", {}).items()},
            content["version"],
        )
        manifest._check()
        return manifest

    def _check(self) -> None:
        if not isinstance(self.provenance, dict):
            raise StorageError("its provenance must be a dictionary")
        for segment in self.segments:
            self._check_segment(segment)
        if self.has("split") != (self.splits is not None) or (self.classes is not None and not self.has("y")):
            raise StorageError("its classes and splits must go with columns of labels and parts")
        if len(self.sizes()) != sum(1 for _ in self.files()) + len(self.attachments):
            raise StorageError("it must name every file once")

    def _check_segment(self, segment: Segment) -> None:
        rows = segment.get(self.rows_name)
        columns = set(segment) - {self.rows_name}
        if rows is None or not columns <= set(COLUMNS) or columns != set(self.segments[0]) - {self.rows_name}:
            raise StorageError(f"every segment must hold {self.rows_name} and the same columns; got {sorted(segment)}")
        if ("names" in columns) != ("name_offsets" in columns):
            raise StorageError("names and name_offsets must come together")
        self._check_rows(rows)
        lengths = {"y": rows.shape[0], "split": rows.shape[0], "name_offsets": rows.shape[0] + 1}
        for role in columns:
            shape = segment[role].shape
            if segment[role].dtype != COLUMNS[role] or len(shape) != 1 or shape[0] != lengths.get(role, shape[0]):
                raise StorageError(
                    f"{segment[role].name} must be a vector of {COLUMNS[role]}, one per row; got {shape}"
                )

    def _check_rows(self, rows: FileRecord) -> None:
        first = self.row_files[0]
        if rows.dtype not in ROWS[self.rows_name] or rows.dtype != first.dtype:
            raise StorageError(f"{rows.name} must hold {first.dtype}, as its first segment; got {rows.dtype}")
        if len(rows.shape) != 2 or rows.shape[1] != first.shape[1] or rows.shape[1] < 1:
            raise StorageError(f"{rows.name} must be two-dimensional, as wide as its first segment; got {rows.shape}")
        if self.quantizer is None and rows.shape[1] != self.columns:
            raise StorageError(f"{rows.name} must have {self.columns} columns; got {rows.shape[1]}")
        if rows.block_bytes % row_bytes(rows):
            raise StorageError(f"{rows.name} must have blocks of whole rows; got blocks of {rows.block_bytes} bytes")


def row_bytes(rows: FileRecord) -> int:
    """Bytes in a row of a file of rows."""
    return int(rows.dtype[2]) * rows.shape[1]


def _check_format(content: dict[str, Any]) -> None:
    name, version = content.get("format"), content.get("version")
    if name != FORMAT:
        raise StorageError(f"its format must be {FORMAT!r}; got {name!r}")
    if type(version) is not int or version < 1:
        raise StorageError(f"its format version must be a whole number; got {version!r}")
    if version > VERSION:
        raise StorageError(f"it has format version {version}, and this manyclass reads up to {VERSION}; upgrade it")


def _segments(value: Any) -> tuple[Segment, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(segment, dict) for segment in value):
        raise StorageError("it must have at least one segment of rows")
    return tuple({role: FileRecord.from_json(file) for role, file in segment.items()} for segment in value)


def _words(content: dict[str, Any], key: str) -> list[str] | None:
    words = content[key]
    if words is None:
        return None
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words) or len(set(words)) < len(words):
        raise StorageError(f"its {key} must be distinct words")
    return words


_ATTEMPTS = 20


def manifests(path: Path) -> Iterator[Manifest]:
    """The manifest of the store at `path`; and, when asked again, the next one if it has changed meanwhile.

    Who finds files missing asks again: perhaps the store was overwritten just then, and the new files are there.
    """
    seen = None
    for _ in range(_ATTEMPTS):
        data = manifest_bytes(path)
        if data == seen:
            return
        seen = data
        yield _manifest(path, data)
    raise StorageError(f"{path} is overwritten faster than it can be read; try again later")


def read_manifest(path: Path) -> Manifest:
    """The manifest of the store at `path`; StorageError, in one sentence, for whatever is not one."""
    return _manifest(path, manifest_bytes(path))


def store_bytes(path: Path) -> int:
    """Bytes of all files of the store at `path`, its manifest among them, as that says."""
    manifest = read_manifest(path)
    return len(manifest.to_bytes()) + sum(manifest.sizes().values())


def _manifest(path: Path, data: bytes) -> Manifest:
    try:
        content = unseal(data)
    except StorageError as error:
        raise StoreCorruptedError(path, Damage(MANIFEST, None, str(error))) from None
    try:
        return Manifest.from_content(content)
    except StorageError as error:
        raise StorageError(f"{path} cannot be read as a store: {error}") from None


def manifest_bytes(path: Path) -> bytes:
    """manifest.json as it is, if `path` is a folder that has one of a sane size."""
    if not path.is_dir():
        kind = "it is a file, and a store is a folder" if path.exists() else "there is no such folder"
        raise StorageError(f"{path} cannot be read as a store: {kind}")
    try:
        return read_file(path / MANIFEST, "manifest")
    except FileNotFoundError:
        raise StorageError(_no_manifest(path)) from None
    except OSError as error:
        raise unreadable_error(path / MANIFEST, error) from error


def unfinished_words(path: Path) -> str:
    """What to say of a store whose writing was interrupted."""
    return f"{path} is unfinished: its writing was interrupted, and the same command again goes on"


def _no_manifest(path: Path) -> str:
    if (path / JOURNAL).exists():
        return unfinished_words(path)
    return f"{path} cannot be read as a store: it has no {MANIFEST}"
