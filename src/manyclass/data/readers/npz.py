"""Arrays in an .npz file."""

import os
import zipfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.data.matrix import Matrix
from manyclass.data.readers import as_matrix
from manyclass.data.readers.npy import dense
from manyclass.data.sparse import SparseMatrix


def read_npz_matrix(path: str | os.PathLike[str]) -> Matrix:
    """The features in an .npz: the member called X, features, embeddings, ..., or its only array of two dimensions.

    A sparse matrix that SciPy saved opens too.
    """
    names = npz_names(path)
    if {"data", "shape", "format"} <= set(names):
        return _sparse(path)
    name = as_matrix.pick_name(as_matrix.FEATURES, names)
    return dense(read_member(path, name) if name else _only_matrix(path, names), path)


def npz_names(path: str | os.PathLike[str]) -> list[str]:
    """The names of the arrays in an .npz file."""
    try:
        with zipfile.ZipFile(path) as members:
            return [name.removesuffix(".npy") for name in members.namelist()]
    except zipfile.BadZipFile as error:
        raise ValueError(f"{path} must be a complete .npz file; {error}") from error


def read_member(path: str | os.PathLike[str], name: str) -> NDArray[Any]:
    """One array of an .npz file, compressed or not; never one of Python objects."""
    try:
        with np.load(path, allow_pickle=False) as members:
            return np.asarray(members[name])
    except Exception as error:  # a damaged or hostile member can fail in many ways
        raise ValueError(f"{path} must hold a readable array {name!r}; {str(error).rstrip('.')}") from error


def _only_matrix(path: str | os.PathLike[str], names: list[str]) -> NDArray[Any]:
    found = {name: array for name in names if (array := read_member(path, name)).ndim == 2}
    if len(found) != 1:
        got, known = ", ".join(names) or "nothing", ", ".join(as_matrix.FEATURES)
        raise ValueError(f"{path} must hold one array of two dimensions, or one called {known}; got {got}")
    return next(iter(found.values()))


def _sparse(path: str | os.PathLike[str]) -> SparseMatrix:
    from scipy import sparse

    try:
        csr = sparse.load_npz(path).tocsr()
        csr.check_format(full_check=True)
    except Exception as error:  # a damaged or hostile file can fail in many ways
        raise ValueError(f"{path} must hold a sparse matrix that scipy.sparse.save_npz wrote; {error}") from error
    return SparseMatrix(csr)
