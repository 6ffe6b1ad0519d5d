"""Ridge: what a gauge has no use for."""

import numpy as np
import pytest

from manyclass import Ridge


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_gradient_is_that_of_finite_differences(dtype):
    W = np.random.default_rng(0).standard_normal((3, 2)).astype(dtype)
    ridge = Ridge(0.3)
    assert ridge.gradient(W).dtype == dtype
    for at in np.ndindex(W.shape):
        step = np.zeros(W.shape)
        step[at] = 1e-6
        slope = (ridge.value(W + step) - ridge.value(W - step)) / 2e-6
        assert ridge.gradient(W)[at] == pytest.approx(slope, rel=1e-5)


def test_the_curvature_is_the_slope_of_the_gradient():
    assert Ridge(0.3).curvature == pytest.approx(Ridge(0.3).gradient([[1.0]])[0, 0])


def test_a_ridge_of_nothing_allows_no_slope():
    assert Ridge(0.0).conjugate([[0.0, 0.0]]) == 0
    assert Ridge(0.0).conjugate([[0.0, 1e-9]]) == np.inf


def test_squares_of_float32_are_added_up_in_float64():
    assert Ridge(1.0).value(np.full((3000, 3000), 0.1, np.float32)) == pytest.approx(9e6 * float(np.float32(0.1)) ** 2)
