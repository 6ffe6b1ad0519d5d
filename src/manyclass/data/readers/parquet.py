"""Embeddings, labels and names in columns of parquet files."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.reading import check_unpacked, open_file
from manyclass.data.dense import DenseMatrix
from manyclass.data.matrix import Matrix
from manyclass.data.readers import as_matrix
from manyclass.data.readers.as_matrix import visible_files
from manyclass.data.readers.npy import by_number

_TEXT_ROWS = 1 << 16

BATCH_ROWS = 1024  # small, so that reading holds little more than the result

MOST_IN_MEMORY = 256 << 20  # bytes; what is larger is read where it lies


def open_parquet(paths: Sequence[Path]) -> Matrix:
    """The embedding column of parquet files, one below the other: in memory, or read where it lies if it is large.

    The column is the one called X, features, embedding, vector, ..., or else the only one of lists. It holds lists of
    one length, or bytes, which are taken as float32.
    """
    out: NDArray[Any] | None = None
    done, n = 0, sum(count_rows(path) for path in paths)
    for path in paths:
        for start, rows in vector_batches(path):
            if out is None:
                check_unpacked(n * rows[0].nbytes, sum(path.stat().st_size for path in paths), paths[0])
                if n * rows[0].nbytes > MOST_IN_MEMORY:
                    from manyclass.data.parquet_matrix import ParquetMatrix

                    return ParquetMatrix([one for one in paths if count_rows(one)])
                out = np.empty((n, rows.shape[1]), rows.dtype)
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
    with opened_parquet(path) as file:
        return list(file.schema_arrow.names)


def plain_column_names(path: Path) -> list[str]:
    """The names of the columns that `read_column` can read, unless they have gaps."""
    with opened_parquet(path) as file:
        return [field.name for field in file.schema_arrow if is_whole(field.type) or is_text(field.type)]


def count_rows(path: Path) -> int:
    """The number of rows of a parquet file, from its footer."""
    with opened_parquet(path) as file:
        return int(file.metadata.num_rows)


def read_column(path: Path, name: str) -> NDArray[Any]:
    """A column of integers, of yes and no, or of text, without gaps."""
    with opened_parquet(path) as file:
        if name not in file.schema_arrow.names:
            raise ValueError(f"{path} must have a column {name!r}; got {', '.join(file.schema_arrow.names)}")
        check_column_size(path, file, name)
        return plain(file.read(columns=[name]).column(0), f"{path} column {name!r}")


def is_text_column(path: Path, name: str) -> bool:
    """Whether there is such a column, and it holds text, or bytes that may be text."""
    with opened_parquet(path) as file:
        return name in file.schema_arrow.names and is_text(file.schema_arrow.field(name).type)


def read_words(path: Path, name: str) -> tuple[NDArray[np.int32], list[str]]:
    """A column of text without gaps as numbers (n,) of its words, which are in the order in which they come."""
    codes, numbers = np.empty(count_rows(path), np.int32), dict[str, int]()
    for first, column in _text_batches(path, name):
        coded = column.dictionary_encode()
        words = [_word(word, first, f"{path} column {name!r}") for word in coded.dictionary.to_pylist()]
        own = np.array([numbers.setdefault(word, len(numbers)) for word in words], np.int32)
        codes[first : first + len(column)] = own[coded.indices.to_numpy()]
    return codes, list(numbers)


def read_texts(path: Path, name: str) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """A column of text without gaps as the UTF-8 of all rows and where each begins, with the end of the last."""
    blob, begins = bytearray(), np.zeros(count_rows(path) + 1, np.int64)
    for first, column in _text_batches(path, name):
        offsets = np.frombuffer(column.buffers()[1], np.int64)[column.offset : column.offset + len(column) + 1]
        data = column.buffers()[2]
        piece = b"" if data is None else memoryview(data)[offsets[0] : offsets[-1]]
        # Bytes may be good together and not each by itself, where a character is cut between two rows.
        firsts = np.frombuffer(piece, np.uint8)[offsets[:-1][np.diff(offsets) > 0] - offsets[0]]
        if not _is_utf8(piece) or (firsts & 0xC0 == 0x80).any():
            for row, value in enumerate(column.to_pylist(), first):
                _word(value, row, f"{path} column {name!r}")
        begins[first + 1 : first + 1 + len(column)] = offsets[1:] - offsets[0] + len(blob)
        blob += piece
    return np.frombuffer(blob, np.uint8), begins


def _text_batches(path: Path, name: str) -> Iterator[tuple[int, Any]]:
    """A column of text as bytes, some rows at a time, and the number of the first: all at once takes several times as
    much as the file has."""
    import pyarrow

    with opened_parquet(path) as file:
        check_column_size(path, file, name)
        done = 0
        for batch in file.iter_batches(_TEXT_ROWS, columns=[name], use_threads=False):
            column = batch.column(0)
            _check_gaps(column, f"{path} column {name!r}", done)
            yield done, column.cast(pyarrow.large_binary())
            done += len(batch)
        if done != file.metadata.num_rows:
            raise ValueError(f"{path} must have the {file.metadata.num_rows} rows that its footer says; got {done}")
    pyarrow.default_memory_pool().release_unused()


def _is_utf8(data: Any) -> bool:
    try:
        str(data, "utf-8")
    except UnicodeDecodeError:
        return False
    return True


def vector_batches(path: Path) -> Iterator[tuple[int, NDArray[Any]]]:
    """The rows of the embedding column, some at a time, and the number of the first of them."""
    with opened_parquet(path) as file:
        done, column = 0, _vector_column(path, file.schema_arrow)
        check_column_size(path, file, column)
        for batch in file.iter_batches(BATCH_ROWS, columns=[column], use_threads=False):
            if len(batch):
                yield done, vectors(batch.column(0), f"{path} column {column!r}", done)
                done += len(batch)
        if done != file.metadata.num_rows:
            raise ValueError(f"{path} must have the {file.metadata.num_rows} rows that its footer says; got {done}")


def vector_column(path: Path) -> str:
    """The name of the column that holds vectors."""
    with opened_parquet(path) as file:
        return _vector_column(path, file.schema_arrow)


def _vector_column(path: Path, schema: Any) -> str:
    able = [field.name for field in schema if is_vector(field.type)]
    named = as_matrix.pick_name(as_matrix.FEATURES, able)
    lists = [field.name for field in schema if is_list(field.type)]
    if named is None and len(lists) != 1:
        got = ", ".join(lists or schema.names)
        raise ValueError(f"{path} must have a column of lists called {', '.join(as_matrix.FEATURES)}; got {got}")
    return named or lists[0]


@contextmanager
def opened_parquet(path: Path) -> Iterator[Any]:
    """The file as Arrow has it; what Arrow makes of damaged or hostile ones becomes one sentence."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(f'{path} needs pyarrow to be read; pip install "manyclass[parquet]"') from error
    with open_file(path) as file:
        try:
            yield pyarrow.parquet.ParquetFile(file, buffer_size=1 << 20, pre_buffer=False)
        except (pyarrow.ArrowException, OSError, OverflowError, MemoryError, UnicodeDecodeError) as error:
            words = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
            raise ValueError(f"{path} must be a complete parquet file; {words}") from error


