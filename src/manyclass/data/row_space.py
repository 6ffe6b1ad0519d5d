"""Fewer rows than columns: the Gram matrix of the rows, and rows by their coordinates in the span of all of them.

What a rotation does not change, such as a ridge, a trace norm or steps of stochastic gradient descent from W = 0, can
be minimized in these coordinates, which are at most n numbers and not d: the solution is the same, turned. They take a
product of all rows with one another, and 12 n^2 bytes. Measured, one-vs-rest with 1,000 rows, one thread: for 2, 4 and
8 times as many columns a fit takes 0.9, 0.9 and 1.0 s in place of 1.2, 1.6 and 2.6 s.
"""

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from manyclass._core.checks import as_2d
from manyclass._core.parallel import one_blas_thread
from manyclass._core.typing import Doubles, Floats
from manyclass.data.dense import DenseMatrix
from manyclass.data.matrix import Matrix, spans

# A row that is as near to the span of others, relative to its length, as rounding of the Gram matrix can make it, is in
# it. Measured: what is left of the square of a row that is a sum of others is up to 20 eps.
_ROUNDING = 32

# What is left of the square of a row outside of the span of those before must be so much, for sums of rows by which
# weights are turned back to keep four digits.
_APART = {np.float32: 1e-3, np.float64: 1e-10}

_PANEL = 256  # rows of X that others are multiplied with at a time


def row_gram(X: Matrix, dtype: DTypeLike | None = None) -> Doubles:
    """X X' (n, n) in float64, whatever keeps the rows; the same bits for any number of threads.

    Columns are read and multiplied some thousand at a time in `dtype`, by default that of X, and these products are
    added in float64. Those of float32 are off by some 1e-7 of the lengths of their two rows, up or down, and those of
    counts, which are rounded alike, by up to 2e-6: enough where rows differ by much of their lengths.

    >>> row_gram(DenseMatrix([[1.0, 2.0, 2.0], [0.0, 0.0, 3.0]]))
    array([[9., 6.],
           [6., 9.]])
    """
    G = X._row_gram(np.dtype(X.dtype if dtype is None else dtype))
    X.release()
    return G


class RowSpaceMatrix(DenseMatrix):
    """The rows of a matrix by their coordinates Z (n, r) in an orthonormal basis Q (d, r) of their span: X = Z Q'.

    Z comes from the Gram matrix alone: Z Z' = X X' by Cholesky's factorization with pivots, of rows of unit length, so
    that rows of any scale, equal rows and rows of zeros have their place. The columns of Q are sums of the r rows that
    were pivots; Q itself is never made. It is well conditioned unless rows differ in little of their lengths.

    >>> X = RowSpaceMatrix(DenseMatrix([[3.0, 0.0, 4.0], [6.0, 0.0, 8.0]]))
    >>> X.shape, X.lift(X.array[0])
    ((2, 1), array([3., 0., 4.]))
    """

    is_divisible = False  # weights of one row are turned back by all rows

    def __init__(self, X: Matrix):
        L, order, rank, lengths = _factor(X, X.dtype)
        # What is left of rows that are nearly in the span of others is rounding of products in float32: of equal rows,
        # of rows far from zero, or of such that differ in a few directions much more than in all others.
        if X.dtype == np.float32 and (rank < len(L) or _least_pivot(L, rank) < _APART[np.float32]):
            del L
            L, order, rank, lengths = _factor(X, np.float64)
        self.is_well_conditioned = _least_pivot(L, rank) >= _APART[X.dtype.type]
        Z = np.empty((len(L), rank), X.dtype)
        for at in spans(len(L), 1024):
            Z[order[at]] = lengths[order[at], None] * np.tril(L[at], at.start)[:, :rank]
        super().__init__(Z)
        self.whole = X
        self._pivots, self._lengths = order[:rank], lengths[order[:rank], None]
        self._triangle = np.array(L[:rank, :rank]) if rank < len(L) else L

    def lift(self, W: ArrayLike) -> Floats:
        V, vector = as_2d(W, "W", self.shape[1], np.dtype(np.float64))
        A = np.zeros((self.shape[0], V.shape[1]), self.dtype)
        A[self._pivots] = self._solve(V, transposed=True) / self._lengths
        product = self.whole.rmatmat(A)
        return product[:, 0] if vector else product

    def coordinates(self, other: Matrix) -> Matrix:
        K = np.empty((self.shape[1], other.shape[0]))
        for at in spans(len(K), _PANEL):
            K[at] = other.matmat(self.whole.rows(self._pivots[at]).T).T
        K /= self._lengths
        return DenseMatrix(np.ascontiguousarray(self._solve(K, transposed=False).T, self.dtype))

    def _solve(self, B: Doubles, transposed: bool) -> Doubles:
        import scipy.linalg

        if not len(B):
            return B
        with one_blas_thread():
            found: Doubles = scipy.linalg.solve_triangular(
                self._triangle, B, trans=int(transposed), lower=True, check_finite=False
            )
        return found


def _least_pivot(L: Doubles, rank: int) -> float:
    return float(np.square(L.diagonal()[:rank]).min(initial=1))


def _factor(X: Matrix, dtype: DTypeLike) -> tuple[Doubles, np.ndarray, int, Doubles]:
    """(L, order, rank) of rows of unit length, and their lengths (n,); products are made in this dtype."""
    G = row_gram(X, dtype)
    lengths = np.sqrt(G.diagonal())
    lengths[lengths == 0] = 1
    return *_pivoted_cholesky(G, lengths, _ROUNDING * float(np.finfo(np.dtype(dtype)).eps)), lengths


def _pivoted_cholesky(G: Doubles, lengths: Doubles, least: float) -> tuple[Doubles, np.ndarray, int]:
    """(L, order, rank) with L L' = G / (lengths lengths') in that order of rows, made in place of G.

    The order is that of what is left of rows outside of the span of those before; it ends where that is `least`.
    """
    from scipy.linalg.lapack import dpstrf

    G /= lengths
    G /= lengths[:, None]
    with one_blas_thread():
        L, order, rank, _ = dpstrf(G.T, tol=least, lower=1, overwrite_a=1)
    return L, order.astype(np.intp) - 1, int(rank)
