"""Smooth penalties: value, gradient and conjugate against slow and obvious ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.penalties.smoothed import HalfSquare, SmoothedTraceNorm

shapes = st.tuples(st.integers(1, 7), st.integers(1, 7))
penalties = st.sampled_from([SmoothedTraceNorm(0.01), SmoothedTraceNorm(1.5), HalfSquare()])


def draw(shape, seed, rank=None):
    rng = np.random.default_rng(seed)
    rank = rank or min(shape)
    return rng.standard_normal((shape[0], rank)) @ rng.standard_normal((rank, shape[1]))


@given(penalties, shapes, st.integers(0, 1000))
def test_the_gradient_is_that_of_finite_differences(penalty, shape, seed):
    W, D = draw(shape, seed), draw(shape, seed + 1)
    up, down = (penalty.value_and_gradient(W + step * D)[0] for step in (1e-6, -1e-6))
    slope = np.vdot(penalty.value_and_gradient(W)[1], D)
    np.testing.assert_allclose(slope, (up - down) / 2e-6, rtol=1e-4, atol=1e-6)


@given(shapes, st.integers(0, 1000), st.sampled_from([1e-6, 0.01, 1.0, 30.0]))
def test_the_smoothed_trace_norm_is_what_its_singular_values_say(shape, seed, r):
    W = draw(shape, seed)
    U, s, V = np.linalg.svd(W, full_matrices=False)
    value, gradient = SmoothedTraceNorm(r).value_and_gradient(W)
    np.testing.assert_allclose(value, sum(x * x / (2 * r) + r / 2 if x <= r else x for x in s), rtol=1e-8)
    np.testing.assert_allclose(gradient, U * np.minimum(s / r, 1) @ V, atol=1e-6)
    assert -1e-9 <= value - s.sum() <= r * min(shape) / 2 + 1e-9


def test_nothing_is_divided_by_zero_at_zero_or_at_low_rank():
    penalty = SmoothedTraceNorm(0.01)
    with np.errstate(all="raise"):
        assert not penalty.value_and_gradient(np.zeros((5, 3)))[1].any()
        assert np.isfinite(penalty.value_and_gradient(draw((6, 5), 0, rank=1))[1]).all()


@given(penalties, shapes, st.integers(0, 1000))
def test_the_conjugate_meets_the_penalty_at_the_gradient(penalty, shape, seed):
    W = draw(shape, seed)
    value, M = penalty.value_and_gradient(W)
    np.testing.assert_allclose(penalty.conjugate(M), np.vdot(M, W) - value, rtol=1e-6, atol=1e-6)


@given(penalties, shapes, st.integers(0, 1000), st.sampled_from([0.1, 1.0, 9.0]))
def test_the_conjugate_of_what_was_shrunk_bounds_every_plane(penalty, shape, seed, size):
    M, W = size * draw(shape, seed), draw(shape, seed + 1)
    M *= penalty.shrink(M)
    assert penalty.conjugate(M) >= np.vdot(M, W) - penalty.value_and_gradient(W)[0] - 1e-9


@pytest.mark.parametrize("shape", [(4, 6), (6, 4)])
def test_shrinking_stops_at_a_spectral_norm_of_one(shape):
    penalty, M = SmoothedTraceNorm(0.1), draw(shape, 3)
    assert penalty.shrink(M) * np.linalg.norm(M, 2) == pytest.approx(1)
    assert penalty.shrink(0.5 * M / np.linalg.norm(M, 2)) == 1
