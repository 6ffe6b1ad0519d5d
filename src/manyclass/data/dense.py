"""Rows kept as they are, in an array or a memory map."""

import mmap
import os
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyclass import _native
from manyclass._core.algebra.linalg import aligned_empty
from manyclass._core.digest import sha256_digest
from manyclass._core.errors import StorageError, unreadable_error
from manyclass._core.parallel import native_threads
from manyclass._core.reading import map_bytes
from manyclass._core.typing import Floats, Singles
from manyclass.data.matrix import Matrix


class DenseMatrix(Matrix):
    """An array or memory map of real numbers, in any order, without a copy.

    Products and rows have the smaller of float32 and float64 that holds the storage: float16 and short integers are
    converted to float32 a block at a time, so that products never hold a second copy of X.

    Sent to another process, a file that is mapped read-only travels as its path, and is opened again there.

    Parameters
    ----------
    array : array-like of shape (n, d)
        Real numbers of at most 64 bits.

    Attributes
    ----------
    array : ndarray of shape (n, d)
        The numbers as they are stored; what is changed there is changed here.

    Examples
    --------
    >>> X = DenseMatrix(np.eye(3, dtype=np.float16))
    >>> X @ [1, 2, 3]
    array([1., 2., 3.], dtype=float32)
    """

    def __init__(self, array: ArrayLike):
        if isinstance(array, np.ma.MaskedArray):
            raise ValueError("X must not be a masked array; fill its gaps with X.filled(value)")
        self._file = _mapped_file(array)
        array = np.asarray(array)
        if array.ndim != 2:
            raise ValueError(f"X must have two dimensions; got shape {array.shape}")
        if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8:
            raise ValueError(f"X must hold real numbers of at most 64 bits; got dtype {array.dtype}")
        self.array: NDArray[Any] = array
        self.shape = array.shape
        self.dtype = np.result_type(array.dtype, np.float32)
        self._order = _blas_order(array)
        self._gathers = array.dtype == np.dtype("=f4") and array.flags.c_contiguous and array.flags.aligned

    @property
    def nbytes(self) -> int:
        return int(self.array.nbytes)

    def _rows(self, index: slice | NDArray[np.intp]) -> Floats:
        if not isinstance(index, slice) and self._gathers:
            return self._gathered(index, aligned_empty((len(index), self.shape[1])))
        rows = self.stored(index)
        if self._order is None:
            rows = rows.copy()  # BLAS would leave it to a slow loop, which adds up in another order
        if rows.dtype == self.dtype and isinstance(index, slice):
            rows = rows.view()
            rows.flags.writeable = False
        return rows.astype(self.dtype, copy=False)

    def _rows_in(self, room: Singles, index: NDArray[np.intp]) -> Floats:
        return self._gathered(index, room[: len(index)]) if self._gathers else self._rows(index)

    def _gathered(self, index: NDArray[np.intp], out: Singles) -> Singles:
        self._check_file()
        _native.gather(self.array, index.astype(np.int64, copy=False), out, native_threads(out.nbytes))
        return out

    def _columns(self, columns: slice) -> Floats:
        self._check_file()
        return self.array[:, columns].astype(self.dtype, copy=False)

    def _row_slice(self, start: int, stop: int) -> Matrix:
        return DenseMatrix(self.array[start:stop])

    def stored(self, index: slice | NDArray[np.intp]) -> NDArray[Any]:
        """Read rows in the dtype of `array`.

        Parameters
        ----------
        index : slice or ndarray of int
            A slice of step 1, or positions.

        Returns
        -------
        ndarray of shape (m, d)
            The rows, a view of `array` where `index` is a slice.
        """
        self._check_file()
        return self.array[index]

    def _check_file(self) -> None:
        """Refuse a file that somebody cut under us: to touch what is beyond its end would end the process.

        That a file is cut between this look and the use of its rows cannot be seen.
        """
        if self._file is not None:
            self._file.check()

    def release(self) -> None:
        if self._file is not None:
            self._file.release()

    def __getstate__(self) -> dict[str, Any]:
        if self._file is not None and self._file.travels:
            return vars(self) | {"_file": None, "array": MappedPart.of(self._file, self.array)}
        return vars(self) | {"_file": None, "array": np.asarray(self.array, order=self._order or "C")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if isinstance(part := state["array"], MappedPart):
            self.array = part.mapped()
            self._file = _mapped_file(self.array)


def _blas_order(array: NDArray[Any]) -> Literal["C", "F"] | None:
    """Whether BLAS takes an array with rows, or columns, one after the other; None for neither."""
    (n, d), (down, right), one = array.shape, array.strides, array.itemsize
    if not array.flags.aligned:
        return None
    if array.flags.c_contiguous or (right == one and down >= d * one):
        return "C"
    return "F" if array.flags.f_contiguous or (down == one and right >= n * one) else None


@dataclass(frozen=True)
class _MappedFile:
    """The file behind an array."""

    path: str
    pages: mmap.mmap
    start: int  # of the pages in the file
    read_only: bool  # of others, changes could be lost with the pages
    named: bool = True

    @property
    def size(self) -> int:
        """Bytes that the file had at least, when it was mapped."""
        return self.start + len(self.pages)

    @property
    def travels(self) -> bool:
        """Whether another process sees the same at this path."""
        return self.read_only and self.named

    def check(self) -> None:
        size = self.pages.size()
        if size < self.size:
            raise StorageError(
                f"{self.path} has become shorter while it is used: {size} bytes of {self.size}; "
                "write it under another name first and rename it, or wait until nobody reads it"
            )

    def release(self) -> None:
        if self.read_only and hasattr(mmap, "MADV_DONTNEED"):
            self.pages.madvise(mmap.MADV_DONTNEED)


def _mapped_file(array: ArrayLike) -> _MappedFile | None:
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap):
            pages = array._mmap  # type: ignore[attr-defined]
            if isinstance(pages, mmap.mmap):
                start = array.offset - array.offset % mmap.ALLOCATIONGRANULARITY
                path = None if array.filename is None else os.path.abspath(os.fspath(array.filename))
                return _MappedFile(path or "a mapped file", pages, start, array.mode == "r", path is not None)
        array = array.base  # type: ignore[assignment]
    return None


