"""Files that are cells of a parquet column: pictures as Hugging Face keeps them, and the names of their classes.

A column of pictures is a struct of `bytes` and `path`, or of bytes alone if it is called like one. The metadata of the
schema, under the key "huggingface", say which integers are classes, and how these are called.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from manyclass._core.errors import FileRefusedError
from manyclass._core.reading import load_json
from manyclass.data.archives.packed_file import PackedFile, check_packed
from manyclass.data.readers.as_matrix import LABELS, pick_name
from manyclass.data.readers.parquet import is_text, is_whole, opened_parquet
from manyclass.data.readers.parquet_stream import stream_of

_PICTURES = ("image", "img", "picture", "photo", "jpg", "jpeg", "png", "webp", "image_bytes", "pixel_values")

_BATCH_ROWS = 16  # that are in memory together: photographs of some megabytes at times


@dataclass(frozen=True, slots=True)
class ParquetCell(PackedFile):
    """The bytes in a row of a column; `total` are the bytes of the parquet file, by which it is known again."""

    archive: str
    column: str
    row: int
    total: int

    def __str__(self) -> str:
        return f"{self.archive}/{self.row}"

    def read(self) -> bytes:
        """The bytes, by way of the batch of rows that they are in."""
        first, batch = stream_of(self.archive, self.column, _BATCH_ROWS).batch(self.row)
        cell = batch[self.row - first]
        if cell.is_valid and _is_struct(batch.type):
            cell = cell["bytes"]
        if not cell.is_valid:
            raise FileRefusedError(str(self), "is missing")
        buffer = cell.as_buffer()
        check_packed(buffer.size, str(self))
        return buffer.to_pybytes()  # type: ignore[no-any-return]

    def identity(self) -> str:
        """The bytes of the whole file: those of the cell are known only where it is read."""
        return f"{self.total} {self.row}"

    def moved(self, archive: str) -> "ParquetCell":
        """The cell of the same file elsewhere."""
        return replace(self, archive=archive)


@dataclass(frozen=True)
class PictureColumns:
    """What a parquet file has of pictures: the column of their bytes, that of their labels, and how classes are called.

    `labels` and `names` are None where there are none.
    """

    pictures: str
    labels: str | None
    names: tuple[str, ...] | None


def picture_columns(path: Path) -> PictureColumns | None:
    """The columns of a parquet file that holds pictures; None if it holds something else."""
    with opened_parquet(path) as file:
        schema = file.schema_arrow
    pictures = _picture_column(schema)
    if pictures is None:
        return None
    known = class_names(schema)
    plain = [field.name for field in schema if is_whole(field.type) or is_text(field.type)]
    finest = max(known, key=lambda name: len(known[name]), default=None)
    labels = pick_name(LABELS, plain) or (finest if finest in plain else None)
    return PictureColumns(pictures, labels, known.get(labels or ""))


def holds_pictures(path: Path) -> bool:
    """Whether a file is a parquet file with a column of pictures."""
    try:
        return picture_columns(path) is not None
    except (ValueError, OSError, ImportError):
        return False


def cells_of(path: Path) -> Sequence[ParquetCell]:
    """The pictures of a parquet file, a cell for each row."""
    columns = picture_columns(path)
    if columns is None:
        raise ValueError(f"{path} must have a column of pictures, a struct of bytes and path; it has none")
    with opened_parquet(path) as file:
        n = int(file.metadata.num_rows)
    archive, total = os.fspath(path), path.stat().st_size
    return [ParquetCell(archive, columns.pictures, row, total) for row in range(n)]


def class_names(schema: Any) -> dict[str, tuple[str, ...]]:
    """The names of the classes of columns of integers, as `datasets` of Hugging Face leaves them in a schema."""
    features = _features(schema)
    found = {}
    for column, about in features.items():
        names = about.get("names") if isinstance(about, dict) and about.get("_type") == "ClassLabel" else None
        if isinstance(names, list) and names and all(isinstance(name, str) for name in names):
            found[column] = tuple(names)
    return found


def _features(schema: Any) -> dict[str, Any]:
    """What the metadata of a schema say of its columns; nothing where they make no sense."""
    try:
        about = load_json((schema.metadata or {}).get(b"huggingface", b"{}"), "the metadata")
        features = about["info"]["features"]
    except (ValueError, KeyError, TypeError):
        return {}
    return features if isinstance(features, dict) else {}


def _picture_column(schema: Any) -> str | None:
    from pyarrow import types

    def is_bytes(kind: Any) -> bool:
        return bool(types.is_binary(kind) or types.is_large_binary(kind))

    structs = {
        field.name: f"{field.name}.bytes"
        for field in schema
        if _is_struct(field.type) and any(one.name == "bytes" and is_bytes(one.type) for one in field.type)
    }
    if structs:
        return structs[pick_name(_PICTURES, structs) or next(iter(structs))]
    said = {
        name for name, about in _features(schema).items() if isinstance(about, dict) and about.get("_type") == "Image"
    }
    able = [field.name for field in schema if is_bytes(field.type)]
    return pick_name(_PICTURES, able) or next(filter(said.__contains__, able), None)


def _is_struct(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_struct(kind))
