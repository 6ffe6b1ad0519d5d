"""Aligned arrays, rows of unit length and power iteration."""

from pathlib import Path

import numpy as np
import pytest

from manyclass._core.algebra.linalg import (
    aligned_copy,
    aligned_empty,
    aligned_zeros,
    l2_normalize,
    mapped_empty,
    power_iteration,
    unit_rows,
)


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_rows_of_any_size_come_to_unit_length(size):
    Z = size * np.random.default_rng(0).standard_normal((5, 3))
    np.testing.assert_allclose(np.linalg.norm(unit_rows(Z), axis=1), 1)
    assert not unit_rows(0 * Z).any()


def test_both_ways_to_unit_length_agree_and_keep_the_dtype():
    Z = np.random.default_rng(0).standard_normal((5, 3))
    np.testing.assert_allclose(l2_normalize(Z), unit_rows(Z), rtol=1e-15)
    assert l2_normalize(Z.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_power_iteration_finds_the_largest_eigenvalue_and_survives_zero(dtype):
    A = np.random.default_rng(0).standard_normal((30, 4)).astype(dtype)
    found = power_iteration(lambda v: A.T @ (A @ v), np.ones(4, dtype), 100)
    assert np.linalg.norm(found) == pytest.approx(np.linalg.norm(A, 2) ** 2, rel=1e-4)
    assert not power_iteration(lambda v: 0 * v, np.ones(4, dtype), 3).any()


@pytest.mark.parametrize("shape", [(1, 1), (7, 5), (300, 2048)])
def test_aligned_arrays_begin_at_a_line_of_the_cache(shape):
    for make in 5 * [aligned_empty, aligned_zeros]:
        X = make(shape)
        assert X.shape == shape
        assert X.dtype == np.float32
        assert X.flags.c_contiguous
        assert X.flags.writeable
        assert X.ctypes.data % 64 == 0


def test_aligned_zeros_are_zeros():
    assert not aligned_zeros((300, 40)).any()


def test_an_aligned_copy_is_apart():
    X = np.arange(6.0).reshape(2, 3)
    Y = aligned_copy(X)
    np.testing.assert_array_equal(Y, X)
    Y[0] = 7
    assert X[0, 0] == 0


@pytest.mark.parametrize("skip", [0, 64, 2048])
@pytest.mark.parametrize(("shape", "dtype"), [((0, 5), np.float32), ((7, 5), np.uint8), ((3, 40, 50), np.float64)])
def test_mapped_arrays_begin_so_far_from_a_page(shape, dtype, skip):
    X = mapped_empty(shape, dtype, skip)
    assert (X.shape, X.dtype) == (shape, dtype)
    assert X.flags.c_contiguous
    assert X.ctypes.data % 4096 == skip
    X[...] = 7
    assert (X == 7).all()


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system does not tell")
def test_a_mapped_array_that_is_gone_takes_no_memory():
    def resident():
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

    X = mapped_empty((64, 1 << 16))  # 16 MiB
    X[...] = 1
    before = resident()
    del X
    assert resident() < before - (12 << 20)
