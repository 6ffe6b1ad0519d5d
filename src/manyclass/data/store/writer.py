"""StoreWriter: rows to a store as they come, so that an interruption loses next to nothing."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from manyclass._core.checks import check_finite
from manyclass._core.errors import StorageError
from manyclass._core.files import Bytes, FolderLock, check_disk_space, expand_home, explain_disk_errors, lock_folder
from manyclass._core.sealed import parse_json
from manyclass.data.quantizer import Quantizer
from manyclass.data.store.columns import StoreColumns, collect_columns
from manyclass.data.store.journal import Mark, PartialRows
from manyclass.data.store.manifest import Manifest, read_manifest
from manyclass.data.store.store import Store, read_quantizer, write_quantizer
from manyclass.data.store.transaction import (
    Spec,
    UnfinishedWrite,
    append_spec,
    begin_or_resume,
    check_folder,
    commit,
    committed_rows,
    find_unfinished,
    write_spec,
)


class StoreWriter:
    """Write a store row by row, so that an interruption loses next to nothing.

    Rows become safe block by block, and are visible to readers after `commit`. Opened again on the same path with the
    same identity, after any interruption, the writer has `rows_done` rows already and expects the next. Leaving the
    `with` block without a commit keeps the work.

    Parameters
    ----------
    path : str or os.PathLike
        The folder of the store.
    n_features : int, default=None
        The number of columns; may be left out with a quantizer.
    dtype : dtype, default=numpy.float32
        The dtype of rows that are not quantized: float16, float32 or float64.
    quantizer : Quantizer, default=None
        A fitted quantizer that encodes the rows.
    identity : dict, default=None
        What is being written; anything that JSON can hold.
    overwrite : bool, default=False
        Replace a store that is there.
    resume : bool, default=True
        Go on with an unfinished write of this identity; that of another identity is refused. If False, it is dropped.
    block_bytes : int, default=None
        Bytes of rows that share a checksum, and become safe together.

    Attributes
    ----------
    path : Path
        The folder.
    n_features : int
        The number of columns.
    quantizer : Quantizer or None
        The quantizer.

    Examples
    --------
    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/photos.store"
    >>> with StoreWriter(path, n_features=2, identity={"images": "photos"}) as writer:
    ...     writer.append([[1, 2], [3, 4]])
    ...     store = writer.commit(names=["a.jpg", "b.jpg"])
    >>> store.X.rows(1), store.names[1]
    (array([3., 4.], dtype=float32), 'b.jpg')
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        n_features: int | None = None,
        dtype: DTypeLike = np.float32,
        *,
        quantizer: Quantizer | None = None,
        identity: dict[str, Any] | None = None,
        overwrite: bool = False,
        resume: bool = True,
        block_bytes: int | None = None,
    ):
        spec = write_spec(n_features, dtype, quantizer, identity)
        self._open(expand_home(path), spec, quantizer, overwrite, resume, block_bytes)

    @classmethod
    def extending(
        cls,
        path: str | os.PathLike[str],
        *,
        identity: dict[str, Any] | None = None,
        resume: bool = True,
        block_bytes: int | None = None,
    ) -> Self:
        """Open a writer that appends rows to a store, in its form and by its quantizer.

        Parameters
        ----------
        path : str or os.PathLike
            The folder of the store.
        identity : dict, default=None
            What is being appended; anything that JSON can hold.
        resume : bool, default=True
            Go on with an unfinished append of this identity; that of another identity is refused. If False, it is
            dropped.
        block_bytes : int, default=None
            Bytes of rows that share a checksum, and become safe together.

        Returns
        -------
        StoreWriter
            The writer.
        """
        path = expand_home(path)
        manifest = read_manifest(path)
        writer = cls.__new__(cls)
        quantizer = read_quantizer(path, manifest.quantizer) if manifest.quantizer else None
        writer._open(path, append_spec(manifest, identity), quantizer, False, resume, block_bytes)
        if writer.before is None or writer.before.quantizer != manifest.quantizer:
            writer.close()
            raise StorageError(f"{path} was overwritten by another process just now; try again")
        return writer

    @staticmethod
    def unfinished(
        path: str | os.PathLike[str], identity: dict[str, Any], *, overwrite: bool = False, resume: bool = True
    ) -> UnfinishedWrite:
        """Look for an unfinished write of this identity, whose quantizer need not be fitted again.

        What the writer would refuse at this path is refused already, before there is any work to lose.

        Parameters
        ----------
        path : str or os.PathLike
            The folder of the store.
        identity : dict
            What was being written.
        overwrite : bool, default=False
            Whether the writer will be allowed to replace a store that is there.
        resume : bool, default=True
            Whether the writer will go on with an unfinished write.

        Returns
        -------
        UnfinishedWrite
            The number of safe rows, and the quantizer.
        """
        return find_unfinished(expand_home(path), parse_json(identity, "identity"), overwrite, resume)

    @property
    def rows_done(self) -> int:
        """The number of rows written so far, an int.

        It counts those of an interrupted attempt, and of an append the new rows only.
        """
        return self._partial.rows if self._partial else committed_rows(self._transaction).shape[0]

    def reserve(self, n_rows: int, more_bytes: int = 0) -> None:
        """Check that the disk has room.

        Parameters
        ----------
        n_rows : int
            The number of rows in all.
        more_bytes : int, default=0
            Bytes beside those of the rows.

        Raises
        ------
        StorageError
            If there is not enough room.
        """
        with explain_disk_errors(self.path):
            check_disk_space(self.path, (n_rows - self.rows_done) * self._transaction.journal.row_bytes + more_bytes)

    def append(self, rows: ArrayLike) -> None:
        """Append rows.

        Parameters
        ----------
        rows : array-like of shape (m, d)
            The rows.

        Raises
        ------
        ValueError
            If a row holds NaN or infinity.
        """
        X = self._two_dimensional(rows, self.n_features)
        for piece in self._pieces(X):
            source = self.as_given(piece)
            check_finite(source, "X", self.rows_done)
            coded = None if self.quantizer is None else self.quantizer.encode_rows(source, self.rows_done)
            self._put(source if coded is None else np.ascontiguousarray(coded), source)

    def append_codes(self, codes: NDArray[np.uint8]) -> None:
        """Append rows that the quantizer has encoded already.

        Parameters
        ----------
        codes : ndarray of uint8 of shape (m, code_size)
            The codes.
        """
        if self.quantizer is None:
            raise ValueError(f"codes need a quantizer, and {self.path} is written without one; append rows")
        X = self._two_dimensional(codes, self.quantizer.code_size)
        if X.dtype != np.uint8:
            raise ValueError(f"codes must be bytes (uint8); got dtype {X.dtype}")
        for piece in self._pieces(X):
            stored = np.ascontiguousarray(piece)
            self.quantizer.matrix(stored)  # refuses codes that stand for nothing
            self._put(stored, stored)

    def as_given(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Convert rows to the form whose checksum the journal keeps.

        Parameters
        ----------
        rows : ndarray of shape (m, d)
            The rows.

        Returns
        -------
        ndarray
            The rows as they will be stored, or as they will be encoded.
        """
        if self.quantizer:
            return np.ascontiguousarray(rows)
        with np.errstate(over="ignore"):  # what does not fit becomes infinite, and that is refused
            return np.ascontiguousarray(rows, self._transaction.journal.header["dtype"])

    def attach(self, role: str, *pieces: Bytes, about: dict[str, Any] | None = None) -> None:
        """Keep a file with the rows: it is safe from a crash now, and is committed with them.

        Parameters
        ----------
        role : {"encoder", "skipped"}
            The image encoder that made the rows, a model file; or a list of images without a row.
        *pieces : bytes
            What is in the file.
        about : dict, default=None
            How it was made.
        """
        self._check_open()
        with self._explained():
            self._transaction.journal.attach(role, pieces, about or {}, self.is_done)

    def flush(self) -> None:
        """Make all rows so far safe from a crash."""
        if self._partial:
            with self._explained():
                self._partial.mark()

    def commit(
        self, y: Any = None, names: Any = None, classes: Any = None, split: Any = None, provenance: Any = None
    ) -> Store:
        """Make the rows, with what goes with them, the store: at one instant, or not at all.

        Parameters
        ----------
        y : array-like of shape (n,), default=None
            Labels: integers, with or without `classes`, or strings.
        names : sequence of str, default=None
            The names of the rows.
        classes : sequence of str, default=None
            The words for which integer labels stand.
        split : sequence of str, default=None
            The split to which each row belongs, such as "train".
        provenance : dict, default=None
            Where the rows come from; anything that JSON can hold.

        Returns
        -------
        Store
            The store.
        """
        return self.commit_columns(collect_columns(self.rows_done, y, names, classes, split, self.before), provenance)

    def commit_columns(self, columns: StoreColumns, provenance: dict[str, Any] | None = None) -> Store:
        """Commit with labels, names and splits that are arrays already.

        Parameters
        ----------
        columns : StoreColumns
            The arrays.
        provenance : dict, default=None
            Where the rows come from; anything that JSON can hold.

        Returns
        -------
        Store
            The store.
        """
        self._check_open()
        provenance = parse_json(provenance or {}, "provenance")
        self.flush()
        with self._explained():
            store = commit(self.path, self._transaction, self._partial, columns, provenance)
        self.close()
        return store

    def close(self) -> None:
        """Release the folder; rows that are not committed are kept for the next attempt."""
        if self._partial:
            self._partial.close()
        self._lock.release()
        self._closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        try:
            if not self._closed:
                self.flush()
        except StorageError:
            # What went wrong first is the news; rows that cannot be made safe now are simply not among the kept.
            if error is None:
                raise
        finally:
            self.close()

    @property
    def is_done(self) -> bool:
        """Whether a crash came after the commit of this very write, so that only `commit` is left, a bool."""
        return self._transaction.done

    @property
    def serial(self) -> int:
        """The number of the commit, by which files are named, an int."""
        return int(self._transaction.journal.header["serial"])

    @property
    def before(self) -> Manifest | None:
        """The manifest of the store to which rows are appended, or None."""
        return self._transaction.committed if self._transaction.journal.header["mode"] == "append" else None

    @property
    def kept(self) -> list[Mark]:
        """What is safe of an interrupted attempt, block by block, a list of Mark."""
        return self._transaction.journal.blocks()

    def _open(
        self, path: Path, spec: Spec, quantizer: Quantizer | None, overwrite: bool, resume: bool, size: int | None
    ) -> None:
        self.path, self.quantizer, self.n_features, self._closed = path, quantizer, int(spec["columns"]), False
        self._partial: PartialRows | None = None
        with explain_disk_errors(path):
            check_folder(path)
            self._lock: FolderLock = lock_folder(path)
            try:
                self._transaction = begin_or_resume(path, spec, overwrite, resume, size)
                journal = self._transaction.journal
                if spec["quantizer"] and quantizer and not journal.quantizer:
                    journal.add_quantizer(write_quantizer(path, quantizer, journal.header["serial"]))
                self._partial = None if self._transaction.done else PartialRows(path, journal)
            except BaseException:
                self._lock.release()
                raise

    def _put(self, stored: NDArray[Any], source: NDArray[Any]) -> None:
        if self._partial is None:
            raise StorageError(f"{self.path} has all rows of this write already; commit it")
        with self._explained():
            self._partial.put(stored, source)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        # After a failed sync the system may have dropped what it had not written, and a second try would not tell; the
        # writer stops, and the next one begins after the last mark.
        try:
            with explain_disk_errors(self.path):
                yield
        except StorageError:
            self.close()
            raise

    def _check_open(self) -> None:
        if self._closed:
            raise StorageError(f"the writer of {self.path} is closed; open another, which goes on after the last mark")

    def _two_dimensional(self, rows: ArrayLike, width: int) -> NDArray[Any]:
        self._check_open()
        X = np.asarray(rows)
        if X.ndim != 2 or X.shape[1] != width or X.dtype.kind not in "fiub":
            raise ValueError(f"rows must be numbers of shape (m, {width}); got {X.dtype} of shape {X.shape}")
        return X

    def _pieces(self, X: NDArray[Any]) -> Iterator[NDArray[Any]]:
        return self._partial.cut(X) if self._partial else iter([X] if len(X) else [])
