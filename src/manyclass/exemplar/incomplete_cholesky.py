"""Incomplete Cholesky factor of a Gram matrix, a column at a time; K itself is never formed."""

import numpy as np
from scipy.linalg import solve_triangular

from manyclass._blas import in_order, one_thread
from manyclass.data.kernels import Doubles
from manyclass.exemplar.factor import Factor, negligible
from manyclass.exemplar.gram import Gram

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

    for _ in in_order(fill, gram.tiles):
        pass
    residual[pivot] = 0


def _back(B: Doubles, pivots: list[int]) -> Doubles:
    """M: for the triangle L that B has at its pivots, L^-T."""
    if not pivots:
        return np.zeros((1, 1))
    with one_thread():
        L = np.tril(B[pivots])
        return np.ascontiguousarray(solve_triangular(L, np.eye(len(L)), lower=True).T)
