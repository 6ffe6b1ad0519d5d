"""What all exemplar machines over the same negatives share, computed once from a factor of their Gram matrix."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from manyclass._blas import one_thread
from manyclass.data import tiles
from manyclass.data.kernels import Doubles
from manyclass.exemplar.factor import Factor


class Spread(NamedTuple):
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


def spread_of(factor: Factor) -> Spread:
    """Mean and covariance over a factor, whose B is overwritten."""
    B, mean = factor.B, factor.B.mean(axis=0)
    B -= mean
    covariance: Doubles = tiles.rmatmat(B.__getitem__, B.shape, B).astype(np.float64, copy=False)
    covariance /= len(B)
    return Spread(factor.landmarks, factor.M, factor.residual, mean, covariance)


def solve(spread: Spread, regularization: float) -> KernelSolution:
    """The solution for one lambda."""
    A = spread.covariance.copy()
    A[np.diag_indices(len(A))] += regularization
    with one_thread():
        # A is symmetric, so its transpose is itself, in the order that LAPACK overwrites.
        A_factor = cho_factor(A.T, overwrite_a=True, check_finite=False)
        offset = regularization * cho_solve(A_factor, spread.mean)
        N = regularization * cho_solve(A_factor, spread.M.T, check_finite=False).T
    return KernelSolution(np.ascontiguousarray(N), offset)
