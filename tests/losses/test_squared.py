"""SquaredScores: values and conjugates worked by hand."""

import numpy as np

from manyclass.losses.multiclass import SquaredScores


def test_the_loss_is_half_the_squared_distance_to_the_indicator():
    rng = np.random.default_rng(0)
    S, y = rng.standard_normal((20, 4)), rng.integers(0, 4, 20)
    values, R = SquaredScores().value_and_gradient(S, y)
    np.testing.assert_allclose(values, ((S - np.eye(4)[y]) ** 2).sum(axis=1) / 2)
    np.testing.assert_allclose(R, S - np.eye(4)[y])


def test_the_conjugate_is_finite_everywhere():
    R = np.array([[3.0, -4.0], [0.0, 0.0]])
    np.testing.assert_allclose(SquaredScores().conjugate(R, np.array([1, 0])), [12.5 - 4, 0])
