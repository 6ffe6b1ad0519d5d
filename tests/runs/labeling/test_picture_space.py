"""Coordinates in which pictures lie near others of their kind."""

import numpy as np

from manyclass.data.dense import DenseMatrix
from manyclass.runs.labeling.picture_space import PictureSpace


def test_coordinates_have_unit_length_and_are_the_same_in_and_beside_the_sample(rows):
    data = rows()
    space = PictureSpace(DenseMatrix(data.X), 50, 0)
    everything = np.arange(len(data.X))
    Z = space.coordinates(everything)
    np.testing.assert_allclose(np.linalg.norm(Z, axis=1), 1, rtol=1e-5)
    assert len(space.sample) == 50
    np.testing.assert_allclose(Z[space.sample], space.Z, atol=1e-6)
    np.testing.assert_array_equal(space.coordinates(space.sample[[7, 3]]), space.Z[[7, 3]])


def test_a_direction_that_says_nothing_of_classes_but_is_long_counts_less_than_in_the_rows(rows):
    data = rows()
    X = data.X.copy()
    X[:, 0] *= 50
    same = data.y[:, None] == data.y

    def told(Z):
        Z = Z / np.linalg.norm(Z, axis=1, keepdims=True)
        S = Z @ Z.T
        return S[same].mean() - S[~same].mean()

    space = PictureSpace(DenseMatrix(X), 1000, 0)
    assert told(space.Z) > told(X - X.mean(axis=0)) + 0.1


def test_weights_of_the_columns_rank_classes_as_coordinates_do(rows):
    data = rows()
    space = PictureSpace(DenseMatrix(data.X), 1000, 0)
    directions = np.random.default_rng(1).normal(size=(5, space.Z.shape[1]))
    W, b = space.weights(directions)
    np.testing.assert_array_equal((data.X @ W.T + b).argmax(axis=1), (space.Z @ directions.T).argmax(axis=1))


def test_fewer_rows_than_columns_and_rows_that_are_all_alike_have_coordinates(rows):
    few = PictureSpace(DenseMatrix(rows(each=3, d=64).X), 1000, 0)
    assert np.isfinite(few.Z).all()
    alike = PictureSpace(DenseMatrix(np.ones((7, 3), np.float32)), 1000, 0)
    assert alike.coordinates(np.arange(7)).shape[0] == 7
    assert PictureSpace(DenseMatrix(np.ones((1, 3), np.float32)), 1000, 0).Z.shape[0] == 1
