"""Some rows of a matrix are a matrix."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.data.views import RowSelection

X = mc.DenseMatrix(np.arange(40, dtype=np.float32).reshape(10, 4))


@pytest.mark.parametrize("index", [[7, 2, 2], slice(3, 6), np.arange(10) % 3 == 0, [-1], []])
def test_rows_are_those_of_the_positions(index):
    np.testing.assert_array_equal(RowSelection(X, index).toarray(), X.toarray()[index])


def test_a_selection_of_a_selection_counts_from_the_first():
    np.testing.assert_array_equal(RowSelection(RowSelection(X, [9, 8, 7]), [2, 0]).toarray(), X.toarray()[[7, 9]])


def test_it_counts_its_share_of_the_bytes():
    assert RowSelection(X, [1, 5]).nbytes == X.nbytes // 5


def test_positions_that_are_not_there_are_refused():
    with pytest.raises(IndexError, match=r"rows must lie in \[0, 10\); got 10"):
        RowSelection(X, [10])
