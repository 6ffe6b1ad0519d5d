"""Factor: the negatives, in coordinates of a space in which the kernel is the plain product."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyclass.data.kernels import Doubles


class Factor(NamedTuple):
    """K is B B', or nearly. The r coordinates are along orthonormal directions in the space of the kernel.

    These directions are sums of some of the negatives, the landmarks, so that the coordinates of any image x, those of
    its projection, are v = M' k, where k (m,) holds its kernel values with the landmarks. Of the negatives they are
    the rows of B. For a complete factor v is the pseudoinverse of B times the kernel values with all negatives.
    """

    B: Doubles  # (n, r)
    landmarks: NDArray[np.intp]  # (m,) positions among the negatives
    M: Doubles  # (m, r)
    residual: float  # trace(K - B B') / trace(K)


def negligible(n: int, largest: float) -> float:
    """What rounding may make of a zero among the pivots or eigenvalues of K (n, n) whose largest is given."""
    return n * float(np.finfo(np.float64).eps) * largest