def check_column_size(path: Path, file: Any, column: str) -> None:
    """Refuse a column that would unpack to much more than the file has, by what its footer says of it."""
    about, unpacked, column = file.metadata, 0, column.split(".")[0]
    for group in range(about.num_row_groups):
        chunks = (about.row_group(group).column(i) for i in range(about.row_group(group).num_columns))
        unpacked += sum(c.total_uncompressed_size for c in chunks if c.path_in_schema.split(".")[0] == column)
    check_unpacked(unpacked, path.stat().st_size, f"{path} column {column!r}")


def is_whole(kind: Any) -> bool:
    """Whether an Arrow type holds integers, or yes and no."""
    from pyarrow import types

    kind = _value(kind)
    return bool(types.is_integer(kind) or types.is_boolean(kind))


def is_text(kind: Any) -> bool:
    """Whether an Arrow type holds text, or bytes that may be text."""
    from pyarrow import types

    kind = _value(kind)
    able = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary, types.is_fixed_size_binary)
    return any(is_kind(kind) for is_kind in able)


def plain(column: Any, source: str) -> NDArray[Any]:
    """The values (n,) of a column without gaps as integers, bools or strings; `source` is for complaints."""
    if not is_whole(column.type) and not is_text(column.type):
        raise ValueError(f"{source} must be integers or strings; got {column.type}")
    _check_gaps(column, source, 0)
    if is_whole(column.type):
        return np.asarray(column.to_numpy())
    return np.array([_word(value, row, source) for row, value in enumerate(column.to_pylist())], np.str_)


