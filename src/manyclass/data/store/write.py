"""write_store and append_store: a store from rows that are all there, in the form in which they are kept."""

import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.errors import StorageError
from manyclass._core.sealed import parse_json, raw_bytes
from manyclass._core.typing import Report
from manyclass.data.dense import DenseMatrix
from manyclass.data.matrix import Matrix
from manyclass.data.quantizer import Quantizer
from manyclass.data.store.blocks import VerifiedMatrix
from manyclass.data.store.columns import StoreColumns, collect_columns
from manyclass.data.store.journal import PIECE_BYTES
from manyclass.data.store.store import Store, same_quantizer
from manyclass.data.store.writer import StoreWriter
from manyclass.data.views import ShardedMatrix


@dataclass(frozen=True)
class Source:
    """n rows; `read(start, stop)` gives some, as numbers of `dtype` or, if there is a quantizer, as its codes."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    quantizer: Quantizer | None
    read: Callable[[int, int], NDArray[Any]]

    def pieces(self, start: int, stop: int) -> Iterator[NDArray[Any]]:
        """Rows start to stop, a few megabytes at a time."""
        size = max(1, PIECE_BYTES // max(1, self.dtype.itemsize * self.shape[1]))
        for first in range(start, stop, size):
            yield self.read(first, min(stop, first + size))


def numbers_of(X: Matrix) -> Source:
    """The rows of X as numbers."""
    return Source(X.shape, X.dtype, None, lambda start, stop: X.rows(slice(start, stop)))


def source_of(X: Matrix) -> Source:
    """The rows of X as X keeps them: float16 stays so, and codes stay codes."""
    if isinstance(X, VerifiedMatrix):
        return Source(X.shape, X.stored_dtype, X.quantizer, X.stored)
    if isinstance(X, ShardedMatrix):
        return _stacked(X)
    if hasattr(X, "codes") and hasattr(X, "quantizer"):
        codes = X.codes
        return Source(X.shape, codes.dtype, X.quantizer, lambda start, stop: codes[start:stop])
    if isinstance(X, DenseMatrix) and X.array.dtype.kind == "f":
        return Source(X.shape, X.array.dtype, None, lambda start, stop: X.stored(slice(start, stop)))
    return numbers_of(X)


def _stacked(X: ShardedMatrix) -> Source:
    shards = [source_of(matrix) for matrix in X.matrices]
    if any(
        shard.dtype != shards[0].dtype or not same_quantizer(shard.quantizer, shards[0].quantizer) for shard in shards
    ):
        return numbers_of(X)
    starts = np.cumsum([0, *(shard.shape[0] for shard in shards)]).tolist()

    def read(start: int, stop: int) -> NDArray[Any]:
        spans = zip(shards, starts, strict=False)
        cuts = [(shard, max(0, start - at), min(shard.shape[0], stop - at)) for shard, at in spans]
        return np.concatenate([shard.read(first, last) for shard, first, last in cuts if first < last])

    return Source(X.shape, shards[0].dtype, shards[0].quantizer, read)


def write_store(
    path: str | os.PathLike[str],
    X: Any,
    y: Any = None,
    names: Any = None,
    classes: Any = None,
    split: Any = None,
    quantizer: Quantizer | None = None,
    overwrite: bool = False,
    resume: bool = True,
    provenance: dict[str, Any] | None = None,
    progress: Report | None = None,
    identity: dict[str, Any] | None = None,
    attachments: Mapping[str, bytes] | None = None,
) -> Store:
    """Write a store, whole or not at all, and open it.

    An interrupted write goes on when it is called again with the same `identity` and the same rows.

    Parameters
    ----------
    path : str or os.PathLike
        The folder of the store.
    X : matrix-like of shape (n, d)
        Anything that `as_matrix` takes; float16, float32, float64 and codes are stored as they are.
    y : array-like of shape (n,), default=None
        Labels: integers, with or without `classes`, or strings.
    names : sequence of str, default=None
        The names of the rows.
    classes : sequence of str, default=None
        The words for which integer labels stand. If labels are strings, it is their sorted list by default.
    split : sequence of str, default=None
        The split to which each row belongs, such as "train".
    quantizer : Quantizer, default=None
        A fitted quantizer that encodes the rows.
    overwrite : bool, default=False
        Replace a store that is there.
    resume : bool, default=True
        Go on with an interrupted write; an unfinished write of other rows is refused. If False, it is dropped.
    provenance : dict, default=None
        Where the rows come from; anything that JSON can hold.
    progress : callable, default=None
        It is called with (rows done, rows in all).
    identity : dict, default=None
        What is being written, by which an interrupted write is recognized; the shape by default.
    attachments : dict of str to bytes, default=None
        Files that are committed with the rows, as for `StoreWriter.attach`, by their roles.

    Returns
    -------
    Store
        The store.

    Raises
    ------
    StorageError
        If the folder cannot be written, or holds something else.

    Examples
    --------
    >>> import tempfile
    >>> store = write_store(tempfile.mkdtemp() + "/pets.store", [[1.0, 2.0], [3.0, 4.0]], y=["dog", "cat"])
    >>> store.shape, store.y.tolist(), store.classes
    ((2, 2), [1, 0], ['cat', 'dog'])
    """
    source = _source(X, quantizer)
    n, d = source.shape
    columns = collect_columns(n, y, names, classes, split)
    provenance = parse_json(provenance or {}, "provenance")
    with StoreWriter(
        path,
        d,
        source.dtype,
        quantizer=quantizer or source.quantizer,
        identity={"rows": n, "columns": d} if identity is None else identity,
        overwrite=overwrite,
        resume=resume,
    ) as writer:
        for role, data in (attachments or {}).items():
            writer.attach(role, data)
        stream_rows(writer, source, columns, progress)
        return writer.commit_columns(columns, provenance)


def append_store(
    path: str | os.PathLike[str],
    X: Any,
    y: Any = None,
    names: Any = None,
    split: Any = None,
    progress: Report | None = None,
    resume: bool = True,
) -> Store:
    """Append rows to a store, all or none, and open it.

    Rows take the form of the store: its dtype, or its quantizer encodes them. They need labels, names and splits if its
    rows have them. An interrupted append goes on when it is called again.

    Parameters
    ----------
    path : str or os.PathLike
        The folder of the store.
    X : matrix-like of shape (n, d)
        Anything that `as_matrix` takes.
    y : array-like of shape (n,), default=None
        Labels. Words that are not among the classes of the store become classes after those that are there.
    names : sequence of str, default=None
        The names of the rows.
    split : sequence of str, default=None
        The split to which each row belongs, such as "train".
    progress : callable, default=None
        It is called with (rows done, rows in all).
    resume : bool, default=True
        Go on with an interrupted append; one of other rows is refused. If False, it is dropped.

    Returns
    -------
    Store
        The store with the new rows.
    """
    from manyclass.data.readers.as_matrix import as_matrix

    matrix = as_matrix(X)
    n, d = matrix.shape
    with StoreWriter.extending(path, identity={"rows": n, "columns": d}, resume=resume) as writer:
        if d != writer.n_features:
            raise ValueError(f"X must have {writer.n_features} columns, as {path} has; got {d}")
        columns = collect_columns(n, y, names, None, split, writer.before)
        stream_rows(writer, _in_form_of(writer, matrix), columns, progress)
        return writer.commit_columns(columns)


def _source(X: Any, quantizer: Quantizer | None) -> Source:
    from manyclass.data.readers.as_matrix import as_matrix

    matrix = as_matrix(X)
    source = source_of(matrix)
    kept = quantizer is None or source.quantizer is None or same_quantizer(source.quantizer, quantizer)
    return source if kept else numbers_of(matrix)


def _in_form_of(writer: StoreWriter, X: Matrix) -> Source:
    """Codes of the very quantizer that the store has are taken as they are; the rest as numbers."""
    source = source_of(X)
    return source if same_quantizer(source.quantizer, writer.quantizer) else numbers_of(X)


def stream_rows(writer: StoreWriter, source: Source, columns: StoreColumns, progress: Report | None) -> None:
    """Append the rows of a source from where the writer is, after a look at those that an earlier attempt wrote."""
    n = source.shape[0]
    writer.reserve(n, columns.nbytes)
    _check_kept(writer, source)
    add = writer.append_codes if source.quantizer else writer.append
    for piece in source.pieces(writer.rows_done, n):
        add(piece)
        if progress:
            progress(writer.rows_done, n)


def _check_kept(writer: StoreWriter, source: Source) -> None:
    """See that the rows of an interrupted attempt are the first of these."""
    start = 0
    for mark in writer.kept:
        crc32 = 0
        for piece in source.pieces(start, mark.rows):
            crc32 = zlib.crc32(raw_bytes(writer.as_given(piece)), crc32)
        if crc32 != mark.source:
            raise StorageError(
                f"{writer.path} was begun with other rows ({start} to {mark.rows} differ); pass resume=False to drop it"
            )
        start = mark.rows
