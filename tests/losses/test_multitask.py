"""Binary tasks side by side: the smoothed hinge of each, and nothing for those whose answer is not known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.losses.multitask import TaskHinge


def draw(seed, n=5, t=4):
    rng = np.random.default_rng(seed)
    return 2 * rng.standard_normal((n, t)), rng.integers(-1, 2, (n, t))


@given(st.integers(0, 1000), st.sampled_from([0.5, 3.0, 20.0]))
def test_the_gradient_is_that_of_finite_differences(seed, sharpness):
    S, Y = draw(seed)
    loss = TaskHinge(sharpness)
    for task in range(S.shape[1]):
        step = 1e-6 * (np.arange(S.shape[1]) == task)
        slope = (loss.value_and_gradient(S + step, Y)[0] - loss.value_and_gradient(S - step, Y)[0]) / 2e-6
        np.testing.assert_allclose(loss.value_and_gradient(S, Y)[1][:, task], slope, rtol=1e-5, atol=1e-7)


@given(st.integers(0, 1000))
def test_the_conjugate_meets_the_loss_at_the_gradient(seed):
    S, Y = draw(seed)
    loss = TaskHinge(7.0)
    values, R = loss.value_and_gradient(S, Y)
    np.testing.assert_allclose(loss.conjugate(R, Y), (R * S).sum(axis=1) - values, rtol=1e-9, atol=1e-9)


@given(st.integers(0, 1000), st.floats(0, 1))
def test_the_conjugate_bounds_every_line_from_above(seed, shrink):
    S, Y = draw(seed)
    T, _ = draw(seed + 1)
    loss = TaskHinge(7.0)
    R = shrink * loss.value_and_gradient(S, Y)[1]
    assert (loss.conjugate(R, Y) >= (R * T).sum(axis=1) - loss.value_and_gradient(T, Y)[0] - 1e-9).all()


def test_a_sharp_one_is_the_hinge():
    S, Y = draw(0)
    hinge = np.where(Y == 0, 0, np.maximum(0, 1 - Y * S)).sum(axis=1)
    np.testing.assert_allclose(TaskHinge(1e5).value_and_gradient(S, Y)[0], hinge, atol=1e-4)


def test_unknown_answers_cost_nothing_and_pull_nowhere():
    S, Y = draw(1)
    values, R = TaskHinge().value_and_gradient(S, np.zeros_like(Y))
    assert not values.any()
    assert not R.any()


@pytest.mark.parametrize("size", [1e4, 1e300])
def test_large_scores_overflow_nowhere(size):
    S, Y = draw(2)
    with np.errstate(over="raise", invalid="raise"):
        values, R = TaskHinge().value_and_gradient(size * np.sign(S), Y)
    assert np.isfinite(values).all()
    assert (np.abs(R) <= 1).all()
