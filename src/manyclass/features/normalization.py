"""Power and length: what is done to the sums of an image before they are compared."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]


def signed_root(X: Floats) -> Floats:
    """sign(x) sqrt(|x|), which evens out what occurs often.

    >>> signed_root(np.array([4.0, -9.0, 0.0]))
    array([ 2., -3.,  0.])
    """
    return np.copysign(np.sqrt(np.abs(X)), X)


def unit(X: Floats) -> Floats:
    """X with unit length along the last axis; zeros stay zeros.

    >>> unit(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    lengths = np.sqrt(np.square(X, dtype=np.float64).sum(axis=-1, keepdims=True))
    return (X / np.where(lengths > 0, lengths, 1)).astype(X.dtype, copy=False)
