"""BiasedMatrix: a constant last column."""

import numpy as np
import pytest

import manyclass as mc


@pytest.mark.parametrize("value", [1.0, -0.5, 0.0])
def test_the_last_column_is_the_value(value):
    A = np.random.default_rng(0).standard_normal((5, 3)).astype(np.float32)
    np.testing.assert_array_equal(mc.BiasedMatrix(A, value).toarray(), np.hstack([A, np.full((5, 1), value)]))


def test_the_last_row_of_W_is_a_bias():
    A, W = np.eye(3), np.arange(8.0).reshape(4, 2)
    np.testing.assert_array_equal(mc.BiasedMatrix(A) @ W, W[:3] + W[3])


def test_the_matrix_within_is_not_copied():
    A = np.ones((4, 2), np.float32)
    X = mc.BiasedMatrix(A)
    assert np.shares_memory(X.X.array, A)
    assert X.nbytes == A.nbytes


def test_the_bias_sums_many_rows_in_float64():
    X = mc.BiasedMatrix(np.zeros((3, 1), np.float32))
    assert X.rmatmat(np.array([2**24, 1, 1], np.float32))[-1] == 2**24 + 2


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_value_must_be_finite(value):
    with pytest.raises(ValueError, match=f"^value must be a finite number; got {value}$"):
        mc.BiasedMatrix(np.eye(2), value)
