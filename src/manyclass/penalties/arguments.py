"""Matrices (d, k), as penalties are given them."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.floating[Any]]


def as_weights(W: ArrayLike) -> Floats:
    """W as a matrix of float32 or float64; other numbers become float64."""
    W = np.asarray(W)
    if W.ndim != 2 or 0 in W.shape or W.dtype.kind not in "fiub":
        raise ValueError(f"a penalty takes a matrix (d, k) of real numbers; got {W.dtype} of shape {W.shape}")
    return W if W.dtype in (np.float32, np.float64) else W.astype(np.float64)


def squares(W: Floats) -> NDArray[np.float64]:
    """|W_j|^2 of each row, added up in float64 (d,)."""
    return np.asarray(np.einsum("jl,jl->j", W, W, dtype=np.float64))
