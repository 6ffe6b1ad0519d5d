"""The Gram matrix of rows, and rows by their coordinates in the span of all of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import manyclass as mc
from manyclass.data.row_space import RowSpaceMatrix, row_gram
from tests.contracts.matrix import every_matrix


@every_matrix
@pytest.mark.parametrize(("n", "d"), [(7, 5), (40, 300), (1, 1), (9, 8200)])
def test_the_gram_matrix_is_the_product_of_the_rows(make, n, d):
    X = make(np.random.default_rng(n), n, d)
    A = X.toarray().astype(float)
    G = row_gram(X)
    assert (G.dtype, G.shape) == (np.float64, (n, n))
    # Of counts all products have one sign and few values, and are rounded alike: by the kernels of BLAS for AVX-512
    # they are off by up to 20 eps, as rows that are sums of others are.
    most = (8 if (A < 0).any() else 32) * np.finfo(X.dtype).eps
    lengths = np.linalg.norm(A, axis=1)
    assert (np.abs(G - A @ A.T) <= most * np.outer(lengths, lengths) + 1e-30).all()
    np.testing.assert_array_equal(G, G.T)


@every_matrix
def test_the_gram_matrix_has_the_same_bits_for_any_number_of_threads(make):
    X = make(np.random.default_rng(0), 60, 9000)
    with mc.threads(1):
        one = row_gram(X)
    with mc.threads(3):
        np.testing.assert_array_equal(row_gram(X), one)


@pytest.mark.parametrize("density", [0.01, 0.5])
def test_the_gram_matrix_of_sparse_rows_is_that_of_the_dense_ones(density):
    A = sparse.random_array((30, 400), density=density, rng=np.random.default_rng(0)).tocsr()
    np.testing.assert_allclose(row_gram(mc.SparseMatrix(A)), (A @ A.T).toarray(), rtol=1e-12)


def test_the_gram_matrix_of_long_rows_loses_less_than_a_single_product():
    # All of one sign, so that sums grow and rounding is worst.
    A = np.abs(np.random.default_rng(0).standard_normal((20, 1 << 17))).astype(np.float32)
    exact = A.astype(float) @ A.astype(float).T
    plain = np.abs(A @ A.T - exact).max() / exact.max()
    found = np.abs(row_gram(mc.DenseMatrix(A)) - exact).max() / exact.max()
    assert found < 2e-7
    assert found < plain


def _with_rank(rng, n, d, r, dtype):
    """Rows in a space of r dimensions, some of them equal, one zero, of lengths from 1e-3 to 1e3."""
    X = rng.standard_normal((n, r)) @ rng.standard_normal((r, d)) * 10 ** rng.uniform(-3, 3, (n, 1))
    X[-1] = 0
    X[n // 2] = 3 * X[0]
    return X.astype(dtype)


def _scaled_difference(P, Q, X):
    """The largest of |P - Q| in units of the lengths of the two rows."""
    lengths = np.linalg.norm(X.astype(float), axis=1)
    lengths[lengths == 0] = 1
    return np.abs((P - Q) / np.outer(lengths, lengths)).max()


@every_matrix
def test_coordinates_have_the_products_of_the_rows(make):
    X = make(np.random.default_rng(0), 12, 90)
    Z = RowSpaceMatrix(X)
    A = X.toarray().astype(float)
    assert (Z.dtype, Z.shape) == (X.dtype, (12, np.linalg.matrix_rank(A)))
    assert _scaled_difference(Z.array.astype(float) @ Z.array.T, A @ A.T, A) < 20 * np.finfo(X.dtype).eps


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(2, 40), d=st.integers(2, 120), r=st.integers(1, 30), seed=st.integers(0, 99),
    dtype=st.sampled_from([np.float32, np.float64]),
)  # fmt: skip
def test_coordinates_of_rows_that_are_sums_of_others_are_as_many_as_these(n, d, r, seed, dtype):
    X = _with_rank(np.random.default_rng(seed), n, d, r, dtype)
    Z = RowSpaceMatrix(mc.DenseMatrix(X))
    lengths = np.linalg.norm(X.astype(float), axis=1, keepdims=True)
    rank = np.linalg.matrix_rank(X / np.where(lengths > 0, lengths, 1), rtol=3e-3 if dtype == np.float32 else 1e-6)
    assert rank <= Z.shape[1] <= min(n - 1, d, r)
    assert _scaled_difference(Z.array.astype(float) @ Z.array.T, X.astype(float) @ X.T, X) < 200 * np.finfo(dtype).eps


@every_matrix
def test_lifted_weights_give_the_rows_the_same_scores(make):
    rng = np.random.default_rng(1)
    X = make(rng, 12, 90)
    Z = RowSpaceMatrix(X)
    V = rng.standard_normal((Z.shape[1], 3))
    W = Z.lift(V)
    assert (W.dtype, W.shape) == (X.dtype, (90, 3))
    np.testing.assert_allclose(X @ W, Z @ V, atol=1e-4 * np.abs(Z @ V).max())
    np.testing.assert_allclose(W.T.astype(float) @ W, V.T @ V, atol=1e-3)
    np.testing.assert_array_equal(Z.lift(V[:, 0]), Z.lift(V[:, :1])[:, 0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rank", [5, 30])
def test_weights_are_lifted_to_the_sum_of_rows_that_gives_their_scores(dtype, rank):
    rng = np.random.default_rng(2)
    X = _with_rank(rng, 20, 80, rank, dtype)
    X[:-1] /= np.linalg.norm(X[:-1], axis=1, keepdims=True)
    Z = RowSpaceMatrix(mc.DenseMatrix(X))
    V = rng.standard_normal((Z.shape[1], 4))
    expected = np.linalg.lstsq(X.astype(float), Z.array.astype(float) @ V, rcond=1e-4)[0]
    np.testing.assert_allclose(Z.lift(V), expected, atol=1e-4 if dtype == np.float32 else 1e-9)


@every_matrix
def test_other_rows_have_coordinates_with_the_scores_of_lifted_weights(make):
    rng = np.random.default_rng(3)
    X = make(rng, 12, 90)
    others = mc.DenseMatrix(rng.standard_normal((7, 90)).astype(X.dtype))
    Z = RowSpaceMatrix(X)
    V = rng.standard_normal((Z.shape[1], 3))
    seen = Z.coordinates(others)
    assert (seen.shape, seen.dtype) == ((7, Z.shape[1]), X.dtype)
    np.testing.assert_allclose(seen @ V, others @ Z.lift(V), atol=1e-3)
    own = Z.coordinates(X).toarray()
    np.testing.assert_allclose(own, Z.array, atol=1e-3 * np.abs(Z.array).max())


def test_coordinates_have_the_same_bits_for_any_number_of_threads():
    X = mc.DenseMatrix(_with_rank(np.random.default_rng(0), 300, 9000, 200, np.float32))
    with mc.threads(1):
        one = RowSpaceMatrix(X)
    with mc.threads(3):
        three = RowSpaceMatrix(X)
    np.testing.assert_array_equal(three.array, one.array)
    np.testing.assert_array_equal(three.lift(np.ones(one.shape[1])), one.lift(np.ones(one.shape[1])))


def test_a_plain_matrix_has_weights_and_rows_as_they_are():
    X, other, W = mc.DenseMatrix(np.eye(3)), mc.DenseMatrix(np.ones((2, 3))), np.ones((3, 2))
    assert X.lift(W) is W
    assert X.coordinates(other) is other
