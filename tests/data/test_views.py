"""Rows of other matrices, in ranges, selections and shards, in columns of one scale, and beside a column of ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import manyclass as mc
from manyclass.data.row_space import RowSpaceMatrix
from manyclass.data.views import RowSelection, StandardizedMatrix


def _quantized(X):
    return mc.ProductQuantizer(block=2, n_centroids=8, random_state=0).fit(X).encode(X)


@pytest.mark.parametrize("make", [mc.DenseMatrix, _quantized])
@pytest.mark.parametrize("rows", [slice(0, 5), slice(3, 17), slice(19, 30)])
def test_products_and_rows_are_those_of_the_rows(make, rows):
    rng = np.random.default_rng(0)
    whole = make(rng.standard_normal((30, 6)).astype(np.float32))
    some, dense = whole.row_slice(rows), whole.toarray()[rows]
    W, R = rng.standard_normal((6, 3)), rng.standard_normal((len(dense), 3))
    assert some.shape == dense.shape
    np.testing.assert_allclose(some @ W, dense @ W, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(some.rmatmat(R), dense.T @ R, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(some.rows([-1, 1]), dense[[-1, 1]])


def test_a_slice_of_all_rows_is_the_matrix_itself():
    X = mc.DenseMatrix(np.eye(3))
    assert X.row_slice(slice(0, 3)) is X


def test_a_slice_counts_its_fraction_of_the_bytes():
    X = mc.DenseMatrix(np.ones((10, 4), np.float32))
    assert X.row_slice(slice(2, 7)).nbytes == X.nbytes // 2


TEN = mc.DenseMatrix(np.arange(40, dtype=np.float32).reshape(10, 4))


@pytest.mark.parametrize("index", [[7, 2, 2], slice(3, 6), np.arange(10) % 3 == 0, [-1], []])
def test_rows_are_those_of_the_positions(index):
    np.testing.assert_array_equal(RowSelection(TEN, index).toarray(), TEN.toarray()[index])


def test_a_selection_of_a_selection_counts_from_the_first():
    np.testing.assert_array_equal(RowSelection(RowSelection(TEN, [9, 8, 7]), [2, 0]).toarray(), TEN.toarray()[[7, 9]])


def test_it_counts_its_share_of_the_bytes():
    assert RowSelection(TEN, [1, 5]).nbytes == TEN.nbytes // 5


def test_positions_that_are_not_there_are_refused():
    with pytest.raises(IndexError, match=r"rows must lie in \[0, 10\); got 10"):
        RowSelection(TEN, [10])


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


@given(st.lists(st.integers(0, 6), min_size=1, max_size=6), st.integers(0, 2**32 - 1))
def test_shards_of_any_heights_equal_their_stack(heights, seed):
    rng = np.random.default_rng(seed)
    parts = [rng.standard_normal((n, 3)) for n in heights]
    X, A = mc.ShardedMatrix(parts), np.vstack(parts)
    np.testing.assert_array_equal(X.toarray(), A)
    order = rng.permutation(len(A))
    np.testing.assert_array_equal(X.rows(order), A[order])
    start, stop = sorted(rng.integers(0, len(A) + 1, 2))
    np.testing.assert_array_equal(X.rows(slice(start, stop)), A[start:stop])
    np.testing.assert_allclose(X.rmatmat(np.ones(len(A))), A.sum(axis=0), atol=1e-12)


def test_rows_within_one_shard_are_not_copied():
    A = np.ones((4, 2), np.float32)
    X = mc.ShardedMatrix([A, np.zeros((3, 2), np.float32)])
    assert np.shares_memory(X.rows(slice(1, 3)), A)


def test_the_widest_float_of_the_shards_is_that_of_all():
    X = mc.ShardedMatrix([np.ones((1, 2), np.float16), np.ones((1, 2))])
    assert X.dtype == np.float64
    assert X.rows(slice(0, 1)).dtype == np.float64
    assert X.row_norms().dtype == np.float64


def test_sums_of_shards_are_added_in_float64():
    shards = [np.full((1, 1), value, np.float32) for value in (2**25, *[1.0] * 64)]
    assert mc.ShardedMatrix(shards).rmatmat(np.ones(65))[0] == 2**25 + 64


def test_a_shard_of_another_width_is_named():
    with pytest.raises(ValueError, match=r"^matrices must all have 2 columns, as the first has; got 3 in 1$"):
        mc.ShardedMatrix([np.ones((1, 2)), np.ones((1, 3))])


def test_no_shards_are_refused():
    with pytest.raises(ValueError, match=r"^matrices must hold at least one matrix; got none$"):
        mc.ShardedMatrix([])


def test_a_slice_of_shards_has_the_dtype_of_all():
    X = mc.ShardedMatrix([np.ones((3, 2), np.float32), np.ones((2, 2))])
    first = X.row_slice(slice(0, 2))
    assert first.dtype == first.toarray().dtype == (first @ np.ones(2)).dtype == np.float64


def test_a_slice_of_sparse_rows_stays_sparse():
    X = mc.SparseMatrix(sparse.random_array((50, 7), density=0.2, rng=np.random.default_rng(0)))
    some = X.row_slice(slice(10, 30))
    assert isinstance(some, mc.SparseMatrix)
    assert np.shares_memory(some.csr.data, X.csr.data)
    np.testing.assert_array_equal(some @ np.eye(7), X.toarray()[10:30])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_standardized_columns_have_mean_0_and_variance_1(dtype):
    X = (np.random.default_rng(0).normal(size=(3000, 4)) * [1, 1e-3, 50, 0] + [0, 1, 1e3, 7]).astype(dtype)
    found = StandardizedMatrix.of(mc.DenseMatrix(X)).toarray().astype(np.float64)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-4)
    np.testing.assert_allclose(found.std(axis=0), [1, 1, 1, 0], atol=1e-4)


@given(n=st.integers(1, 20), d=st.integers(1, 6), k=st.integers(1, 4), seed=st.integers(0, 99))
def test_lifted_weights_give_rows_as_they_came_the_scores_of_standardized_ones(n, d, k, seed):
    rng = np.random.default_rng(seed)
    X, others, W = rng.normal(3, 2, (n, d)), rng.normal(3, 2, (5, d)), rng.normal(size=(d, k))
    Z = StandardizedMatrix.of(mc.DenseMatrix(X))
    for seen, came in ((Z, X), (Z.coordinates(mc.DenseMatrix(others)), others)):
        np.testing.assert_allclose(seen @ W, came @ Z.lift(W) + Z.offsets(W), atol=1e-8)
    np.testing.assert_allclose(Z.offsets(W[:, 0]), Z.offsets(W)[0], atol=1e-12)


def test_columns_of_another_basis_can_be_standardized():
    rng = np.random.default_rng(0)
    X, W = rng.normal(1, 1, (6, 40)), rng.normal(size=(6, 3))
    Z = StandardizedMatrix.of(RowSpaceMatrix(mc.DenseMatrix(X)))
    np.testing.assert_allclose(Z @ W, X @ Z.lift(W) + Z.offsets(W), atol=1e-8)
