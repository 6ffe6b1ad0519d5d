"""Singular values and vectors of a (d, k) matrix: all, the first, or those above a threshold. In float64 throughout."""

import numpy as np
from numpy.typing import NDArray

from manyclass._blas import one_thread
from manyclass.penalties.arguments import Floats

Doubles = NDArray[np.float64]

# Up to this many rows or columns the whole spectrum costs less than an iteration for its top.
SMALL = 100
# Up to so many, where singular values may be so close to the first that an iteration takes long to tell them apart.
MIDDLING = 1500
# The residual A'A v - s^2 v at which the iteration stops is the square of this, times s^2.
TOP_TOLERANCE = 1e-5
# Eigenvalues of a Gram matrix know a singular value s to 1e-16 (s_max / s)^2 of itself.
CLEAR = 1e-4


def singular_values(W: Floats) -> Doubles:
    """The singular values, largest first (min(d, k),)."""
    with one_thread():
        return np.asarray(np.linalg.svd(W.astype(np.float64), compute_uv=False))


def singular_values_above(W: Floats, threshold: float) -> Doubles:
    """The singular values; those far below the threshold may be as wrong as 1e-8 of the largest."""
    A = (W if len(W) >= W.shape[1] else W.T).astype(np.float64)
    scale = float(np.abs(A).max(initial=0.0)) or 1.0
    A /= scale
    if threshold / scale < CLEAR * float(np.linalg.norm(A)):
        return singular_values(W)
    with one_thread():
        return np.asarray(scale * np.sqrt(np.maximum(np.linalg.eigvalsh(A.T @ A), 0)))


def top_value(G: Floats) -> float:
    """The largest singular value."""
    if min(G.shape) > MIDDLING:
        return top_triple(G)[1]
    A = G.astype(np.float64)
    scale = float(np.abs(A).max(initial=0.0)) or 1.0
    A /= scale
    with one_thread():
        gram = A.T @ A if len(A) >= A.shape[1] else A @ A.T
        return scale * float(np.sqrt(max(np.linalg.eigvalsh(gram)[-1], 0.0)))


def triples(W: Floats) -> tuple[Doubles, Doubles, Doubles]:
    """U (d, r), s (r,), V (k, r): the singular values that are more than rounding, and their vectors."""
    with one_thread():
        U, s, Vt = np.linalg.svd(W.astype(np.float64), full_matrices=False)
    r = int(np.count_nonzero(s > 10 * np.finfo(W.dtype).eps * s[:1].sum()))
    return U[:, :r], s[:r], Vt[:r].T


def top_triple(G: Floats) -> tuple[Doubles, float, Doubles]:
    """(u, s, v): the largest singular value of G and its vectors of length 1, with G v = s u."""
    A = G.astype(np.float64)
    if len(A) < A.shape[1]:
        v, s, u = _top(A.T)
    else:
        u, s, v = _top(A)
    return u, s, v


def _top(A: Doubles) -> tuple[Doubles, float, Doubles]:
    """`top_triple` of a tall matrix, which is overwritten."""
    scale = float(np.abs(A).max())
    if scale == 0:
        return np.eye(len(A), 1)[:, 0], 0.0, np.eye(A.shape[1], 1)[:, 0]
    A /= scale
    with one_thread():
        v = _top_of_gram(A) if A.shape[1] <= SMALL else _top_by_lanczos(A)
        Av = A @ v
    s = float(np.linalg.norm(Av))
    return Av / s, scale * s, v


def _top_of_gram(A: Doubles) -> Doubles:
    return np.asarray(np.linalg.eigh(A.T @ A)[1][:, -1])


def _top_by_lanczos(A: Doubles) -> Doubles:
    from scipy.sparse.linalg import svds

    start = np.random.default_rng(0).standard_normal(A.shape[1])
    return np.asarray(svds(A, k=1, v0=start, tol=TOP_TOLERANCE)[2][0])


def shrink(W: Floats, threshold: float) -> tuple[Doubles, Doubles]:
    """V = sum_i max(0, s_i - threshold) u_i v_i' for W = sum_i s_i u_i v_i', and its singular values above zero."""
    A = W.astype(np.float64)
    with one_thread():
        if len(A) < A.shape[1]:
            V, s = _shrink(A.T, threshold)
            return V.T, s
        return _shrink(A, threshold)


def _shrink(A: Doubles, threshold: float) -> tuple[Doubles, Doubles]:
    largest = float(np.linalg.norm(A))
    if largest <= threshold:
        return np.zeros_like(A), np.zeros(0)
    if threshold >= CLEAR * largest:
        return shrink_by_gram(A, threshold)
    return shrink_by_svd(A, threshold)


def shrink_by_svd(A: Doubles, threshold: float) -> tuple[Doubles, Doubles]:
    """`shrink` by the whole singular value decomposition, for any threshold."""
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    s = s[s > threshold] - threshold
    return (U[:, : len(s)] * s) @ Vt[: len(s)], s


def shrink_by_gram(A: Doubles, threshold: float) -> tuple[Doubles, Doubles]:
    """`shrink` by the eigenvectors of A'A above the threshold: faster where A (d, k) has d >= k.

    The threshold must not be small against the largest singular value, whose rounding the Gram matrix squares.
    """
    from scipy.linalg import eigh

    gram = A.T @ A
    values, V = eigh(gram, subset_by_value=(threshold**2, np.inf), driver="evr")
    s = np.sqrt(values[::-1])
    V = V[:, ::-1]
    return ((A @ V) * (1 - threshold / s)) @ V.T, s - threshold
