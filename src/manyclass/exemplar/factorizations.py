"""Factorizations of the Gram matrix of the negatives: complete and incomplete Cholesky, kernel PCA, and Nystrom's.

A factor gives the negatives coordinates in a space in which the kernel is the plain product. What machines need of it
is the mean and the covariance of these coordinates, from which `solve_kernel` makes the machines of one lambda.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, eigh, eigvalsh, solve_triangular
from scipy.linalg.lapack import dpotrf, dpstrf, dtrtri
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from manyclass._core.checks import check_count, check_one_of
from manyclass._core.parallel import for_each, one_blas_thread, thread_map
from manyclass._core.typing import Doubles
from manyclass.data.matrix import rmatmat
from manyclass.exemplar.gram import Gram


class Factor(NamedTuple):
    """K is B B', or nearly. The r coordinates are along orthonormal directions in the space of the kernel.

    These directions are sums of some of the negatives, the landmarks, so that the coordinates of any image x, those of
    its projection, are v = M' k, where k (m,) holds its kernel values with the landmarks. Of the negatives they are
    the rows of B. For a complete factor v is the pseudoinverse of B times the kernel values with all negatives.

    `incomplete_cholesky_pinv` alone is otherwise: its v are no projections, and of the negatives not the rows of B.
    """

    B: Doubles  # (n, r)
    landmarks: NDArray[np.intp]  # (m,) positions among the negatives
    M: Doubles  # (m, r)
    residual: float  # trace(K - B B') / trace(K)


PINV = "incomplete_cholesky_pinv"

FACTORIZATIONS = ("cholesky", "kpca", "nystrom", "incomplete_cholesky", PINV)


def check_factorization(name: str, rank: int | None) -> None:
    """Refuse a factorization that is none, or a rank that it cannot have."""
    check_one_of(name, "factorization", FACTORIZATIONS)
    if rank is not None:
        check_count(rank, "rank")
        if name == "cholesky":
            raise ValueError(
                f"rank must be None for a complete factorization; got {rank}, so use factorization='kpca' or 'nystrom'"
            )


def factorize(gram: Gram, name: str, rank: int | None) -> Factor:
    """The factor by one of `FACTORIZATIONS`; "cholesky" is of full rank."""
    if name == "cholesky":
        return complete_cholesky(gram)
    ranked: dict[str, Callable[[Gram, int | None], Factor]] = {
        "kpca": kernel_pca,
        "nystrom": nystrom,
        "incomplete_cholesky": incomplete_cholesky,
        PINV: incomplete_cholesky_pinv,
    }
    return ranked[name](gram, None if rank is None else int(rank))


def negligible(n: int, largest: float) -> float:
    """What rounding may make of a zero among the pivots or eigenvalues of K (n, n) whose largest is given."""
    return n * float(np.finfo(np.float64).eps) * largest


def complete_cholesky(gram: Gram) -> Factor:
    """K = L L' of full rank: n, or fewer if K is singular, as it is if negatives are equal.

    A K with negative eigenvalues is no kernel's; the size of the least of them is added to its diagonal.
    """
    K = gram.whole()
    least = negligible(gram.n, float(np.abs(K).max()))
    with one_blas_thread():
        # LAPACK keeps columns together: the transpose, which is K again, is overwritten without a copy.
        upper, failed = dpotrf(K.T, overwrite_a=True)
        if not failed and np.square(upper.diagonal()).min() > least:
            return _factor(upper, np.arange(gram.n))
        return _singular(gram.whole(), least)


def _singular(K: Doubles, least: float) -> Factor:
    """The factor of a K that has no inverse; its rows are pivoted, so that those it can do without come last."""
    upper, order, rank, _ = dpstrf(K, tol=least)
    order = order.astype(np.intp) - 1
    rest = order[rank:]
    U = np.triu(upper)[:rank]
    left = K[np.ix_(rest, rest)] - U[:, rank:].T @ U[:, rank:]
    if np.abs(left).max(initial=0) > len(K) * least:
        return _shifted(K, least)
    # One at least, so that all negatives may be zero.
    return _factor(U, order) if rank else Factor(np.zeros((len(K), 1)), order[:1], np.zeros((1, 1)), 0.0)


def _shifted(K: Doubles, least: float) -> Factor:
    K[np.diag_indices(len(K))] += 10 * least - float(eigvalsh(K, subset_by_index=[0, 0])[0])
    upper, _ = dpotrf(K.T)
    return _factor(upper, np.arange(len(K)))


def _factor(upper: Doubles, order: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Factor:
    """From U (r, n), of which U'U is K with its rows and columns in this order."""
    r, n = upper.shape
    M, _ = dtrtri(upper[:, :r])
    B = np.empty((n, r))
    B[order] = upper.T
    return Factor(B, order[:r], np.ascontiguousarray(M), 0.0)


