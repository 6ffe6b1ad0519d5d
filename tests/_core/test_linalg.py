"""Rows of unit length, signs of vectors and power iteration."""

import numpy as np
import pytest

from manyclass._core.linalg import column_signs, l2_normalize, power_iteration, svd_flip, unit_rows


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_rows_of_any_size_come_to_unit_length(size):
    Z = size * np.random.default_rng(0).standard_normal((5, 3))
    np.testing.assert_allclose(np.linalg.norm(unit_rows(Z), axis=1), 1)
    assert not unit_rows(0 * Z).any()


def test_both_ways_to_unit_length_agree_and_keep_the_dtype():
    Z = np.random.default_rng(0).standard_normal((5, 3))
    np.testing.assert_allclose(l2_normalize(Z), unit_rows(Z), rtol=1e-15)
    assert l2_normalize(Z.astype(np.float32)).dtype == np.float32


def test_flipped_factors_make_up_the_same_matrix_whatever_their_signs_were():
    rng = np.random.default_rng(0)
    U, s, Vt = np.linalg.svd(rng.standard_normal((6, 4)), full_matrices=False)
    signs = np.array([1, -1, -1, 1])
    flipped, again = svd_flip(U, s, Vt.T), svd_flip(U * signs, s, Vt.T * signs)
    for one, other in zip(flipped, again, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose((flipped[0] * s) @ flipped[2].T, (U * s) @ Vt)
    assert (column_signs(flipped[0]) == 1).all()


def test_nothing_can_be_flipped():
    U, s, V = svd_flip(np.zeros((3, 0)), np.zeros(0), np.zeros((2, 0)))
    assert (U.shape, s.shape, V.shape) == ((3, 0), (0,), (2, 0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_power_iteration_finds_the_largest_eigenvalue_and_survives_zero(dtype):
    A = np.random.default_rng(0).standard_normal((30, 4)).astype(dtype)
    found = power_iteration(lambda v: A.T @ (A @ v), np.ones(4, dtype), 100)
    assert np.linalg.norm(found) == pytest.approx(np.linalg.norm(A, 2) ** 2, rel=1e-4)
    assert not power_iteration(lambda v: 0 * v, np.ones(4, dtype), 3).any()
