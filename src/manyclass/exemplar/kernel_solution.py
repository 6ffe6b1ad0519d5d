"""What all exemplar machines over the same negatives share, computed once from a factor of their Gram matrix."""

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from manyclass._blas import one_thread
from manyclass.data import tiles
from manyclass.data.kernels import Doubles
from manyclass.exemplar.factor import Factor


class KernelSolution(NamedTuple):
    """With kernel values k (m,) of an image and the landmarks, its coordinates and the slope of its machine are

        v = M' k            lambda beta = N' k - offset,   where beta = A^-1 (v - mean)

    and A = B'B / n - mean mean' + lambda is the regularized covariance of the negatives (n, r) in their coordinates.
    The slope carries lambda, so that it stays as long as v is, however small lambda may be.
    """

    M: Doubles  # (m, r)
    N: Doubles  # (m, r)
    mean: Doubles  # (r,)
    offset: Doubles  # (r,)


def solve(factor: Factor, regularization: float) -> KernelSolution:
    """The solution over a factor, whose B is overwritten."""
    B, mean = factor.B, factor.B.mean(axis=0)
    B -= mean
    A = tiles.rmatmat(B.__getitem__, B.shape, B)
    A /= len(B)
    A[np.diag_indices(len(A))] += regularization
    with one_thread():
        # A is symmetric, so its transpose is itself, in the order that LAPACK overwrites.
        A_factor = cho_factor(A.T, overwrite_a=True, check_finite=False)
        offset = regularization * cho_solve(A_factor, mean)
        N = regularization * cho_solve(A_factor, factor.M.T, check_finite=False).T
    return KernelSolution(factor.M, np.ascontiguousarray(N), mean, offset)