_FIRST = 64  # columns to begin with, where the rank that will be found is not known


def incomplete_cholesky(gram: Gram, rank: int | None) -> Factor:
    """The factor of at most `rank` pivots, each the negative that the ones before it explain least.

    With None it goes on until nothing is left but rounding. Each pivot is one pass over the negatives: r kernel values
    of each are computed, in O(n r (d + r)) time and n r numbers of memory.
    """
    residual = gram.diagonal()
    total, least = float(residual.sum()), negligible(gram.n, float(residual.max()))
    most = gram.n if rank is None else min(rank, gram.n)
    columns, pivots = np.zeros((min(most, rank or _FIRST), gram.n)), list[int]()
    while len(pivots) < most and residual.max() > least:
        if len(pivots) == len(columns):
            columns = np.concatenate([columns, np.zeros((min(len(columns), most - len(pivots)), gram.n))])
        pivots.append(int(residual.argmax()))
        _eliminate(gram, pivots, columns, residual)
    gram.check(pivots or [0])
    # One at least, so that all negatives may be zero.
    B = columns[: max(1, len(pivots))].T
    left = float(np.maximum(residual, 0).sum()) / total if total > 0 else 0.0
    return Factor(B, np.array(pivots or [0], np.intp), _back(B, pivots), left)


def _eliminate(gram: Gram, pivots: list[int], columns: Doubles, residual: Doubles) -> None:
    """Add the column of the last pivot, (k_p - B b_p) / its own residual's root, and take its squares off the rest."""
    pivot, done = pivots[-1], len(pivots) - 1
    b, length = columns[:done, pivot].copy(), np.sqrt(residual[pivot])
    kernel_values = gram.column(pivot)

    def fill(rows: slice) -> None:
        columns[done, rows] = (kernel_values(rows) - b @ columns[:done, rows]) / length
        residual[rows] -= columns[done, rows] ** 2

    for_each(fill, gram.tiles)
    residual[pivot] = 0


def _back(B: Doubles, pivots: list[int]) -> Doubles:
    """M: for the triangle L that B has at its pivots, L^-T."""
    if not pivots:
        return np.zeros((1, 1))
    with one_blas_thread():
        L = np.tril(B[pivots])
        return np.ascontiguousarray(solve_triangular(L, np.eye(len(L)), lower=True).T)


def incomplete_cholesky_pinv(gram: Gram, rank: int | None) -> Factor:
    """The same B, and coordinates v = B^+ k of an image from its kernel values k with all negatives.

    So Eq. 12 of Rezende et al. (CVPR 2017) is printed. B B' is not K, so v is no projection: |v| may be longer than the
    image, whose residual then has a square below zero, and small lambdas make nothing of it.
    """
    B, _, _, left = incomplete_cholesky(gram, rank)
    with one_blas_thread():
        return Factor(B, np.arange(gram.n), np.ascontiguousarray(np.linalg.pinv(B).T), left)


# Landmarks for each coordinate. Measured, mean average precision at rank 16, of 2,500 drawn characters and Omniglot's,
# Gaussian: 4 give 46.5 and 24.6 %, 8 give 46.9 and 24.9, 16 as much as kernel PCA, 47.1 and 24.9. So many of the pivots
# of an incomplete Cholesky factor, which are outliers, give 42.3 and 24.7; one of them for each, 39.2 and 23.0.
_LANDMARKS = 8

_FEWEST = 256  # landmarks, which take no time


