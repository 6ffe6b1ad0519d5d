"""Reliability, its error and the coverage of sets, against loops that say what they mean."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyclass.evaluation import expected_calibration_error, reliability_curve, set_coverage
from manyclass.evaluation.proportions import wilson_interval


def said(n, seed, power=1.0):
    """Probabilities, and whether rows are right with their powers."""
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.3, 1, n)
    return rng.uniform(size=n) < p**power, p


def test_bins_hold_as_many_rows_each_in_the_order_of_their_probabilities():
    right = [True, False, True, False, True, True]
    curve = reliability_curve(right, [0.9, 0.1, 0.5, 0.2, 0.6, 0.8], n_bins=3)
    assert [one.rows for one in curve] == [2, 2, 2]
    np.testing.assert_allclose([one.probability for one in curve], [0.15, 0.55, 0.85])
    assert [one.accuracy for one in curve] == [0.0, 1.0, 1.0]
    assert [(one.low, one.high) for one in curve] == [
        wilson_interval(0, 2),
        wilson_interval(2, 2),
        wilson_interval(2, 2),
    ]


@settings(deadline=None, max_examples=25)
@given(n=st.integers(1, 80), n_bins=st.integers(1, 20), seed=st.integers(0, 99))
def test_the_error_is_the_mean_distance_over_bins(n, n_bins, seed):
    right, p = said(n, seed)
    curve = reliability_curve(right, p, n_bins)
    twin = sum(one.rows * abs(one.accuracy - one.probability) for one in curve) / n
    assert sum(one.rows for one in curve) == n
    assert max(one.rows for one in curve) - min(one.rows for one in curve) <= 1
    found = expected_calibration_error(right, p, n_bins)
    assert found.value == pytest.approx(twin)
    assert 0 <= found.low <= found.high


def test_a_classifier_without_fault_has_the_error_of_chance():
    errors = [expected_calibration_error(*said(1500, seed)) for seed in range(40)]
    values, chances = np.array([one.value for one in errors]), np.array([one.chance for one in errors])
    assert values.mean() == pytest.approx(chances.mean(), rel=0.1)


def test_nineteen_of_twenty_intervals_hold_the_error_of_many_rows():
    truth = expected_calibration_error(*said(200_000, 0, power=2.0)).value
    errors = [expected_calibration_error(*said(2000, seed, power=2.0)) for seed in range(1, 61)]
    assert truth == pytest.approx(0.16, abs=0.03)
    assert np.mean([one.low <= truth <= one.high for one in errors]) > 0.88
    assert max(one.high - one.low for one in errors) < 0.06


def test_sets_are_counted_with_an_interval():
    found = set_coverage([1, 2, 3, 4], [[1], [2, 1], [], [1, 2, 3]])
    assert found[:3] == (0.5, *wilson_interval(2, 4))
    assert (found.size, found.single) == (1.5, 0.25)


@pytest.mark.parametrize(
    ("right", "p", "words"),
    [
        ([True], [0.5, 0.5], "of one length"),
        ([], [], "above 0"),
        ([True], [1.5], "from 0 to 1; got 1.5 at row 0"),
        ([True], [np.nan], "from 0 to 1"),
    ],
)
def test_what_is_no_probability_is_refused(right, p, words):
    with pytest.raises(ValueError, match=words):
        reliability_curve(right, p)


def test_sets_must_be_as_many_as_labels():
    with pytest.raises(ValueError, match="one entry per row of y"):
        set_coverage([1, 2], [[1]])
    with pytest.raises(ValueError, match="at least one label"):
        set_coverage([], [])
