"""Source: rows in the form in which they are to be stored."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.data.dense import DenseMatrix
from manyclass.data.matrix import Matrix
from manyclass.data.quantizer import Quantizer
from manyclass.data.sharded import ShardedMatrix
from manyclass.data.store.quantizer_files import same_quantizer
from manyclass.data.store.verified import VerifiedMatrix

_PIECE = 8 << 20  # bytes read at a time


@dataclass(frozen=True)
class Source:
    """n rows; `read(start, stop)` gives some, as numbers of `dtype` or, if there is a quantizer, as its codes."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    quantizer: Quantizer | None
    read: Callable[[int, int], NDArray[Any]]

    def pieces(self, start: int, stop: int) -> Iterator[NDArray[Any]]:
        """Rows start to stop, a few megabytes at a time."""
        size = max(1, _PIECE // max(1, self.dtype.itemsize * self.shape[1]))
        for first in range(start, stop, size):
            yield self.read(first, min(stop, first + size))


def numbers_of(X: Matrix) -> Source:
    """The rows of X as numbers."""
    return Source(X.shape, X.dtype, None, lambda start, stop: X.rows(slice(start, stop)))


def source_of(X: Matrix) -> Source:
    """The rows of X as X keeps them: float16 stays so, and codes stay codes."""
    if isinstance(X, VerifiedMatrix):
        return Source(X.shape, X.stored_dtype, X.quantizer, X.stored)
    if isinstance(X, ShardedMatrix):
        return _stacked(X)
    if hasattr(X, "codes") and hasattr(X, "quantizer"):
        return _of_array(X, X.codes, X.quantizer)
    if isinstance(X, DenseMatrix) and X.array.dtype.kind == "f":
        return _of_array(X, X.array, None)
    return numbers_of(X)


def _of_array(X: Matrix, array: NDArray[Any], quantizer: Quantizer | None) -> Source:
    return Source(X.shape, array.dtype, quantizer, lambda start, stop: array[start:stop])


def _stacked(X: ShardedMatrix) -> Source:
    parts = [source_of(matrix) for matrix in X.matrices]
    if any(part.dtype != parts[0].dtype or not same_quantizer(part.quantizer, parts[0].quantizer) for part in parts):
        return numbers_of(X)
    starts = np.cumsum([0, *(part.shape[0] for part in parts)]).tolist()

    def read(start: int, stop: int) -> NDArray[Any]:
        spans = zip(parts, starts, strict=False)
        cuts = [(part, max(0, start - at), min(part.shape[0], stop - at)) for part, at in spans]
        return np.concatenate([part.read(first, last) for part, first, last in cuts if first < last])

    return Source(X.shape, parts[0].dtype, parts[0].quantizer, read)
