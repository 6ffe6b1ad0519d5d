"""The first singular pairs of a matrix, by iteration on a subspace."""

import numpy as np
from numpy.typing import NDArray

from manyclass._blas import one_thread
from manyclass.data.tiles import Floats

Doubles = NDArray[np.float64]
Triple = tuple[Doubles, Doubles, Doubles]

# Up to so many rows or columns the eigenvectors of the Gram matrix cost less than the iteration.
_SMALL = 200
_SPARE = 8
# And up to so many, where pairs may be so close together that the iteration would miss some of them.
_MIDDLING = 1500
_MANY = 16  # rounds, beyond that


def top_pairs(G: Floats, r: int, start: Floats | None = None, rounds: int = 4) -> Triple:
    """U (d, r), s (r,) falling, V (k, r): the first r singular values of G (d, k), approximately, and their vectors.

    `start` (k, m) are vectors near some of V. Every round makes each pair more exact by the ratio of its singular
    value to the first that is left out, squared.
    """
    if len(G) < G.shape[1]:
        V, s, U = _top(G.T, r, None if start is None else G @ start, rounds)
        return U, s, V
    return _top(G, r, start, rounds)


def pairs_above(G: Floats, threshold: float, most: int) -> Triple:
    """U (d, r), s (r,) falling, V (k, r): the singular values of G above the threshold, at most so many of them.

    All are found, however close together they are, unless G has more than 1,500 rows and columns.
    """
    if len(G) < G.shape[1]:
        V, s, U = pairs_above(G.T, threshold, most)
        return U, s, V
    if float(np.linalg.norm(G)) <= threshold:
        return np.zeros((len(G), 0)), np.zeros(0), np.zeros((G.shape[1], 0))
    if G.shape[1] > _MIDDLING:
        U, s, V = _top(G, min(most, G.shape[1]), None, rounds=_MANY)
    else:
        with one_thread():
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


def _top(G: Floats, r: int, start: Floats | None, rounds: int) -> Triple:
    k = G.shape[1]
    r = min(r, k)
    with one_thread():
        whole = k <= _SMALL or 3 * r > k
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
