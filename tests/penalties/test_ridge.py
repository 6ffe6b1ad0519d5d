"""A ridge around a center, alone and beside a gauge: value, gradient, proximal step and conjugate of the definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from manyclass.penalties.norms import GroupNorm, L1Norm, TraceNorm, describe_penalty, penalty_from_description
from manyclass.penalties.ridge import Ridge

SHAPE = (3, 2)
CENTER = np.array([[1.0, -2.0], [0.5, 0.0], [3.0, 1.0]])
PENALTIES = [Ridge(0.3, CENTER), *(gauge(0.4) + Ridge(0.3, CENTER) for gauge in (TraceNorm, GroupNorm, L1Norm))]
every = pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
seeds = given(seed=st.integers(0, 2**32 - 1))


def twin(penalty, W):
    gauge, ridge = penalty.parts()
    return (gauge.value(W) if gauge else 0.0) + ridge.strength * ((W - CENTER) ** 2).sum()


def drawn(seed):
    return 2 * np.random.default_rng(seed).standard_normal(SHAPE)


@every
@seeds
def test_the_value_is_that_of_the_definition(penalty, seed):
    W = drawn(seed)
    assert penalty.value(W) == pytest.approx(twin(penalty, W))


@every
@seeds
def test_no_point_near_or_far_is_below_that_of_a_proximal_step(penalty, seed):
    W, rng = drawn(seed), np.random.default_rng(seed)
    step = rng.uniform(0.01, 3)
    V, value = penalty.prox_and_value(W, step)

    def objective(V):
        return twin(penalty, V) + ((V - W) ** 2).sum() / (2 * step)

    assert value == pytest.approx(twin(penalty, V))
    for other in (W, CENTER, 0 * W, *(V + size * rng.standard_normal(SHAPE) for size in (1e-3, 0.1, 1))):
        assert objective(other) >= objective(V) - 1e-9


@every
@seeds
def test_the_conjugate_is_the_supremum(penalty, seed):
    G = drawn(seed)
    bound = penalty.conjugate(G)
    W = np.random.default_rng(seed + 1).standard_normal(SHAPE)
    assert np.vdot(G, W) - twin(penalty, W) <= bound + 1e-9
    # It is attained where W is the proximal step of infinite length from the center, moved by G.
    best = penalty.prox(CENTER + 1e9 * G / 1.0, 1e9)
    assert np.vdot(G, best) - twin(penalty, best) == pytest.approx(bound, rel=1e-5, abs=1e-5)
    assert penalty.conjugate_along(G)(0.5) == pytest.approx(penalty.conjugate(0.5 * G))


def test_the_conjugate_of_a_ridge_by_search():
    ridge, G = Ridge(0.7, CENTER), drawn(0)
    found = minimize(lambda w: twin(ridge, w.reshape(SHAPE)) - np.vdot(G, w.reshape(SHAPE)), np.zeros(6))
    assert ridge.conjugate(G) == pytest.approx(-found.fun)


def test_the_gradient_is_zero_at_the_center():
    assert not Ridge(0.3, CENTER).gradient(CENTER).any()
    np.testing.assert_allclose(Ridge(0.3, CENTER).gradient(CENTER + 1), 0.6)


def test_a_center_of_zeros_or_without_strength_is_none():
    assert Ridge(0.5, np.zeros(SHAPE)) == Ridge(0.5)
    assert Ridge(0.0, CENTER) == Ridge(0.0)
    assert Ridge(0.5, np.zeros(SHAPE)).is_rotation_invariant


def test_a_center_is_no_matter_of_rotation():
    assert not any(penalty.is_rotation_invariant for penalty in PENALTIES)


def test_ridges_are_equal_by_strength_and_center():
    assert Ridge(0.5, CENTER) == Ridge(0.5, CENTER.copy())
    assert hash(Ridge(0.5, CENTER)) == hash(Ridge(0.5, CENTER.copy()))
    assert Ridge(0.5, CENTER) != Ridge(0.5, CENTER + 1)
    assert Ridge(0.5, CENTER) != Ridge(0.5)
    assert Ridge(0.5, CENTER) != Ridge(0.4, CENTER)


@every
def test_a_description_says_all(penalty):
    assert penalty_from_description(describe_penalty(penalty)) == penalty


def test_a_ridge_with_a_center_is_the_only_one():
    with pytest.raises(ValueError, match="must be the only ridge; got"):
        Ridge(0.5, CENTER) + Ridge(0.1)
    assert (Ridge(0.5, CENTER) + Ridge(0.0)).center is not None


@pytest.mark.parametrize(
    ("center", "words"),
    [(CENTER[0], "a penalty takes a matrix"), ([["a"]], "a penalty takes a matrix"), ([[np.nan]], "center")],
)
def test_what_is_no_center_is_refused(center, words):
    with pytest.raises(ValueError, match=words):
        Ridge(0.5, center)


def test_the_shape_is_that_of_the_weights():
    Ridge(0.5, CENTER).check_shape(3, 2)
    with pytest.raises(ValueError, match=r"a row for each of 4 columns of X .* got shape \(3, 2\)"):
        Ridge(0.5, CENTER).check_shape(4, 2)
