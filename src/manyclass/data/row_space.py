"""Fewer rows than columns: the Gram matrix of the rows, and rows by their coordinates in the span of all of them."""

from manyclass._core.typing import Doubles
from manyclass.data.matrix import Matrix


def row_gram(X: Matrix) -> Doubles:
    """X X' (n, n) in float64, whatever keeps the rows; the same bits for any number of threads.

    Columns are read some at a time. Those of float32 are multiplied in float32, some thousand at a time, and these
    products are added in float64: entries are off by some 1e-7 of the lengths of their two rows, up or down.

    >>> from manyclass.data.dense import DenseMatrix
    >>> row_gram(DenseMatrix([[1.0, 2.0, 2.0], [0.0, 0.0, 3.0]]))
    array([[9., 6.],
           [6., 9.]])
    """
    G = X._row_gram()
    X.release()
    return G
