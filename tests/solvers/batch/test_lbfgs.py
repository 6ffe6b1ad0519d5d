"""L-BFGS, one step at a time."""

import numpy as np
import pytest
from scipy.optimize import rosen, rosen_der

from manyclass.solvers.batch.lbfgs import LbfgsStep, lbfgs


def _last(function, x, steps, **options):
    for count, step in enumerate(lbfgs(function, x, **options)):  # noqa: B007
        if count == steps:
            break
    return step


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_a_quadratic_is_solved_on_any_scale(scale):
    rng = np.random.default_rng(0)
    M = rng.standard_normal((8, 8))
    H, x = M @ M.T + np.eye(8), rng.standard_normal(8)
    step = _last(lambda v: (scale * v @ H @ v / 2, scale * H @ v), x, 40, length=1.0)
    np.testing.assert_allclose(step.x, 0, atol=1e-5)


def test_a_curved_valley_is_followed_to_its_end():
    step = _last(lambda v: (rosen(v), rosen_der(v)), np.full(4, -1.2), 100, length=1.0)
    np.testing.assert_allclose(step.x, 1, atol=1e-6)


def test_values_never_rise():
    values = []
    for step in lbfgs(lambda v: (rosen(v), rosen_der(v)), np.full(4, -1.2), length=1e3):
        values.append(step.value)
        if len(values) == 30:
            break
    assert (np.diff(values) <= 0).all()


def test_it_ends_where_nothing_descends():
    steps = list(lbfgs(lambda v: (float(v @ v), 2 * v), np.zeros(3), length=1.0))
    assert len(steps) == 1


def test_a_function_without_a_finite_value_far_away_does_not_stop_it():
    def function(v):
        return (float(np.sum(v - np.log(v))), 1 - 1 / v) if (v > 0).all() else (np.inf, np.zeros_like(v))

    step = _last(function, np.array([0.01, 5.0]), 30, length=100.0)
    np.testing.assert_allclose(step.x, 1, atol=1e-5)


def test_a_search_of_ones_own_finds_the_steps():
    calls = []

    def search(here, direction, slack):
        calls.append(slack)
        x = here.x + direction / 2
        return LbfgsStep(x, float(x @ x), 2 * x) if float(x @ x) < here.value else None

    steps = iter(lbfgs(None, np.ones(3), None, slack=1e-3, search=search, first=(3.0, 2 * np.ones(3))))
    values = [next(steps).value for _ in range(2)]
    assert values == [3.0, 0.0]
    assert calls == [pytest.approx(3e-3)]


def test_what_is_remembered_may_be_shorter_than_the_point():
    rng = np.random.default_rng(0)
    M = rng.standard_normal((8, 8))
    H, x = M @ M.T + np.eye(8), rng.standard_normal(8)
    step = _last(lambda v: (v @ H @ v / 2, H @ v), x, 40, length=1.0, dtype=np.float32)
    assert step.x.dtype == np.float64
    np.testing.assert_allclose(step.x, 0, atol=1e-5)
