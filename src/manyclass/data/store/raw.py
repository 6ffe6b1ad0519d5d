"""Arrays as bytes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def plain(array: NDArray[Any]) -> NDArray[Any]:
    """The array as files have it: little-endian, in C order."""
    return np.asarray(array, array.dtype.newbyteorder("<"), order="C")


def raw_bytes(array: NDArray[Any]) -> memoryview:
    """The bytes of an array in C order, without a copy if it is in C order."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
