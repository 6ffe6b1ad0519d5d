"""Forecasts along a path: what they are exact for, and what they go by."""

import numpy as np
import pytest

from manyclass.solvers.batch.path import PathPredictor
from manyclass.solvers.batch.points import DenseWeights, LowRankWeights

EVEN = [16.0, 8.0, 4.0, 2.0]
UNEVEN = [16.0, 9.0, 4.0, 0.0]
BASE = np.random.default_rng(0).standard_normal((3, 7, 5))


def _filled(value, gauges, ridges, i, j):
    """A forecast that knows value(gauge, ridge), a W, at all places before (i, j)."""
    forecast = PathPredictor(gauges, ridges)
    for a in range(i + 1):
        for c in range(len(ridges) if a < i else j):
            W = value(gauges[a], ridges[c])
            forecast.add(a, c, DenseWeights(W, W[0]))
    return forecast


def _apart(value, gauges, ridges, i, j):
    W = value(gauges[i], ridges[j])
    found = _filled(value, gauges, ridges, i, j).predict(i, j)
    return np.abs(found.to_dense() - W).max() + np.abs(found.b - W[0]).max()


@pytest.mark.parametrize("strengths", [EVEN, UNEVEN])
@pytest.mark.parametrize("place", [(0, 2), (0, 3), (2, 0), (3, 0)])
def test_on_an_edge_what_is_linear_in_the_strengths_is_met(strengths, place):
    assert _apart(lambda g, r: BASE[0] + g * BASE[1] + r * BASE[2], strengths, strengths, *place) < 1e-12


@pytest.mark.parametrize("strengths", [EVEN, UNEVEN])
@pytest.mark.parametrize("place", [(1, 1), (1, 3), (3, 1), (2, 2), (3, 3)])
def test_inside_any_sum_of_a_function_of_each_strength_is_met(strengths, place):
    def value(g, r):
        return BASE[0] + np.sqrt(g) * BASE[1] + np.exp(-r) * BASE[2]

    assert _apart(value, strengths, strengths, *place) < 1e-12


def test_a_function_of_the_ratio_of_even_strengths_is_met_though_no_sum_makes_it():
    def value(g, r):
        return BASE[0] * np.exp(-g / r)

    assert _apart(value, EVEN, EVEN, 3, 3) < 1e-12
    assert _apart(value, EVEN, EVEN, 1, 1) > 1e-3


def test_uneven_strengths_do_without_the_diagonal():
    assert len(PathPredictor(EVEN, UNEVEN).terms(2, 2)) == 3
    assert len(PathPredictor(EVEN, EVEN).terms(2, 2)) == 5


def test_the_first_has_nothing_to_go_by_and_the_second_has_the_first():
    forecast = PathPredictor(EVEN, EVEN)
    assert forecast.predict(0, 0) is None
    point = DenseWeights(BASE[0], np.zeros(5))
    forecast.add(0, 0, point)
    assert forecast.predict(0, 1) is point
    assert forecast.predict(1, 0) is point


@pytest.mark.parametrize("wide", [(7, 5), (40, 30)])
def test_a_forecast_has_no_more_columns_than_a_neighbor_and_none_that_hardly_counts(wide):
    d, k = wide
    rng = np.random.default_rng(1)
    forecast = PathPredictor(EVEN, EVEN)
    for place in ((0, 0), (0, 1), (1, 0)):
        A, B = rng.standard_normal((d, 3)), rng.standard_normal((k, 3))
        A[:, 2] *= 1e-6
        forecast.add(*place, LowRankWeights(A, B, np.zeros(k)))
    found = forecast.predict(1, 1)
    assert found.A.shape == (d, 3)
    forecast.add(0, 0, forecast.points[0, 1])
    assert forecast.predict(1, 1).A.shape == (d, 2)


def test_old_rows_are_forgotten():
    forecast = _filled(lambda g, r: BASE[0], EVEN, EVEN, 3, 4)
    assert {i for i, _ in forecast.points} == {1, 2, 3}


def test_equal_strengths_repeat_the_last():
    forecast = _filled(lambda g, r: BASE[0], [2.0], [3.0, 3.0, 3.0], 0, 2)
    np.testing.assert_allclose(forecast.predict(0, 2).to_dense(), BASE[0])
