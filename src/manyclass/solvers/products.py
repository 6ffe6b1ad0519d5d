"""The products of a block of stochastic gradient descent, the same bits for any number of threads."""

import numpy as np
from numpy.typing import NDArray

from manyclass import _blas, _native
from manyclass._threads import get_threads
from manyclass.data.tiles import spans

_CLASSES = 256  # a panel of classes is one product of one thread

Array = NDArray[np.float32]


def scores(X: Array, W: Array) -> Array:
    """X W' (m, k) for X (m, d) and W (k, d)."""
    S = np.empty((len(X), len(W)), np.float32)

    def fill(classes: slice) -> None:
        S[:, classes] = X @ W[classes].T

    _run(fill, len(W))
    return S


def gram(X: Array) -> Array:
    """X X' (m, m)."""
    with _blas.one_thread():
        return np.ascontiguousarray(X @ X.T)


def move(W: Array, A: Array, X: Array) -> None:
    """W += A' X for A (m, k); what is mostly zeros is not multiplied."""
    if np.count_nonzero(A) < 0.05 * A.size:
        _native.move_some(X, A, W, get_threads())
        return

    def add(classes: slice) -> None:
        W[classes] += A[:, classes].T @ X

    _run(add, len(W))


def _run(work: object, k: int) -> None:
    for _ in _blas.in_order(work, spans(k, _CLASSES)):  # type: ignore[arg-type]
        pass
