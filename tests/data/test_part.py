"""A part of a matrix is a matrix."""

import numpy as np
import pytest

import manyclass as mc


def _quantized(X):
    return mc.ProductQuantizer(block=2, n_centroids=8, random_state=0).fit(X).encode(X)


@pytest.mark.parametrize("make", [mc.DenseMatrix, _quantized])
@pytest.mark.parametrize("rows", [slice(0, 5), slice(3, 17), slice(19, 30)])
def test_products_and_rows_are_those_of_the_rows(make, rows):
    rng = np.random.default_rng(0)
    whole = make(rng.standard_normal((30, 6)).astype(np.float32))
    part, dense = whole.part(rows), whole.toarray()[rows]
    W, R = rng.standard_normal((6, 3)), rng.standard_normal((len(dense), 3))
    assert part.shape == dense.shape
    np.testing.assert_allclose(part @ W, dense @ W, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(part.rmatmat(R), dense.T @ R, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(part.rows([-1, 1]), dense[[-1, 1]])


def test_the_whole_is_a_part_of_itself():
    X = mc.DenseMatrix(np.eye(3))
    assert X.part(slice(0, 3)) is X


def test_a_part_counts_its_share_of_the_bytes():
    X = mc.DenseMatrix(np.ones((10, 4), np.float32))
    assert X.part(slice(2, 7)).nbytes == X.nbytes // 2
