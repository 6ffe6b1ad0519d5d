"""Softmax: its values, its probabilities, and the same loss elsewhere."""

import numpy as np
import pytest
from scipy.special import log_softmax, softmax
from sklearn.metrics import log_loss

from manyclass.losses.softmax import Softmax


def draw(n=40, k=6, seed=0):
    rng = np.random.default_rng(seed)
    return 3 * rng.standard_normal((n, k)), rng.integers(0, k, n)


@pytest.mark.parametrize(
    ("scores", "y", "value"),
    [
        ([0.0, 0.0, 0.0, 0.0], 2, np.log(4)),
        ([np.log(3), 0.0], 0, np.log(4 / 3)),
        ([np.log(3), 0.0], 1, np.log(4)),
        ([7.0], 0, 0.0),
        ([1e4, 0.0], 1, 1e4),
        ([1e4, 0.0], 0, 0.0),
    ],
)
def test_values_are_those_worked_by_hand(scores, y, value):
    values, _ = Softmax().value_and_gradient(np.array([scores]), np.array([y]))
    np.testing.assert_allclose(values, [value], rtol=1e-12)


def test_the_gradient_is_worked_by_hand():
    _, gradient = Softmax().value_and_gradient(np.log([[3.0, 1.0, 4.0]]), np.array([1]))
    np.testing.assert_allclose(gradient, [[3 / 8, 1 / 8 - 1, 4 / 8]])


def test_the_loss_is_that_of_scikit_learn():
    S, y = draw()
    values, _ = Softmax().value_and_gradient(S, y)
    assert values.mean() == pytest.approx(log_loss(y, Softmax().probabilities(S), labels=np.arange(6)))


def test_each_row_has_the_loss_and_the_probabilities_of_scipy():
    S, y = draw()
    values, _ = Softmax().value_and_gradient(S, y)
    np.testing.assert_allclose(values, -log_softmax(S, axis=1)[np.arange(len(y)), y])
    np.testing.assert_allclose(Softmax().probabilities(S), softmax(S, axis=1))


def test_the_gradient_is_the_probability_less_one_for_the_right_class():
    S, y = draw(seed=1)
    expected = Softmax().probabilities(S) - np.eye(6)[y]
    np.testing.assert_allclose(Softmax().value_and_gradient(S, y)[1], expected, atol=1e-15)


@pytest.mark.parametrize("shift", [-1e4, 50.0, 1e4])
def test_what_is_added_to_all_scores_changes_nothing(shift):
    S, y = draw(seed=2)
    for shifted, plain in zip(
        Softmax().value_and_gradient(S + shift, y), Softmax().value_and_gradient(S, y), strict=True
    ):
        np.testing.assert_allclose(shifted, plain, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("size", [1, 1e4])
def test_probabilities_of_float32_are_float32_and_add_up_to_one(size):
    S = (size * draw()[0]).astype(np.float32)
    with np.errstate(over="raise", invalid="raise"):
        P = Softmax().probabilities(S)
    assert P.dtype == np.float32
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-6)


def test_losses_come_in_float64_also_where_scores_are_float32():
    S, y = draw()
    values, gradient = Softmax().value_and_gradient(S.astype(np.float32), y)
    assert values.dtype == np.float64
    assert gradient.dtype == np.float32


def test_a_loss_of_many_classes_keeps_the_digits_of_float64_in_its_sum():
    k = 200_001
    values, _ = Softmax().value_and_gradient(np.zeros((1, k), np.float32), np.array([0]))
    assert values[0] == pytest.approx(np.log(k), rel=1e-12)
