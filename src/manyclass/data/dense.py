"""Rows kept as they are, in an array or a memory map."""

import mmap
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyclass import _native
from manyclass._core.errors import StorageError
from manyclass._core.parallel import native_threads
from manyclass._core.typing import Floats
from manyclass.data.matrix import Matrix


class DenseMatrix(Matrix):
    """An array or memory map of real numbers, in any order, without a copy.

    Products and rows have the smaller of float32 and float64 that holds the storage: float16 and short integers are
    converted to float32 a block at a time, so that products never hold a second copy of X.

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
        self._gathers = array.dtype == np.dtype("=f4") and array.flags.c_contiguous and array.flags.aligned

    @property
    def nbytes(self) -> int:
        return int(self.array.nbytes)

    def _rows(self, index: slice | NDArray[np.intp]) -> Floats:
        if not isinstance(index, slice) and self._gathers:
            self._check_file()
            out = np.empty((len(index), self.shape[1]), np.float32)
            _native.gather(self.array, index.astype(np.int64, copy=False), out, native_threads(out.nbytes))
            return out
        rows = self.stored(index)
        if not rows.flags.aligned:
            rows = rows.copy()
        if rows.dtype == self.dtype and isinstance(index, slice):
            rows = rows.view()
            rows.flags.writeable = False
        return rows.astype(self.dtype, copy=False)

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


@dataclass(frozen=True)
class _MappedFile:
    """The file behind an array."""

    path: str
    pages: mmap.mmap
    size: int  # at least, when it was mapped
    read_only: bool  # of others, changes could be lost with the pages

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
                size = array.offset - array.offset % mmap.ALLOCATIONGRANULARITY + len(pages)
                return _MappedFile(str(array.filename or "a mapped file"), pages, size, array.mode == "r")
        array = array.base  # type: ignore[assignment]
    return None


def open_array(array: NDArray[Any], source: object) -> DenseMatrix:
    """The array as a matrix; complaints name where it came from."""
    try:
        return DenseMatrix(array)
    except ValueError as error:
        raise ValueError(f"{source} does not hold a matrix: {error}") from error
