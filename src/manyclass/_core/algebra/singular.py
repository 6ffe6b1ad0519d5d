"""Singular values and vectors of a (d, k) matrix: all, the largest, or those above a threshold; shrinkage and signs.

Values are found in float64. Where only a few vectors are wanted of a large matrix, `top_singular_pairs` iterates on a
subspace, from a fixed start or from vectors of a matrix near it.
"""

from typing import Any

import numpy as np

from manyclass._core.parallel import one_blas_thread
from manyclass._core.typing import Doubles, Floats

# Up to this many rows or columns the whole spectrum costs less than an iteration for its largest value. Measured with
# 1,000 rows and one value that stands out: 1.1 against 1.9 ms at 100 columns, 2.5 against 1.9 ms at 150.
SMALL = 100

# Up to so many, where singular values may be so close together that an iteration takes long to tell them apart, or
# misses some. Not tuned: a bound on the cost, which grows with the cube.
MIDDLING = 1500

# The residual A'A v - s^2 v at which the iteration stops is the square of this, times s^2.
TOP_TOLERANCE = 1e-5

# Eigenvalues of a Gram matrix know a singular value s to 1e-16 (s_max / s)^2 of itself.
CLEAR = 1e-4


def singular_values(W: Floats) -> Doubles:
    """The singular values, largest first (min(d, k),)."""
    with one_blas_thread():
        return np.asarray(np.linalg.svd(W.astype(np.float64), compute_uv=False))


def singular_values_above(W: Floats, threshold: float) -> Doubles:
    """The singular values; those far below the threshold may be as wrong as 1e-8 of the largest."""
    A = (W if len(W) >= W.shape[1] else W.T).astype(np.float64)
    scale = float(np.abs(A).max(initial=0.0)) or 1.0
    A /= scale
    if threshold / scale < CLEAR * float(np.linalg.norm(A)):
        return singular_values(W)
    with one_blas_thread():
        return np.asarray(scale * np.sqrt(np.maximum(np.linalg.eigvalsh(A.T @ A), 0)))


def top_singular_value(G: Floats) -> float:
    """The largest singular value."""
    if min(G.shape) > MIDDLING:
        return top_singular_triple(G)[1]
    A = G.astype(np.float64)
    scale = float(np.abs(A).max(initial=0.0)) or 1.0
    A /= scale
    with one_blas_thread():
        gram = A.T @ A if len(A) >= A.shape[1] else A @ A.T
        return scale * float(np.sqrt(max(np.linalg.eigvalsh(gram)[-1], 0.0)))


def singular_triples(W: Floats) -> tuple[Doubles, Doubles, Doubles]:
    """U (d, r), s (r,), V (k, r): the singular values that are more than rounding, and their vectors."""
    with one_blas_thread():
        U, s, Vt = np.linalg.svd(W.astype(np.float64), full_matrices=False)
    r = rank_above_rounding(s, W.dtype)
    return U[:, :r], s[:r], Vt[:r].T


def rank_above_rounding(s: Doubles, dtype: Any) -> int:
    """How many singular values (r,), largest first, of a matrix of this dtype are more than rounding.

    >>> rank_above_rounding(np.array([2.0, 1.0, 1e-7]), np.float32), rank_above_rounding(np.zeros(0), np.float32)
    (2, 0)
    """
    return int(np.count_nonzero(s > 10 * np.finfo(dtype).eps * s[:1].sum()))


def top_singular_triple(G: Floats) -> tuple[Doubles, float, Doubles]:
    """(u, s, v): the largest singular value of G and its vectors of length 1, with G v = s u."""
    A = G.astype(np.float64)
    if len(A) < A.shape[1]:
        v, s, u = _top(A.T)
    else:
        u, s, v = _top(A)
    return u, s, v


def _top(A: Doubles) -> tuple[Doubles, float, Doubles]:
    """`top_singular_triple` of a tall matrix, which is overwritten."""
    scale = float(np.abs(A).max())
    if scale == 0:
        return np.eye(len(A), 1)[:, 0], 0.0, np.eye(A.shape[1], 1)[:, 0]
    A /= scale
    with one_blas_thread():
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


def shrink_singular_values(W: Floats, threshold: float) -> tuple[Doubles, Doubles]:
    """V = sum_i max(0, s_i - threshold) u_i v_i' for W = sum_i s_i u_i v_i', and its singular values above zero."""
    A = W.astype(np.float64)
    with one_blas_thread():
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
    """`shrink_singular_values` by the whole singular value decomposition, for any threshold."""
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    s = s[s > threshold] - threshold
    return (U[:, : len(s)] * s) @ Vt[: len(s)], s


def shrink_by_gram(A: Doubles, threshold: float) -> tuple[Doubles, Doubles]:
    """`shrink_singular_values` by the eigenvectors of A'A above the threshold: faster where A (d, k) has d >= k.

    The threshold must not be small against the largest singular value, whose rounding the Gram matrix squares.
    """
    from scipy.linalg import eigh

    gram = A.T @ A
    values, V = eigh(gram, subset_by_value=(threshold**2, np.inf), driver="evr")
    s = np.sqrt(values[::-1])
    V = V[:, ::-1]
    return ((A @ V) * (1 - threshold / s)) @ V.T, s - threshold


