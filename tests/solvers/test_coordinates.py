"""Rows as points: the same products, and weights that go there and back."""

import numpy as np
import pytest

from manyclass.solvers.smooth import coordinates_of_gram, coordinates_of_rows


@pytest.mark.parametrize(("n", "d"), [(7, 4), (4, 4), (4, 9)])
def test_points_of_rows_have_their_products_and_no_more_columns_than_rows(n, d):
    X = np.random.default_rng(0).standard_normal((n, d))
    points = coordinates_of_rows(X)
    np.testing.assert_allclose(points.Z @ points.Z.T, X @ X.T, atol=1e-12)
    assert points.Z.shape[1] == min(n, d)


@pytest.mark.parametrize(("n", "d"), [(7, 4), (4, 9)])
def test_scores_are_the_same_on_points_and_on_rows(n, d):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, d))
    points = coordinates_of_rows(X)
    W = rng.standard_normal((points.Z.shape[1], 3))
    np.testing.assert_allclose(X @ points.kept(W), points.Z @ W, atol=1e-12)
    np.testing.assert_allclose(points.on_points(points.kept(W)), W, atol=1e-12)


@pytest.mark.parametrize("rank", [1, 3, 6])
def test_points_of_a_gram_matrix_have_its_rank_and_its_products(rank):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((6, rank))
    points = coordinates_of_gram(X @ X.T)
    W = rng.standard_normal((rank, 2))
    assert points.Z.shape == (6, rank)
    np.testing.assert_allclose(points.Z @ points.Z.T, X @ X.T, atol=1e-10)
    np.testing.assert_allclose(X @ X.T @ points.kept(W), points.Z @ W, atol=1e-10)
    np.testing.assert_allclose(points.on_points(points.kept(W)), W, atol=1e-8)


def test_of_what_is_no_kernel_the_positive_part_is_taken():
    U = np.linalg.qr(np.random.default_rng(3).standard_normal((4, 4)))[0]
    points = coordinates_of_gram((U * [-2, -0.1, 1, 3]) @ U.T)
    np.testing.assert_allclose(points.Z @ points.Z.T, (U * [0, 0, 1, 3]) @ U.T, atol=1e-12)


@pytest.mark.parametrize("K", [np.zeros((3, 3)), -np.eye(3)])
def test_a_gram_matrix_with_nothing_positive_gives_points_that_are_zero(K):
    points = coordinates_of_gram(K)
    assert not points.Z.any()
    assert np.isfinite(points.kept(np.ones((points.Z.shape[1], 2)))).all()