def _check_gaps(column: Any, source: str, first: int) -> None:
    if column.null_count:
        missing = column.is_null()
        row = int(np.flatnonzero(np.asarray(missing))[0])
        raise ValueError(f"{source} must have no gaps; row {first + row} is null")


def _word(value: str | bytes, row: int, source: str) -> str:
    try:
        return value if isinstance(value, str) else value.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{source} must be text in UTF-8; row {row} is not") from error


def _value(kind: Any) -> Any:
    from pyarrow import types

    return kind.value_type if types.is_dictionary(kind) else kind


def is_list(kind: Any) -> bool:
    """Whether an Arrow type holds lists of numbers."""
    from pyarrow import types

    kind = _storage(kind)
    listed = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return bool(listed and (types.is_floating(kind.value_type) or types.is_integer(kind.value_type)))


def is_vector(kind: Any) -> bool:
    """Whether an Arrow type can hold vectors: lists of numbers, or bytes."""
    from pyarrow import types

    return is_list(kind) or types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind)


def vectors(column: Any, source: str, first: int) -> NDArray[Any]:
    """The rows of an Arrow array (m, d); `source` and the number of the `first` row are for complaints."""
    column = getattr(column, "storage", column)
    _check_gaps(column, source, first)
    return _of_lists(column, source, first) if is_list(column.type) else _of_bytes(column, source, first)


def _of_lists(column: Any, source: str, first: int) -> NDArray[Any]:
    import pyarrow.compute

    lengths = pyarrow.compute.list_value_length(column).to_numpy(zero_copy_only=False)
    _check_lengths(lengths, source, first, "numbers")
    values = column.flatten()
    d = int(lengths[0])
    if values.null_count:
        at = int(np.flatnonzero(values.is_null().to_numpy(zero_copy_only=False))[0])
        raise ValueError(f"{source} must have no gaps; row {first + at // d} has a null at {at % d}")
    return np.asarray(values.to_numpy(zero_copy_only=False)).reshape(len(column), d)


def _of_bytes(column: Any, source: str, first: int) -> NDArray[Any]:
    rows = column.to_pylist()
    lengths = np.array([len(row) for row in rows])
    _check_lengths(lengths, source, first, "bytes")
    if lengths[0] % 4:
        raise ValueError(f"{source} must hold the bytes of float32; got {lengths[0]} bytes in row {first}")
    return np.frombuffer(b"".join(rows), "<f4").reshape(len(rows), -1)


def _check_lengths(lengths: NDArray[Any], source: str, first: int, unit: str) -> None:
    wrong = np.flatnonzero(lengths != lengths[0])
    if len(wrong):
        row, d = int(wrong[0]), int(lengths[0])
        raise ValueError(f"{source} must have {d} {unit} in every row; got {int(lengths[row])} in row {first + row}")


def _storage(kind: Any) -> Any:
    return getattr(kind, "storage_type", kind)  # what an extension type, such as a tensor, is kept as
