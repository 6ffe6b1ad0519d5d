"""Store: an opened store, how to open one, the names of its rows, and its quantizer as files."""

import os
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from manyclass._core.digest import json_digest, sha256_digest
from manyclass._core.errors import Damage, StorageError, StoreCorruptedError
from manyclass._core.files import expand_home
from manyclass._core.sealed import as_little_endian, parse_json
from manyclass.data.dense import DenseMatrix
from manyclass.data.matrix import Matrix
from manyclass.data.quantizer import Quantizer, restore_quantizer
from manyclass.data.store.blocks import BlockFile, StoreOrigin, VerifiedMatrix, open_attached, read_attached
from manyclass.data.store.columns import StoreColumns
from manyclass.data.store.manifest import FORMAT, Manifest, QuantizerRecord, manifests, read_manifest, write_array


def open_store(path: str | os.PathLike[str]) -> "Store":
    """Open a store for reading.

    The manifest, the size and header of every file, labels, names, splits and the quantizer are checked now; rows and
    attached files when they are first used.

    Parameters
    ----------
    path : str or os.PathLike
        The folder of the store.

    Returns
    -------
    Store
        The store.

    Raises
    ------
    StoreCorruptedError
        If a file differs from what was written.
    StorageError
        If there is no store, or if it cannot be read.
    """
    path = expand_home(path)
    for manifest in manifests(path):
        try:
            return Store(path, manifest)
        except StoreCorruptedError as error:
            damaged = error
    raise damaged


_CHECKED_BYTES = 8 << 20  # of a column that are in memory together while it is checked


