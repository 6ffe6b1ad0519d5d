"""The Gram matrix of rows, and rows by their coordinates in the span of all of them."""

import numpy as np
import pytest
from scipy import sparse

import manyclass as mc
from manyclass.data.row_space import row_gram
from tests.contracts.matrix import every_matrix


@every_matrix
@pytest.mark.parametrize(("n", "d"), [(7, 5), (40, 300), (1, 1), (9, 8200)])
def test_the_gram_matrix_is_the_product_of_the_rows(make, n, d):
    X = make(np.random.default_rng(n), n, d)
    A = X.toarray().astype(float)
    G = row_gram(X)
    assert (G.dtype, G.shape) == (np.float64, (n, n))
    eps = np.finfo(X.dtype).eps
    lengths = np.linalg.norm(A, axis=1)
    assert (np.abs(G - A @ A.T) <= 8 * eps * np.outer(lengths, lengths) + 1e-30).all()
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
