"""LogisticScores: the sum of the binary machines that it stands for."""

import numpy as np
import pytest

from manyclass.losses.margin import MARGIN_LOSSES
from manyclass.losses.multiclass import LogisticScores


@pytest.mark.parametrize("size", [1.0, 30.0, 1e4])
def test_the_loss_is_the_sum_of_binary_losses_of_margins(size):
    rng = np.random.default_rng(0)
    S, y = size * rng.standard_normal((20, 4)), rng.integers(0, 4, 20)
    signs = 2 * np.eye(4)[y] - 1
    values, R = LogisticScores().value_and_gradient(S, y)
    np.testing.assert_allclose(values, MARGIN_LOSSES["logistic"].value(signs * S).sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(R, signs * MARGIN_LOSSES["logistic"].derivative(signs * S), rtol=1e-11)


def test_small_losses_keep_their_digits_in_float32():
    values, R = LogisticScores().value_and_gradient(np.array([[20.0, -20.0]], np.float32), np.array([0]))
    np.testing.assert_allclose(values, [2 * np.exp(-20)], rtol=1e-6)
    np.testing.assert_allclose(R, [[-np.exp(-20), np.exp(-20)]], rtol=1e-5)


def test_the_conjugate_is_worked_by_hand():
    conjugate = LogisticScores().conjugate(np.array([[-0.25, 0.5], [-1.0, 0.0]]), np.array([0, 0]))
    np.testing.assert_allclose(conjugate, [0.25 * np.log(0.25) + 0.75 * np.log(0.75) + np.log(0.5), 0])