Triple = tuple[Doubles, Doubles, Doubles]

# Up to so many rows or columns all pairs are found, exactly, and the first are taken. Measured, 10 pairs of 1,000 rows:
# 2.3 ms against 1.5 ms of the iteration at 100 columns, 8.4 against 2.7 at 200, and 41 against 4.3 at 400.
_SMALL_FOR_PAIRS = 200

_SPARE = 8  # vectors iterated on beside those that are wanted, which makes these exact sooner

_MANY_ROUNDS = 16  # of the iteration, where all pairs above a threshold are wanted


def top_singular_pairs(G: Floats, r: int, start: Floats | None = None, rounds: int = 4) -> Triple:
    """U (d, r), s (r,) falling, V (k, r): the first r singular values of G (d, k), approximately, and their vectors.

    `start` (k, m) are vectors near some of V. Every round makes each pair more exact by the ratio of its singular
    value to the first that is left out, squared.
    """
    if len(G) < G.shape[1]:
        V, s, U = _top_of_products(G.T, r, None if start is None else G @ start, rounds)
        return U, s, V
    return _top_of_products(G, r, start, rounds)


def singular_pairs_above(G: Floats, threshold: float, most: int) -> Triple:
    """U (d, r), s (r,) falling, V (k, r): the singular values of G above the threshold, at most so many of them.

    All are found, however close together they are, unless G has more than 1,500 rows and columns.
    """
    if len(G) < G.shape[1]:
        V, s, U = singular_pairs_above(G.T, threshold, most)
        return U, s, V
    if float(np.linalg.norm(G)) <= threshold:
        return np.zeros((len(G), 0)), np.zeros(0), np.zeros((G.shape[1], 0))
    if G.shape[1] > MIDDLING:
        U, s, V = _top_of_products(G, min(most, G.shape[1]), None, rounds=_MANY_ROUNDS)
    else:
        with one_blas_thread():
            U, s, V = _above(G.astype(np.float64), threshold, most)
    kept = s > threshold
    return U[:, kept], s[kept], V[:, kept]


def _above(G: Doubles, threshold: float, most: int) -> Triple:
    """By the eigenvectors of G'G."""
    from scipy.linalg import eigh

    scale = max(float(np.abs(G).max(initial=0.0)), 1e-300)
    # A little below the threshold, lest rounding hide what is above it.
    above = (0.999 * (threshold / scale) ** 2, np.inf)
    V = eigh((G / scale).T @ (G / scale), subset_by_value=above, driver="evr")[1][:, ::-1][:, :most]
    Y = G @ V
    s = np.linalg.norm(Y, axis=0)
    return Y / np.maximum(s, 1e-300), s, V


def _top_of_products(G: Floats, r: int, start: Floats | None, rounds: int) -> Triple:
    k = G.shape[1]
    r = min(r, k)
    with one_blas_thread():
        whole = k <= _SMALL_FOR_PAIRS or 3 * r > k
        V = np.eye(k) if whole else _iterate(G, _begin(k, r + _SPARE, start), rounds)
        return _rotate(G.astype(np.float64) @ V, V, r)


def _begin(k: int, m: int, start: Floats | None) -> Doubles:
    """m vectors (k, m): those given, and random ones that are the same every time."""
    V = np.random.default_rng(0).standard_normal((k, m))
    if start is not None:
        V[:, : min(m, start.shape[1])] = start[:, :m]
    return V


def _iterate(G: Floats, V: Doubles, rounds: int) -> Doubles:
    # The span needs no more than the digits of G; what is made from it is made in float64.
    for _ in range(rounds):
        V = np.linalg.qr(V)[0]
        V = (G.T @ (G @ V.astype(G.dtype))).astype(np.float64)
        V /= max(float(np.abs(V).max()), 1e-300)
    return np.asarray(np.linalg.qr(V)[0])


def _rotate(Y: Doubles, V: Doubles, r: int) -> Triple:
    """The singular pairs of Y V' for Y = G V, by the eigenvectors of Y'Y."""
    scale = max(float(np.abs(Y).max(initial=0.0)), 1e-300)
    E = np.linalg.eigh((Y / scale).T @ (Y / scale))[1][:, ::-1][:, :r]
    Y = Y @ E
    s = np.linalg.norm(Y, axis=0)
    return Y / np.maximum(s, 1e-300), s, V @ E


def column_signs(V: Floats) -> Floats:
    """The signs (m,) by which columns of V (n, m) are multiplied to have a largest entry above zero.

    Singular vectors and eigenvectors have two signs; these are nobody's choice.

    >>> column_signs(np.array([[1.0, -3.0], [-2.0, 1.0]]))
    array([-1., -1.])
    """
    return np.asarray(np.sign(V[np.abs(V).argmax(axis=0), np.arange(V.shape[1])]))


def svd_flip(U: Floats, s: Doubles, V: Floats) -> tuple[Floats, Doubles, Floats]:
    """The singular triples with signs such that the largest entry of every column of U is above zero."""
    signs = column_signs(U)
    return U * signs, s, V * signs
