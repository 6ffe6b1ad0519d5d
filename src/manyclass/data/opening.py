"""as_matrix: whatever holds rows of numbers, as a Matrix."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.data.dense import DenseMatrix
from manyclass.data.layouts import Layout, layout_of
from manyclass.data.matrix import Matrix


def as_matrix(X: Any) -> Matrix:
    """Open anything that holds rows of numbers as a Matrix, without a copy where that is possible.

    A path may be that of

    - an .npy file (memory-mapped), or a folder of them (in the order of the numbers in their names);
    - an .npz file with one array of two dimensions, or one called X, features, embeddings, ...;
    - a parquet file with a column of embeddings, or a folder of them;
    - a folder of clip-retrieval (``img_emb/img_emb_N.npy``), or a store.

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
        path = Path(X).expanduser()
        return _OPENERS[layout_of(path)](path)
    if hasattr(X, "tocsr"):
        from manyclass.data.sparse import SparseMatrix

        return SparseMatrix(X)
    return DenseMatrix(_array(X))


def _array(X: Any) -> NDArray[Any]:
    if isinstance(X, np.ndarray):
        return X
    try:
        return np.asarray(X)
    except ValueError as error:
        raise ValueError("X must have rows of one length; got a list of rows of several lengths") from error


def _npy(path: Path) -> Matrix:
    from manyclass.data.npy import open_npy

    return open_npy(path)


def _npy_shards(path: Path) -> Matrix:
    from manyclass.data.npy import open_npy_shards

    return open_npy_shards(path)


def _clip_retrieval(path: Path) -> Matrix:
    return _npy_shards(path / "img_emb")


def _npz(path: Path) -> Matrix:
    from manyclass.data.npz import read_npz_matrix

    return read_npz_matrix(path)


def _parquet(path: Path) -> Matrix:
    from manyclass.data.parquet import open_parquet

    return open_parquet([path])


def _parquet_shards(path: Path) -> Matrix:
    from manyclass.data.parquet import open_parquet, parquet_shards

    return open_parquet(parquet_shards(path))


def _store(path: Path) -> Matrix:
    from manyclass.data.store import open_store

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
