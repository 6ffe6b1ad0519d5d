"""Leave-one-out correction: how alike an image is to one that the machines have not been fitted on.

Machines h = A^-1 (x - mu) are made to tell images from the very negatives x_1 ... x_n, so that these seem less alike to
any image than others do: the more so, the fewer they are beside the dimensions. Without x_i, with d = x_i - mu,

    A becomes, up to a factor and but for lambda / n,  A - d d' / (n - 1),

by which (Sherman and Morrison) the machine of x_i keeps its direction, and h becomes h + pull_i h_i, where

    pull_i = (d'h + 1) / (n - 1 - d'h_i),

and the 1, for the mean moves too, is little beside d'h. Embeddings of unit length do not tell it and do without.
"""

import numpy as np
from numpy.typing import NDArray

from manyclass._core.typing import Doubles

# Of a negative whose leverage is 1 the others tell nothing; then there is no machine without it.
_LEAST = 1e-9


def leave_one_out_weight(leverages: Doubles, n: int) -> Doubles:
    """1 / (n - 1 - d'h_i), by which d'h is to be multiplied, from d'h_i (m,); 0 where that has no meaning.

    >>> leave_one_out_weight(np.array([0.0, 5.0, 10.0]), 11)
    array([0.1, 0.2, 0. ])
    """
    rest = (n - 1) - leverages
    return np.divide(1.0, rest, out=np.zeros_like(rest), where=rest > _LEAST * max(1, n - 1))


def leave_one_out_cosines(cosines: NDArray[np.float32], pulls: NDArray[np.floating]) -> NDArray[np.float32]:
    """Cosines (q, m) of h + pull_i h_i and h_i, from those of h and h_i and from pull_i |h_i| / |h| (q, m).

    >>> leave_one_out_cosines(np.zeros((1, 2), np.float32), np.array([[0.0, 0.75]])).round(3)
    array([[0. , 0.6]], dtype=float32)
    """
    c, p = cosines.astype(np.float64), np.asarray(pulls, np.float64)
    lengths = np.sqrt(np.maximum(1 + 2 * p * c + p * p, 0))
    return np.divide(c + p, lengths, out=np.zeros_like(c), where=lengths > 0).astype(np.float32)
