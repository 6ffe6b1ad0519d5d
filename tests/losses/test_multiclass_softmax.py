"""Softmax: its values, its probabilities, and the same loss elsewhere."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_softmax, softmax
from sklearn import metrics

from manyclass import _native
from manyclass.losses.multiclass import Softmax, log_loss, log_loss_numpy


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
    assert values.mean() == pytest.approx(metrics.log_loss(y, Softmax().probabilities(S), labels=np.arange(6)))


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


def both_ways(S, y, weights=None):
    """(values, gradient) of float32 scores by the native loop, and by NumPy in float64."""
    R, exact = np.empty_like(S), np.empty(S.shape)
    return (log_loss(S, y, R, weights), R), (log_loss_numpy(S.astype(np.float64), y, exact, weights), exact)


@given(n=st.integers(0, 70), k=st.integers(1, 70), size=st.sampled_from([0.1, 3.0, 40.0]), seed=st.integers(0, 99))
def test_every_level_gives_the_loss_of_numpy(any_level, n, k, size, seed):
    rng = np.random.default_rng(seed)
    S, y = (size * rng.standard_normal((n, k))).astype(np.float32), rng.integers(0, k, n)
    weights = rng.uniform(0, 2, n)
    for level in any_level:
        _native.set_level(level)
        for weight in (None, weights):
            (values, R), (exact_values, exact_R) = both_ways(S, y, weight)
            np.testing.assert_allclose(values, exact_values, rtol=3e-7, atol=3e-7)
            np.testing.assert_allclose(R, exact_R, rtol=5e-7, atol=5e-7)


@pytest.mark.parametrize("level", _native.levels())
def test_exponentials_are_exact_to_three_in_ten_million_over_their_whole_range(any_level, level):
    _native.set_level(level)
    # Beside one score that stands out, the others are their own exponentials; small steps are seen by their ratio.
    far = np.concatenate([[0.0], -np.linspace(30, 86, 100_003)]).astype(np.float32)[None]
    near = np.stack([np.zeros(50_001), -np.linspace(0, 30, 50_001)], axis=1).astype(np.float32)
    R = Softmax().value_and_gradient(far, np.array([0]))[1]
    np.testing.assert_allclose(R[0, 1:], np.exp(far[0, 1:].astype(np.float64)), rtol=3e-7)
    R = Softmax().value_and_gradient(near, np.zeros(50_001, int))[1]
    np.testing.assert_allclose(R[:, 1] / (1 + R[:, 0]), np.exp(near[:, 1].astype(np.float64)), rtol=5e-7)


@pytest.mark.parametrize("level", _native.levels())
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("place", [0, 17, 36])
def test_scores_that_are_no_numbers_are_not_hidden(any_level, level, bad, place):
    _native.set_level(level)
    S = np.zeros((2, 37), np.float32)
    S[0, place] = bad
    values, R = Softmax().value_and_gradient(S, np.array([3, 3]))
    assert np.isnan(values[0])
    assert np.isnan(R[0]).any()
    assert values[1] == pytest.approx(np.log(37))


def test_a_class_ruled_out_by_minus_infinity_has_no_probability():
    S = np.array([[0.0, -np.inf, 0.0]], np.float32)
    values, R = Softmax().value_and_gradient(S, np.array([0]))
    np.testing.assert_allclose(values, np.log(2))
    np.testing.assert_allclose(R, [[-0.5, 0.0, 0.5]])


def test_threads_change_no_bit():
    rng = np.random.default_rng(0)
    S, y = rng.standard_normal((500, 33)).astype(np.float32), rng.integers(0, 33, 500)
    found = []
    for threads in (1, 3):
        R, values = np.empty_like(S), np.empty(len(S))
        _native.softmax_loss(S, y, None, R, values, threads)
        found.append((R.tobytes(), values.tobytes()))
    assert found[0] == found[1]


@pytest.mark.parametrize("y", [[0, 3], [0, -1], [0]])
def test_the_native_loop_refuses_labels_that_do_not_fit(y):
    with pytest.raises(ValueError, match=r"labels must name|one entry per row"):
        Softmax().value_and_gradient(np.zeros((2, 3), np.float32), np.array(y))


def test_no_weights_are_not_weights_of_one():
    S, R, values = np.zeros((2, 3), np.float32), np.empty((2, 3), np.float32), np.empty(2)
    with pytest.raises(ValueError, match="weights must have one entry per row of S, or be None"):
        _native.softmax_loss(S, np.zeros(2, np.int64), np.empty(0, np.float32), R, values, 1)


@pytest.mark.parametrize("k", [0, 3])
@pytest.mark.parametrize("weights", [None, np.empty(0, np.float32)])
def test_no_rows_have_no_losses(k, weights):
    S, y = np.empty((0, k), np.float32), np.empty(0, np.int64)
    _native.softmax_loss(S, y, weights, S, np.empty(0), 2)


def test_rows_without_classes_have_no_label():
    S = np.empty((2, 0), np.float32)
    with pytest.raises(ValueError, match="labels must name classes"):
        _native.softmax_loss(S, np.zeros(2, np.int64), None, S, np.empty(2), 1)


def test_scores_that_are_not_aligned_have_the_losses_of_others():
    S = np.random.default_rng(0).standard_normal((5, 7), np.float32)
    room = np.empty(S.nbytes + 1, np.uint8)[1:].view(np.float32).reshape(S.shape)
    room[:] = S
    y = np.arange(5)
    for one, other in zip(Softmax().value_and_gradient(room, y), Softmax().value_and_gradient(S, y), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
