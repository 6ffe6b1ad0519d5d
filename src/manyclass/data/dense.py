"""Rows kept as they are, in an array or a memory map."""

import mmap
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyclass import _native
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
        The numbers as they are stored.

    Examples
    --------
    >>> X = DenseMatrix(np.eye(3, dtype=np.float16))
    >>> X @ [1, 2, 3]
    array([1., 2., 3.], dtype=float32)
    """

    def __init__(self, array: ArrayLike):
        if isinstance(array, np.ma.MaskedArray):
            raise ValueError("X must not be a masked array; fill its gaps with X.filled(value)")
        self._map = _mapping(array)
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
            out = np.empty((len(index), self.shape[1]), np.float32)
            _native.gather(self.array, index.astype(np.int64, copy=False), out, native_threads(out.nbytes))
            return out
        rows = self.array[index]
        if rows.dtype == self.dtype and isinstance(index, slice):
            rows = rows.view()
            rows.flags.writeable = False
        return rows.astype(self.dtype, copy=False)

    def release(self) -> None:
        if self._map is not None:
            self._map.madvise(mmap.MADV_DONTNEED)


def _mapping(array: ArrayLike) -> mmap.mmap | None:
    """The read-only map of a file behind an array. Of others, changes could be lost with the pages."""
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap) and array.mode == "r":
            found = array._mmap  # type: ignore[attr-defined]
            return found if isinstance(found, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED") else None
        array = array.base  # type: ignore[assignment]
    return None
