"""Kernel principal components: the best factor of a given rank of a Gram matrix that is held in memory."""

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from manyclass._blas import one_thread
from manyclass.data.kernels import Doubles
from manyclass.exemplar.factor import Factor, negligible
from manyclass.exemplar.gram import Gram

_SMALL = 256  # rows of a Gram matrix of which all eigenvectors are found in no time


def kernel_pca(gram: Gram, rank: int | None) -> Factor:
    """Eigenvectors times root eigenvalues, for at most `rank` of the largest ones; zero and negative ones are left out.

    The directions are not centered: the coordinates are of the images themselves, as in the other factors.
    """
    K = gram.whole()
    total, r = float(K.trace()), gram.n if rank is None else min(rank, gram.n)
    with one_thread():
        squares, U = _largest(K, r)
    kept = squares > negligible(gram.n, max(float(squares[0]), 0.0))
    # One at least, so that all negatives may be zero.
    kept[0] = True
    U, lengths = U[:, kept], np.sqrt(np.maximum(squares[kept], 0))
    M = np.divide(U, lengths, out=np.zeros_like(U), where=lengths > 0)
    left = max(0.0, 1 - float(squares[kept].sum()) / total) if total > 0 else 0.0
    return Factor(U * lengths, np.arange(gram.n), np.ascontiguousarray(M), left)


def _largest(K: Doubles, r: int) -> tuple[Doubles, Doubles]:
    """The r largest eigenvalues, the largest first, and their eigenvectors (n, r)."""
    squares, U = _few(K, r) if r <= len(K) // 8 and len(K) > _SMALL else _all(K, r)
    order = np.argsort(-squares, kind="stable")[:r]
    return squares[order], np.ascontiguousarray(U[:, order])


def _few(K: Doubles, r: int) -> tuple[Doubles, Doubles]:
    """By Lanczos' method, from a fixed start, which takes products with K instead of cubes of its size."""
    start = np.random.default_rng(0).standard_normal(len(K))
    try:
        return eigsh(K, r, which="LA", v0=start)  # type: ignore[no-any-return]
    except ArpackNoConvergence:
        return _all(K, r)


def _all(K: Doubles, r: int) -> tuple[Doubles, Doubles]:
    n = len(K)
    # Only if all are wanted is the method of all of them the faster one.
    some = None if r == n else [n - r, n - 1]
    return eigh(K, overwrite_a=True, check_finite=False, subset_by_index=some)  # type: ignore[no-any-return]