def nystrom(gram: Gram, rank: int | None) -> Factor:
    """Principal components in the span of some negatives, drawn at random, of the projections of all of them.

    Nearly as good as kernel PCA, which it is if these are all. K is never formed: for m landmarks O(n m (d + m)) time,
    and m^2 and n r numbers of memory.
    """
    m = gram.n if rank is None else min(gram.n, max(_FEWEST, int(_LANDMARKS * rank)))
    if m == gram.n or rank is None:
        return kernel_pca(gram, rank)
    landmarks = np.sort(np.random.default_rng(0).choice(gram.n, m, replace=False)).astype(np.intp)
    gram.check(list(landmarks))
    values, total = gram.columns(landmarks), float(gram.diagonal().sum())
    with one_blas_thread():
        W = _whitened(values(landmarks))
        tiles = gram.tiles_of(m)
        moments = sum(thread_map(lambda rows: _square(values(rows) @ W), tiles), np.zeros((W.shape[1],) * 2))
        squares, U = _largest(moments, min(rank, W.shape[1]))
        M = np.ascontiguousarray(W @ U)
        B = np.concatenate(list(thread_map(lambda rows: values(rows) @ M, tiles)))
    left = max(0.0, 1 - float(squares.sum()) / total) if total > 0 else 0.0
    return Factor(B, landmarks, M, left)


def _whitened(K: Doubles) -> Doubles:
    """W (m, q) with W' K W the identity: orthonormal directions of the space that landmarks with this K span."""
    squares, U = eigh(K, check_finite=False)
    kept = squares > negligible(len(K), max(float(squares[-1]), 0.0))
    # One at least, so that all may be zero.
    return U[:, kept] / np.sqrt(squares[kept]) if kept.any() else np.zeros((len(K), 1))


def _square(B: Doubles) -> Doubles:
    return B.T @ B


_SMALL = 256  # rows of a Gram matrix of which all eigenvectors are found in no time


def kernel_pca(gram: Gram, rank: int | None) -> Factor:
    """Eigenvectors times root eigenvalues, for at most `rank` of the largest ones; zero and negative ones are left out.

    The directions are not centered: the coordinates are of the images themselves, as in the other factors.
    """
    K = gram.whole()
    total, r = float(K.trace()), gram.n if rank is None else min(rank, gram.n)
    with one_blas_thread():
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


class FactorMoments(NamedTuple):
    """A factor of which no more is kept than machines need: mean and covariance of the negatives' coordinates."""

    landmarks: NDArray[np.intp]  # (m,)
    M: Doubles  # (m, r)
    residual: float
    mean: Doubles  # (r,)
    covariance: Doubles  # (r, r)


class KernelSolution(NamedTuple):
    """With kernel values k (m,) of an image and the landmarks, its coordinates and the slope of its machine are

        v = M' k        lambda beta = lambda A^-1 (v - mean) = N' k - offset

    and A is the covariance of the negatives in their coordinates plus lambda on the diagonal. The slope carries lambda,
    so that it stays as long as v is, however small lambda may be.
    """

    N: Doubles  # (m, r)
    offset: Doubles  # (r,)


def factor_moments(factor: Factor) -> FactorMoments:
    """Mean and covariance over a factor, whose B is overwritten."""
    B, mean = factor.B, factor.B.mean(axis=0)
    B -= mean
    covariance: Doubles = rmatmat(B.__getitem__, B.shape, B).astype(np.float64, copy=False)
    covariance /= len(B)
    return FactorMoments(factor.landmarks, factor.M, factor.residual, mean, covariance)


def solve_kernel(moments: FactorMoments, regularization: float) -> KernelSolution:
    """The solution for one lambda."""
    A = moments.covariance.copy()
    A[np.diag_indices(len(A))] += regularization
    with one_blas_thread():
        # A is symmetric, so its transpose is itself, in the order that LAPACK overwrites.
        A_factor = cho_factor(A.T, overwrite_a=True, check_finite=False)
        offset = regularization * cho_solve(A_factor, moments.mean)
        N = regularization * cho_solve(A_factor, moments.M.T, check_finite=False).T
    return KernelSolution(np.ascontiguousarray(N), offset)