class Store:
    """An opened store: n rows on disk, and what goes with them.

    `open_store` makes it.

    Parameters
    ----------
    path : Path
        The folder.
    manifest : Manifest
        What is in it.

    Attributes
    ----------
    X : Matrix of shape (n, d)
        The rows.
    y : ndarray of shape (n,) or None
        The labels.
    classes : list of str or None
        The words for which labels stand.
    names : Names or None
        The names of the rows, a sequence of n strings.
    split : ndarray of str of shape (n,) or None
        The split to which each row belongs, such as "train".
    quantizer : Quantizer or None
        The quantizer of the rows, if they are codes.
    provenance : dict
        Where the rows come from.
    shape : tuple of int
        The numbers of rows and columns, (n, d).
    path : Path
        The folder.
    """

    def __init__(self, path: Path, manifest: Manifest):
        self.path = path
        self._manifest = manifest
        self.classes = list(manifest.classes) if manifest.classes is not None else None
        self.provenance = manifest.provenance
        self._columns: list[BlockFile] = []
        self.y = self._checked("y", len(manifest.classes) if manifest.classes is not None else None)
        self.split = self._split()
        self.names = self._names()
        for file in self._columns:  # all was looked at; what is needed is read again
            file.release()
        self.quantizer: Quantizer | None = read_quantizer(path, manifest.quantizer) if manifest.quantizer else None
        self.X: Matrix = _matrix(path, manifest, self.quantizer)
        self.shape = self.X.shape
        for attachment in manifest.attachments.values():
            with open_attached(path, attachment):
                pass

    @property
    def nbytes(self) -> int:
        """The bytes on disk without the manifest, an int."""
        return sum(self._manifest.sizes().values())

    def verify(self, progress: Callable[[int, int], None] | None = None) -> list[Damage]:
        """Read all of the store as it is on disk now, and list what is damaged.

        Parameters
        ----------
        progress : callable, default=None
            It is called with (bytes read, bytes in all).

        Returns
        -------
        list of Damage
            Everything that differs from what was written.
        """
        from manyclass.data.store.verify import verify_store

        return verify_store(self.path, progress)

    def summary(self) -> dict[str, Any]:
        """Summarize the store for JSON.

        Returns
        -------
        dict
            The shape, the dtype, the size, and which columns there are.
        """
        quantizer = self._manifest.quantizer
        return {
            "format": FORMAT,
            "version": self._manifest.version,
            "path": str(self.path),
            "rows": self.shape[0],
            "columns": self.shape[1],
            "stored_as": self._manifest.rows_name,
            "dtype": np.dtype(self._manifest.row_files[0].dtype).name,
            "bytes": self.nbytes,
            "segments": len(self._manifest.segments),
            "labels": self.y is not None,
            "classes": len(self.classes) if self.classes is not None else None,
            "names": self.names is not None,
            "split": dict(sorted(Counter(self.split.tolist()).items())) if self.split is not None else None,
            "quantizer": {"kind": quantizer.kind, **quantizer.settings} if quantizer else None,
            "attachments": {
                role: {"bytes": file.size, "sha256": file.sha256, **file.about}
                for role, file in self._manifest.attachments.items()
            },
            "provenance": self.provenance,
        }

    def attachment(self, role: str) -> bytes | None:
        """Read a file that was committed with the rows, and check it.

        Parameters
        ----------
        role : {"encoder", "skipped"}
            The image encoder that made the rows, a model file; or the list of images without a row.

        Returns
        -------
        bytes or None
            What is in the file; None if the store has none.
        """
        found = self._manifest.attachments.get(role)
        return None if found is None else read_attached(self.path, found)

    def columns(self) -> StoreColumns:
        """Labels, names and splits as arrays of all rows, as `StoreWriter.commit_columns` takes them.

        Returns
        -------
        StoreColumns
            The arrays, and the words that they stand for.
        """
        split = self._checked("split", None)
        names, offsets = (None, None) if self.names is None else self.names.arrays()
        found = {"y": self.y, "split": split, "names": names, "name_offsets": offsets}
        arrays = {role: array for role, array in found.items() if array is not None}
        return StoreColumns(arrays, self.classes, self._manifest.splits)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        n, d = self.shape
        return f"Store({str(self.path)!r}, {n} x {d} as {self._manifest.rows_name}, {self.nbytes / 1e6:.1f} MB)"

    def _split(self) -> NDArray[np.str_] | None:
        words = self._manifest.splits
        if words is None:
            return None
        codes = self._checked("split", len(words))
        return np.array(words, np.str_)[codes] if words else np.zeros(0, np.str_)

    def _names(self) -> "Names | None":
        if not self._manifest.has("names"):
            return None
        blobs, offsets = [self._arrays(role) for role in ("names", "name_offsets")]
        for blob, offset in zip(blobs, offsets, strict=True):
            if offset[0] != 0 or offset[-1] != len(blob) or (offset[1:] < offset[:-1]).any():
                raise StorageError(f"{self.path} cannot be read as a store: its names overlap or leave gaps")
        ends = np.cumsum([0, *(len(blob) for blob in blobs)])
        starts = [offset[:-1] + end for offset, end in zip(offsets, ends[:-1], strict=True)]
        return Names(_joined(blobs), offsets[0] if len(offsets) == 1 else _joined([*starts, ends[-1:]]))

    def _checked(self, role: str, below: int | None) -> NDArray[Any] | None:
        """The column of a role, if there is one, with entries in [0, below)."""
        if not self._manifest.has(role):
            return None
        values = _joined(self._arrays(role))
        if below is not None and len(values) and not (values.min() >= 0 and values.max() < below):
            raise StorageError(f"{self.path} cannot be read as a store: {role} must be below {below}")
        return values

    def _arrays(self, role: str) -> list[NDArray[Any]]:
        files = [BlockFile(self.path, segment[role]) for segment in self._manifest.segments]
        for file in files:
            self._columns.append(file)
            together = max(1, _CHECKED_BYTES // file.record.block_bytes)
            for first in range(0, file.record.n_blocks, together):
                file.check(np.arange(first, min(file.record.n_blocks, first + together)))
                file.release()  # what is looked at later is in memory then, and the rest is not
        return [file.array for file in files]


def open_rows(path: Path, digest: str) -> VerifiedMatrix:
    """The rows of the store at a path whose manifest has this digest, as they were opened on another machine."""
    if not path.is_dir():
        raise StorageError(
            f"{path} is not on this machine, and its rows are asked for here; put it on storage that all nodes share, "
            "at the same path"
        )
    manifest = read_manifest(path)
    if manifest.digest() != digest:
        raise StorageError(f"{path} must be the store that was opened where its rows were sent from, and is another")
    return _matrix(path, manifest, read_quantizer(path, manifest.quantizer) if manifest.quantizer else None)


def _matrix(path: Path, manifest: Manifest, quantizer: Quantizer | None) -> VerifiedMatrix:
    files = [BlockFile(path, file) for file in manifest.row_files]
    filled = [file for file in files if len(file.array)] or files[:1]
    segments = [_segment(path, manifest, quantizer, file) for file in filled]
    origin = StoreOrigin(path.absolute(), manifest.digest())
    if len(segments) == 1:
        return VerifiedMatrix(segments[0], files, quantizer, origin=origin)
    from manyclass.data.views import ShardedMatrix

    return VerifiedMatrix(ShardedMatrix(segments), files, quantizer, origin=origin)


def _segment(path: Path, manifest: Manifest, quantizer: Quantizer | None, file: BlockFile) -> Matrix:
    if quantizer is None:
        return DenseMatrix(file.array)
    if (quantizer.n_features, quantizer.code_size) != (manifest.columns, file.array.shape[1]):
        raise StorageError(f"{path} cannot be read as a store: its quantizer does not match its codes")
    try:
        return quantizer.matrix(file.array)
    except ValueError as error:
        file.check()  # codes that no quantizer gave are damage, if they are not what was written
        raise StorageError(f"{path} cannot be read as a store: {error}") from error


class Names(Sequence[str]):
    """A sequence of n strings in one run of UTF-8 bytes, decoded when they are read.

    Bytes that are not UTF-8 become surrogates.

    Parameters
    ----------
    blob : ndarray of uint8
        The bytes of all strings.
    offsets : ndarray of int64 of shape (n + 1,)
        String i is bytes ``offsets[i]`` to ``offsets[i + 1]``.

    Examples
    --------
    >>> from manyclass.data.store.columns import encode_names
    >>> names = Names(*encode_names(["a.jpg", "b.jpg"]))
    >>> names[1], names[:1], len(names)
    ('b.jpg', ['a.jpg'], 2)
    """

    def __init__(self, blob: NDArray[np.uint8], offsets: NDArray[np.int64]):
        self._blob = blob
        self._offsets = offsets

    def arrays(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """The bytes and the offsets.

        Returns
        -------
        tuple of ndarray
            What a Names is made of.
        """
        return self._blob, self._offsets

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: Any) -> str | list[str]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        i = range(len(self))[index]
        return self._blob[self._offsets[i] : self._offsets[i + 1]].tobytes().decode("utf-8", "surrogateescape")

    def __repr__(self) -> str:
        return f"Names({len(self)} strings, {len(self._blob)} bytes)"


def _joined(arrays: list[NDArray[Any]]) -> NDArray[Any]:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def quantizer_fingerprint(quantizer: Quantizer) -> str:
    """A digest of everything that a quantizer is."""
    settings, arrays = quantizer.state()
    hashes = {
        name: [array.dtype.str, list(array.shape), sha256_digest([as_little_endian(array)])]
        for name, array in arrays.items()
    }
    return json_digest({"kind": quantizer.kind, "settings": settings, "arrays": hashes})


def same_quantizer(a: Quantizer | None, b: Quantizer | None) -> bool:
    """Whether codes of one mean the same to the other; None is the quantizer of numbers as they are."""
    return a is b or (a is not None and b is not None and quantizer_fingerprint(a) == quantizer_fingerprint(b))


def check_quantizer(quantizer: Quantizer) -> None:
    """Refuse a quantizer that readers would refuse, or take for another than it is."""
    settings, arrays = quantizer.state()
    read = restore_quantizer(
        quantizer.kind, parse_json(settings, "settings"), {k: as_little_endian(A) for k, A in arrays.items()}
    )
    if (read.n_features, read.code_size) != (quantizer.n_features, quantizer.code_size):
        wanted, got = (f"{q.n_features} columns in {q.code_size} bytes" for q in (read, quantizer))
        raise ValueError(f"the quantizer must have {wanted}, as its state says; got {got}")


def write_quantizer(folder: Path, quantizer: Quantizer, serial: int) -> QuantizerRecord:
    """Write the arrays of a quantizer, and give the record of them."""
    settings, arrays = quantizer.state()
    records = {
        name: write_array(folder, f"quantizer_{name}-{serial}.npy", array) for name, array in sorted(arrays.items())
    }
    return QuantizerRecord(quantizer.kind, settings, records)


def read_quantizer(folder: Path, record: QuantizerRecord) -> Quantizer:
    """The quantizer of a record; its files are checked."""
    arrays = {}
    for name, file in record.arrays.items():
        blocks = BlockFile(folder, file)
        blocks.check()
        arrays[name] = blocks.array.copy()
    try:
        return restore_quantizer(record.kind, record.settings, arrays)
    except (ValueError, TypeError, KeyError) as error:
        raise StorageError(f"{folder} cannot be read as a store: its quantizer is invalid: {error}") from error
