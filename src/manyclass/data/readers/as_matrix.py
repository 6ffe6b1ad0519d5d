"""as_matrix: whatever holds rows of numbers as a Matrix; the layouts of paths, and the names of what they hold."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from manyclass._core.remote_files import local_path
from manyclass.data.dense import DenseMatrix
from manyclass.data.matrix import Matrix

Layout = Literal["npy", "npz", "parquet", "store", "clip_retrieval", "npy_shards", "parquet_shards"]
_FILES: dict[str, Layout] = {".npy": "npy", ".npz": "npz", ".parquet": "parquet", ".pq": "parquet"}
_TABLES = (".csv", ".tsv", ".txt", ".xlsx")  # of which nobody knows which columns are features

# The names under which people keep features, labels, ...: members, columns and files; the likeliest first.
FEATURES = ("X", "features", "embeddings", "embedding", "img_emb", "emb", "vectors", "vector", "feats")
LABELS = ("labels", "label", "y", "targets", "target", "class", "category")
NAMES = (
    "names",
    "name",
    "image_path",
    "path",
    "paths",
    "file",
    "file_name",
    "filename",
    "filenames",
    "key",
    "url",
    "id",
    "ids",
)
CLASSES = ("classes", "class_names", "label_names")
SPLIT = ("split", "splits", "subset")


def as_matrix(X: Any) -> Matrix:
    """Open anything that holds rows of numbers as a Matrix, without a copy where that is possible.

    A path may be that of

    - an .npy file (memory-mapped), or a folder of them (in the order of the numbers in their names);
    - an .npz file with one array of two dimensions, or one called X, features, embeddings, ...;
    - a parquet file with a column of embeddings, or a folder of them;
    - a folder of clip-retrieval (``img_emb/img_emb_N.npy``), or a store;
    - an address of one of these, such as s3://bucket/x.npy, of which a copy is fetched (by fsspec).

    Parameters
    ----------
    X : Matrix, array-like, scipy.sparse array, str or os.PathLike
        A matrix, an array or memory map, a sparse array, a list of rows, or a path.

    Returns
    -------
    Matrix
        The matrix.

    Examples
    --------
    >>> as_matrix([[1, 2], [3, 4]]).shape
    (2, 2)
    """
    if isinstance(X, Matrix):
        return X
    if isinstance(X, str | os.PathLike):
        path = local_path(X)
        return open_layout(path, layout_of(path))
    if hasattr(X, "tocsr"):
        from manyclass.data.sparse import SparseMatrix

        return SparseMatrix(X)
    return DenseMatrix(_array(X))


def open_layout(path: Path, layout: Layout) -> Matrix:
    """The matrix at a path whose layout is known."""
    return _OPENERS[layout](path)


def layout_of(path: str | os.PathLike[str]) -> Layout:
    """The layout of a file, by its extension, or of a folder, by what it holds."""
    path = Path(path)
    if path.is_dir():
        return _folder_layout(path)
    if not path.exists():
        raise FileNotFoundError(f"no file or folder at {path}")
    if path.suffix.lower() not in _FILES:
        known, got = ", ".join(_FILES), path.suffix.lower()
        way_out = '; numpy.savez("x.npz", X=numbers, y=labels) makes one of a table' if got in _TABLES else ""
        raise ValueError(f"{path} must be a folder or end in one of {known}; got {got or 'no extension'!r}{way_out}")
    return _FILES[path.suffix.lower()]


def visible_files(folder: Path, *suffixes: str) -> list[Path]:
    """Files of a folder with one of these extensions, except hidden ones, in no special order."""
    return [
        path
        for path in folder.iterdir()
        if path.suffix.lower() in suffixes and not path.name.startswith(".") and path.is_file()
    ]


def pick_name(words: tuple[str, ...], choices: Iterable[str]) -> str | None:
    """The choice that has the likeliest of these names, whatever its case; None if there is none.

    >>> pick_name(LABELS, ["Y", "Label"])
    'Label'
    """
    known = {choice.lower(): choice for choice in choices}
    return next((known[word.lower()] for word in words if word.lower() in known), None)


def _folder_layout(folder: Path) -> Layout:
    # Also where they are no files that can be read: the .npy files of a store or a gallery are no shards.
    if os.path.lexists(folder / "manifest.json") or (folder / "journal").is_file():
        return "store"
    if (folder / "img_emb").is_dir():
        return "clip_retrieval"
    if visible_files(folder, ".npy"):
        return "npy_shards"
    if visible_files(folder, ".parquet", ".pq"):
        return "parquet_shards"
    raise ValueError(f"{folder} must hold .npy or .parquet files, img_emb/ or manifest.json; got none of them")


def _array(X: Any) -> NDArray[Any]:
    if isinstance(X, np.ndarray):
        return X
    try:
        return np.asarray(X)
    except ValueError as error:
        raise ValueError("X must have rows of one length; got a list of rows of several lengths") from error


def _npy(path: Path) -> Matrix:
    from manyclass.data.readers.npy import open_npy

    return open_npy(path)


def _npy_shards(path: Path) -> Matrix:
    from manyclass.data.readers.npy import open_npy_shards

    return open_npy_shards(path)


def _clip_retrieval(path: Path) -> Matrix:
    return _npy_shards(path / "img_emb")


def _npz(path: Path) -> Matrix:
    from manyclass.data.readers.npz import read_npz_matrix

    return read_npz_matrix(path)


def _parquet(path: Path) -> Matrix:
    from manyclass.data.readers.parquet import open_parquet

    return open_parquet([path])


def _parquet_shards(path: Path) -> Matrix:
    from manyclass.data.readers.parquet import open_parquet, parquet_shards

    return open_parquet(parquet_shards(path))


def _store(path: Path) -> Matrix:
    from manyclass.data.store.store import open_store

    X: Matrix = open_store(path).X
    return X


# A reader is imported when its layout is first met; sharded and parquet ones import this file in turn.
_OPENERS: dict[Layout, Callable[[Path], Matrix]] = {
    "npy": _npy,
    "npz": _npz,
    "parquet": _parquet,
    "store": _store,
    "clip_retrieval": _clip_retrieval,
    "npy_shards": _npy_shards,
    "parquet_shards": _parquet_shards,
}
