"""Points: the same W whole or in factors says the same."""

import numpy as np
import pytest
from contracts.solver import objective

from manyclass.solvers.batch.points import (
    DenseWeights,
    LowRankWeights,
    as_contiguous,
    balance_factors,
    zero_weights,
)

D, K, R = 6, 4, 2


def factors(dtype=np.float64):
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((D, R)).astype(dtype), rng.standard_normal((K, R)).astype(dtype)
    return LowRankWeights(A, B, rng.standard_normal(K))


def dense(point):
    return DenseWeights(point.to_dense(), point.b)


every_kind = pytest.mark.parametrize("make", [lambda p: p, dense], ids=["factors", "dense"])


@every_kind
def test_scores_are_those_of_the_product(make):
    made, point = objective(), make(factors())
    X = made.X.toarray()
    np.testing.assert_allclose(point.scores(made.sums)(slice(3, 9)), X[3:9] @ point.to_dense() + point.b)


@every_kind
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_factors_are_the_singular_value_decomposition_without_what_is_rounding(make, dtype):
    point = make(factors(dtype))
    U, s, V = point.factors()
    assert (U.shape, s.shape, V.shape) == ((D, R), (R,), (K, R))
    assert (U.dtype, s.dtype, V.dtype) == (dtype, np.float64, dtype)
    np.testing.assert_allclose((U * s) @ V.T, point.to_dense(), atol=1e-5)
    np.testing.assert_allclose(s, np.linalg.svd(point.to_dense(), compute_uv=False)[:R], rtol=1e-5)


@every_kind
def test_balanced_factors_have_columns_of_equal_length(make):
    point = make(factors())
    even = balance_factors(point)
    np.testing.assert_allclose(even.to_dense(), point.to_dense())
    np.testing.assert_allclose(np.linalg.norm(even.A, axis=0), np.linalg.norm(even.B, axis=0))
    np.testing.assert_array_equal(even.b, point.b)


def test_what_is_in_factors_already_stays_and_what_is_not_becomes_so():
    point = factors()
    assert point.to_low_rank() is point
    np.testing.assert_allclose(dense(point).to_low_rank().to_dense(), point.to_dense())


@every_kind
def test_classes_that_were_left_out_come_back_as_zeros(make):
    point, classes, b = make(factors()), np.array([3, 0]), np.arange(4.0)
    some = point.of_classes(classes)
    np.testing.assert_array_equal(some.to_dense(), point.to_dense()[:, classes])
    np.testing.assert_array_equal(some.b, point.b[classes])
    back = some.scatter_classes(K, classes, b)
    expected = np.where(np.isin(np.arange(K), classes), point.to_dense(), 0)
    np.testing.assert_array_equal(back.to_dense(), expected)
    np.testing.assert_array_equal(back.b, b)


def test_zero_has_no_factors_and_the_scores_of_its_intercept():
    made, b = objective(), np.arange(4.0)
    zero = zero_weights(made, b)
    assert zero.A.shape == (made.d, 0)
    assert not zero.to_dense().any()
    assert [array.shape for array in zero.factors()] == [(made.d, 0), (0,), (made.k, 0)]
    np.testing.assert_array_equal(zero.scores(made.sums)(slice(0, 2)), [b, b])


def test_contiguous_points_are_the_same_in_another_layout():
    point = DenseWeights(np.asfortranarray(factors().to_dense()), np.arange(8.0)[::2])
    found = as_contiguous(point)
    assert all(array.flags.c_contiguous for array in vars(found).values())
    np.testing.assert_array_equal(found.W, point.W)
    np.testing.assert_array_equal(found.b, point.b)