_SAMPLE_BYTES = 1 << 20  # of a file, by which it is told from another of its size


@dataclass(frozen=True)
class MappedPart:
    """An array in a file, as it travels: the path, where the array lies, and what tells the file from others."""

    path: str
    size: int
    offset: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    digest: str

    @classmethod
    def of(cls, file: _MappedFile, array: NDArray[Any]) -> Self:
        """An array whose numbers lie in a mapped file."""
        file.check()
        first = np.frombuffer(file.pages, np.uint8).__array_interface__["data"][0]
        offset = file.start + array.__array_interface__["data"][0] - first
        digest = _sample_digest(array)
        return cls(file.path, file.pages.size(), offset, array.dtype.str, array.shape, array.strides, digest)

    def mapped(self) -> NDArray[Any]:
        """The array, mapped again; StorageError where there is no file, or another."""
        try:
            pages = map_bytes(self.path)
        except FileNotFoundError:
            raise StorageError(
                f"{self.path} is not on this machine, and its rows are asked for here; put it on storage that all "
                "nodes share, at the same path"
            ) from None
        except OSError as error:
            raise unreadable_error(self.path, error) from error
        if len(pages) != self.size:
            raise StorageError(f"{self._another}: it has {len(pages)} bytes and not {self.size}")
        array = np.ndarray(self.shape, self.dtype, pages, self.offset, self.strides)
        if _sample_digest(array) != self.digest:
            raise StorageError(f"{self._another}: its rows differ")
        return array

    @property
    def _another(self) -> str:
        return f"{self.path} must be the file that was opened where its rows were sent from, and is another"


def _sample_digest(array: NDArray[Any]) -> str:
    """A digest of some rows, evenly spread, of about `_SAMPLE_BYTES`."""
    n = len(array)
    most = max(2, min(n, _SAMPLE_BYTES // max(1, array.itemsize * array.shape[1])))
    return sha256_digest([array[np.unique(np.linspace(0, n - 1, most).astype(np.intp))] if n else b""])


def open_array(array: NDArray[Any], source: object) -> DenseMatrix:
    """The array as a matrix; complaints name where it came from."""
    try:
        return DenseMatrix(array)
    except ValueError as error:
        raise ValueError(f"{source} does not hold a matrix: {error}") from error
