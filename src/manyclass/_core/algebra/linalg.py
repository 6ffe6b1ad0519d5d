"""Linear algebra that several rooms need: aligned arrays, rows of unit length, signed roots, power iteration."""

import math
import mmap
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from manyclass._core.typing import Doubles, Floats, Singles

# Bytes of a line of the cache, and of the longest register. NumPy aligns large arrays to 16, so that every load of a
# register touches two lines.
# Measured, one thread, AVX-512, a product of 2,048 numbers and a step for four of ten: 247 ns, and 143 if aligned.
_LINE = 64


def aligned_empty(shape: tuple[int, int]) -> Singles:
    """An array of float32, not filled, that begins where a line of the cache does.

    >>> aligned_empty((3, 5)).ctypes.data % 64
    0
    """
    return _aligned(np.empty(4 * shape[0] * shape[1] + _LINE, np.uint8), shape)


def aligned_zeros(shape: tuple[int, int]) -> Singles:
    """An array of zeros that is aligned likewise; pages that nobody writes to take no memory."""
    return _aligned(np.zeros(4 * shape[0] * shape[1] + _LINE, np.uint8), shape)


def mapped_empty(shape: tuple[int, ...], dtype: DTypeLike = np.float32, skip: int = 0) -> NDArray[Any]:
    """An array in pages of its own, `skip` bytes from where one begins, which are the system's again when it is gone.

    What the C library is given back it may keep, or cut up by what comes next. Pages that nobody writes to take none.

    >>> mapped_empty((3, 5)).ctypes.data % 64
    0
    """
    count = math.prod(shape)
    size = skip + max(1, count * np.dtype(dtype).itemsize)
    pages = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):  # as NumPy asks for its own large arrays
        with suppress(OSError):
            pages.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(pages, dtype, count, skip).reshape(shape)


def _aligned(raw: NDArray[np.uint8], shape: tuple[int, int]) -> Singles:
    start = -raw.ctypes.data % _LINE
    return raw[start : len(raw) - _LINE + start].view(np.float32).reshape(shape)


def aligned_copy(X: ArrayLike) -> Singles:
    """The numbers of X (n, d) in an array of float32 of its own, aligned."""
    n, d = np.shape(X)
    out = aligned_empty((n, d))
    out[...] = X
    return out


def signed_root(X: Floats) -> Floats:
    """sign(x) sqrt(|x|), which evens out what occurs often.

    >>> signed_root(np.array([4.0, -9.0, 0.0]))
    array([ 2., -3.,  0.])
    """
    return np.copysign(np.sqrt(np.abs(X)), X)


def l2_normalize(X: Floats) -> Floats:
    """X with unit length along the last axis; zeros stay zeros.

    >>> l2_normalize(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    lengths = np.sqrt(np.square(X, dtype=np.float64).sum(axis=-1, keepdims=True))
    return (X / np.where(lengths > 0, lengths, 1)).astype(X.dtype, copy=False)


def unit_rows(Z: Doubles) -> Doubles:
    """Z (n, d) with rows of unit length, however small or large they are; rows of zeros stay as they are.

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0], [1e-200, 0.0]]))
    array([[0.6, 0.8],
           [0. , 0. ],
           [1. , 0. ]])
    """
    # The square of a tiny or huge number would be lost.
    peak = np.abs(Z).max(axis=1, keepdims=True, initial=0)
    Z = Z / np.where(peak > 0, peak, 1)
    length = np.sqrt(np.einsum("ij,ij->i", Z, Z))[:, None]
    return Z / np.where(length > 0, length, 1)


def power_iteration(multiply: Callable[[Floats], Floats], v: Floats, rounds: int) -> Floats:
    """M v for a v of length 1 near the first eigenvector of M, where multiply(v) = M v, begun at v.

    >>> M = np.diag([3.0, 1.0])
    >>> np.linalg.norm(power_iteration(lambda v: M @ v, np.ones(2), 10)).round(6)
    np.float64(3.0)
    """
    least = float(np.finfo(v.dtype).tiny)
    for _ in range(rounds):
        v = multiply(v / max(float(np.linalg.norm(v)), least))
    return v
