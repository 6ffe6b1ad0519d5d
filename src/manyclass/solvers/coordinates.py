"""Rows as points in coordinates of their own, in which every kernel is the plain product."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]


class Points(NamedTuple):
    """Z (n, p), and the way between weights on Z (p, k) and weights as they are kept, (m, k).

    Weights w on Z are kept as back @ w, and those that are kept were forth' @ w. Where Z is X itself both are None.
    """

    Z: Doubles
    back: Doubles | None = None
    forth: Doubles | None = None

    def kept(self, W: Doubles) -> Doubles:
        """Weights (m, k) as they are kept."""
        return W if self.back is None else self.back @ W

    def on_points(self, weights: Doubles) -> Doubles:
        """Weights (p, k) on Z, of weights that are kept."""
        return weights if self.forth is None else self.forth.T @ weights


def of_rows(X: Doubles) -> Points:
    """Rows X (n, d) themselves; with more columns than rows, in an orthonormal basis of what the rows span."""
    if X.shape[1] <= X.shape[0]:
        return Points(X)
    Q, R = np.linalg.qr(X.T)
    return Points(R.T, Q, Q)


def of_gram(K: Doubles) -> Points:
    """Points whose Gram matrix Z Z' is K (n, n); weights w on them are kept as a (n, k), for scores K a.

    Negative eigenvalues, which only a K that is no kernel has, are left out, as are those that are zero up to rounding.

    >>> of_gram(np.array([[4.0, 0.0], [0.0, 0.0]])).Z
    array([[2.],
           [0.]])
    """
    squares, U = np.linalg.eigh((K + K.T) / 2)
    kept = squares > len(K) * np.finfo(np.float64).eps * max(squares[-1], 0)
    # One at least: a K of zeros gives points that are all zero.
    kept[-1] = True
    U, lengths = U[:, kept], np.sqrt(np.maximum(squares[kept], 0))
    Z = U * lengths
    return Points(Z, np.divide(U, lengths, out=np.zeros_like(U), where=lengths > 0), Z)
