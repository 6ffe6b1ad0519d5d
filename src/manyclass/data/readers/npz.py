"""Arrays in an .npz file: a zip archive of .npy files, which is believed in nothing.

How many members there are is looked up before they are listed, and how large an array gets before it is unpacked: a
short archive can hold very many members, or one that unpacks to more than any memory has.
"""

import os
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from manyclass._core.reading import ArrayHeader, check_unpacked, get_limits, open_file, read_array_header, way_out
from manyclass.data.dense import open_array
from manyclass.data.matrix import Matrix
from manyclass.data.readers import as_matrix
from manyclass.data.sparse import SparseMatrix

_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # the ways in which NumPy writes

_LONGEST_ENTRY = 4096  # bytes of the list of arrays for each of them, on average; most have 60

_ENCRYPTED = 1  # a bit of a member's flags


class Archive:
    """An open .npz file."""

    def __init__(self, file: BinaryIO, path: object):
        self._path, self._size = path, file.seek(0, os.SEEK_END)
        if (count := _count_members(file, self._size)) > (most := get_limits()["members"]):
            raise ValueError(f"{path} must hold at most {most} arrays; it holds {count}; {way_out('members', count)}")
        self._zip = zipfile.ZipFile(file)
        self._members = {info.filename.removesuffix(".npy"): info for info in self._zip.infolist()}
        if len(self._members) < len(self._zip.infolist()):
            raise ValueError("two of its arrays have one name")

    @property
    def names(self) -> list[str]:
        return list(self._members)

    def header(self, name: str) -> ArrayHeader:
        """Shape and dtype of an array, without its numbers."""
        with self._open(name) as member:
            return read_array_header(member)

    def read(self, name: str) -> NDArray[Any]:
        """An array, of which as much is there as its header says."""
        with self._open(name) as member:
            header, info = read_array_header(member), self._members[name]
            if header.length + header.nbytes > info.file_size:
                raise ValueError("its data ends before its header says")
            check_unpacked(header.nbytes, self._size, f"{self._path} array {name!r}")
            array = np.empty(header.nbytes, np.uint8)
            view = array.data
            while len(view):
                if not (got := member.readinto(view[: 1 << 24])):
                    raise ValueError("its data ends before its header says")
                view = view[got:]
            while member.read(1 << 16):  # to the end, where its checksum is compared
                pass
        order: Any = header.order
        return array.view(header.dtype).reshape(header.shape, order=order) if array.size else _empty(header)

    @contextmanager
    def _open(self, name: str) -> Iterator[Any]:
        info = self._members[name]
        if info.compress_type not in _PACKED or info.flag_bits & _ENCRYPTED:
            raise ValueError("it is packed in a way that NumPy does not write, or encrypted")
        with self._zip.open(info) as member:
            yield member


def _empty(header: ArrayHeader) -> NDArray[Any]:
    return np.empty(header.shape, header.dtype)


def _count_members(file: BinaryIO, size: int) -> int:
    """How many members an archive may have, by any record that may be its last."""
    file.seek(max(0, size - (1 << 16) - 22 - 20))
    tail = file.read()
    most = 0
    for found in re.finditer(b"(?=PK\x05\x06)", tail):
        at = found.start()
        numbers = [(tail[at : at + 22], 10, 2)]
        # Large archives have longer numbers in a record of their own, which the one before this points at.
        if at >= 20 and tail[at - 20 : at - 16] == b"PK\x06\x07":
            file.seek(min(size, int.from_bytes(tail[at - 12 : at - 4], "little")))
            numbers.append((file.read(56), 32, 8))
        for record, start, width in numbers:
            count = int.from_bytes(record[start : start + width], "little")
            listed = int.from_bytes(record[start + width : start + width + max(4, width)], "little")
            if listed > size and listed != 0xFFFFFFFF:
                raise zipfile.BadZipFile("its list of arrays is longer than the file")
            most = max(most, count if count != 0xFFFF else 0, min(listed, size) // _LONGEST_ENTRY)
    return most


@contextmanager
def open_npz(path: str | os.PathLike[str], name: str | None = None) -> Iterator[Archive]:
    """The archive at a path; complaints name it and, if it is given, the array that is read."""
    with open_file(path) as file:
        try:
            yield Archive(file, path)
        except Exception as error:  # a damaged or hostile archive can fail in many ways
            words = str(error).rstrip(".") or type(error).__name__
            if words.startswith(str(path)):
                raise
            what = "must be a complete .npz file" if name is None else f"must hold a readable array {name!r}"
            raise ValueError(f"{path} {what}; {words}") from error


def read_npz_matrix(path: str | os.PathLike[str]) -> Matrix:
    """The features in an .npz: the member called X, features, embeddings, ..., or its only array of two dimensions.

    A sparse matrix that SciPy saved opens too.
    """
    names = npz_names(path)
    if {"data", "shape", "format"} <= set(names):
        return _sparse(path, names)
    return open_array(read_member(path, as_matrix.pick_name(as_matrix.FEATURES, names) or _only_matrix(path)), path)


def npz_names(path: str | os.PathLike[str]) -> list[str]:
    """The names of the arrays in an .npz file."""
    with open_npz(path) as archive:
        return archive.names


def read_member(path: str | os.PathLike[str], name: str) -> NDArray[Any]:
    """One array of an .npz file, compressed or not; never one of Python objects."""
    with open_npz(path, name) as archive:
        return archive.read(name)


def _only_matrix(path: str | os.PathLike[str]) -> str:
    with open_npz(path) as archive:
        names = archive.names
        found = [name for name in names if len(archive.header(name).shape) == 2]
    if len(found) != 1:
        got, known = ", ".join(names[:20]) or "nothing", ", ".join(as_matrix.FEATURES)
        raise ValueError(f"{path} must hold one array of two dimensions, or one called {known}; got {got}")
    return found[0]


def _sparse(path: str | os.PathLike[str], names: list[str]) -> SparseMatrix:
    from scipy import sparse

    found = {name: read_member(path, name) for name in names}
    try:
        kind = found.pop("format").item()
        kind = kind.decode("ascii") if isinstance(kind, bytes) else str(kind)
        shape = tuple(int(side) for side in found.pop("shape").tolist())
        # The starts of the rows are made whether there is anything in them or not.
        check_unpacked(8 * sum(shape), os.stat(path).st_size, path)
        parts = [found[name] for name in _PARTS[kind]]
        made = {"csr": sparse.csr_array, "csc": sparse.csc_array, "bsr": sparse.bsr_array, "dia": sparse.dia_array,
                "coo": lambda given, shape: sparse.coo_array((given[0], tuple(given[1:])), shape)}  # fmt: skip
        whole = made[kind](tuple(parts), shape=shape)
        if kind in ("csr", "csc", "bsr"):
            whole.check_format(full_check=True)
        csr = whole.tocsr()
        csr.check_format(full_check=True)
    except Exception as error:  # a damaged or hostile file can fail in many ways
        raise ValueError(f"{path} must hold a sparse matrix that scipy.sparse.save_npz wrote; {error}") from error
    return SparseMatrix(csr)


_PARTS = {
    "csr": ("data", "indices", "indptr"),
    "csc": ("data", "indices", "indptr"),
    "bsr": ("data", "indices", "indptr"),
    "dia": ("data", "offsets"),
    "coo": ("data", "row", "col"),
}
