"""Rows in a column of a parquet file."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.data import roles
from manyclass.data.dense import DenseMatrix
from manyclass.data.layouts import visible_files
from manyclass.data.npy import by_number
from manyclass.data.parquet_plain import is_text, is_whole, plain
from manyclass.data.parquet_vectors import is_list, is_vector, vectors

BATCH_ROWS = 1024  # small, so that reading holds little more than the result


def open_parquet(paths: Sequence[Path]) -> DenseMatrix:
    """The embedding column of parquet files, one below the other, as one array in memory.

    The column is the one called X, features, embedding, vector, ..., or else the only one of lists. It holds lists of
    one length, or bytes, which are taken as float32.
    """
    out: NDArray[Any] | None = None
    done, n = 0, sum(count_rows(path) for path in paths)
    for path in paths:
        for start, rows in _batches(path):
            out = np.empty((n, rows.shape[1]), rows.dtype) if out is None else out
            if rows.shape[1] != out.shape[1] or rows.dtype != out.dtype:
                got = f"{rows.shape[1]} of {rows.dtype} in row {start}"
                raise ValueError(f"{path} must have {out.shape[1]} numbers of {out.dtype} in a row; got {got}")
            out[done : done + len(rows)] = rows
            done += len(rows)
    if out is None:
        raise ValueError(f"{paths[0]} must have at least one row; got none")
    return DenseMatrix(out)


def parquet_shards(folder: Path) -> list[Path]:
    """The parquet files of a folder, in the order of the numbers in their names."""
    return by_number(visible_files(folder, ".parquet", ".pq"))


def column_names(path: Path) -> list[str]:
    """The names of the columns of a parquet file."""
    return list(_file(path).schema_arrow.names)


def plain_column_names(path: Path) -> list[str]:
    """The names of the columns that `read_column` can read, unless they have gaps."""
    return [field.name for field in _file(path).schema_arrow if is_whole(field.type) or is_text(field.type)]


def count_rows(path: Path) -> int:
    """The number of rows of a parquet file, from its footer."""
    return int(_file(path).metadata.num_rows)


def read_column(path: Path, name: str) -> NDArray[Any]:
    """A column of integers, of yes and no, or of text, without gaps."""
    file, source = _file(path), f"{path} column {name!r}"
    if name not in file.schema_arrow.names:
        raise ValueError(f"{path} must have a column {name!r}; got {', '.join(file.schema_arrow.names)}")
    return plain(file.read(columns=[name]).column(0), source)


def _batches(path: Path) -> Iterator[tuple[int, NDArray[Any]]]:
    file, done = _file(path), 0
    column = _vector_column(path, file.schema_arrow)
    for batch in file.iter_batches(BATCH_ROWS, columns=[column], use_threads=False):
        if len(batch):
            yield done, vectors(batch.column(0), f"{path} column {column!r}", done)
            done += len(batch)


def _vector_column(path: Path, schema: Any) -> str:
    able = [field.name for field in schema if is_vector(field.type)]
    named = roles.first_named(roles.FEATURES, able)
    lists = [field.name for field in schema if is_list(field.type)]
    if named is None and len(lists) != 1:
        got = ", ".join(lists or schema.names)
        raise ValueError(f"{path} must have a column of lists called {', '.join(roles.FEATURES)}; got {got}")
    return named or lists[0]


def _file(path: Path) -> Any:
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(f'{path} needs pyarrow to be read; pip install "manyclass[parquet]"') from error
    try:
        return pyarrow.parquet.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False)
    except pyarrow.ArrowException as error:
        raise ValueError(f"{path} must be a complete parquet file; {str(error).splitlines()[0]}") from error
