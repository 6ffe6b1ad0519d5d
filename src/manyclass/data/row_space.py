"""The Gram matrix of the rows of a matrix, of which there are fewer than columns."""

import numpy as np

from manyclass._core.parallel import thread_map
from manyclass._core.typing import Doubles
from manyclass.data.matrix import Matrix, spans


def row_gram(X: Matrix) -> Doubles:
    """X X' (n, n), in float64; a placeholder.

    >>> from manyclass.data.dense import DenseMatrix
    >>> row_gram(DenseMatrix(np.array([[1.0, 2.0], [0.0, 3.0]])))
    array([[5., 6.],
           [6., 9.]])
    """
    n, d = X.shape
    tiles = spans(n, max(64, (64 << 20) // (8 * d)))
    K = np.zeros((n, n))
    for at in tiles:
        A = X.rows(at).astype(np.float64)

        def product(to: slice, A: Doubles = A) -> Doubles:
            return A @ X.rows(to).astype(np.float64).T

        later = [to for to in tiles if to.start >= at.start]
        for to, block in zip(later, thread_map(product, later), strict=True):
            K[at, to] = block
            K[to, at] = block.T
    return K
