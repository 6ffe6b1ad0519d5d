"""Every penalty keeps the contract; what is not one is refused; the ridge."""

import numpy as np
import pytest
from contracts.penalty import CHECKS, GAUGE_CHECKS, SEARCH_CHECKS, every_gauge, every_penalty
from hypothesis import given
from hypothesis import strategies as st

from manyclass import Ridge
from manyclass.penalties.norms import PENALTIES


def named(checks):
    return pytest.mark.parametrize("check", checks, ids=lambda check: check.__name__.removeprefix("check_"))


over_shapes = given(
    shape=st.tuples(st.integers(1, 7), st.integers(1, 7)),
    dtype=st.sampled_from([np.float32, np.float64]),
    seed=st.integers(0, 2**32 - 1),
)


@every_penalty
@named(CHECKS)
@over_shapes
def test_contract(penalty, check, shape, dtype, seed):
    check(penalty, np.random.default_rng(seed), shape, dtype)


@every_gauge
@named(GAUGE_CHECKS)
@over_shapes
def test_contract_of_gauges(penalty, check, shape, dtype, seed):
    check(penalty, np.random.default_rng(seed), shape, dtype)


@every_penalty
@named(SEARCH_CHECKS)
@pytest.mark.parametrize("shape", [(2, 2), (1, 3), (3, 2)])
def test_contract_by_search(penalty, check, shape):
    check(penalty, np.random.default_rng(1), shape, np.float64)


PUBLIC = list(PENALTIES)


@pytest.mark.parametrize("name", PUBLIC)
@pytest.mark.parametrize("strength", [-1e-9, np.inf, np.nan, "1", None, True, 1j])
def test_a_strength_that_is_none_is_refused(name, strength):
    with pytest.raises(ValueError, match="strength must be a finite number, at least 0; got"):
        PENALTIES[name](strength)


@pytest.mark.parametrize("name", PUBLIC)
def test_penalties_are_equal_by_what_they_say(name):
    penalty = PENALTIES[name]
    assert penalty(0.5) == penalty(np.float32(0.5))
    assert hash(penalty(1)) == hash(penalty(1.0))
    assert penalty(0.5) != penalty(0.25)
    assert all(penalty(0.5) != PENALTIES[other](0.5) for other in PUBLIC if other != name)


@pytest.mark.parametrize("name", PUBLIC)
def test_a_penalty_stays_as_strong_as_it_was_made(name):
    with pytest.raises(AttributeError):
        PENALTIES[name](0.5).strength = 1.0


@pytest.mark.parametrize("name", PUBLIC)
def test_a_penalty_shows_as_it_is_typed(name):
    assert repr(PENALTIES[name](1e-5)) == f"{name}(1e-05)"


@every_penalty
@pytest.mark.parametrize("W", [[1.0, 2.0], 3.0, np.zeros((2, 0)), np.zeros((0, 2)), [["a"]], [[1j]]])
def test_what_is_no_matrix_is_refused(penalty, W):
    with pytest.raises(ValueError, match=r"a penalty takes a matrix \(d, k\) of real numbers; got"):
        penalty.value(W)
    with pytest.raises(ValueError, match=r"a penalty takes a matrix \(d, k\) of real numbers; got"):
        penalty.prox(W, 1.0)


@every_penalty
def test_whole_numbers_are_worked_in_float64(penalty):
    W = np.array([[3, -1], [0, 2]])
    np.testing.assert_array_equal(penalty.prox(W, 0.5), penalty.prox(W.astype(np.float64), 0.5))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_gradient_is_that_of_finite_differences(dtype):
    W = np.random.default_rng(0).standard_normal((3, 2)).astype(dtype)
    ridge = Ridge(0.3)
    assert ridge.gradient(W).dtype == dtype
    for at in np.ndindex(W.shape):
        step = np.zeros(W.shape)
        step[at] = 1e-6
        slope = (ridge.value(W + step) - ridge.value(W - step)) / 2e-6
        assert ridge.gradient(W)[at] == pytest.approx(slope, rel=1e-5)


def test_the_curvature_is_the_slope_of_the_gradient():
    assert Ridge(0.3).curvature == pytest.approx(Ridge(0.3).gradient([[1.0]])[0, 0])


def test_a_ridge_of_nothing_allows_no_slope():
    assert Ridge(0.0).conjugate([[0.0, 0.0]]) == 0
    assert Ridge(0.0).conjugate([[0.0, 1e-9]]) == np.inf


def test_squares_of_float32_are_added_up_in_float64():
    assert Ridge(1.0).value(np.full((3000, 3000), 0.1, np.float32)) == pytest.approx(9e6 * float(np.float32(0.1)) ** 2)
