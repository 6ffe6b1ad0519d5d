"""Intervals and tails against published values, and against sums over all outcomes."""

import math
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from manyclass.evaluation.bootstrap import paired_bootstrap
from manyclass.evaluation.proportions import (
    binomial_tail,
    difference_interval,
    mean_class_interval,
    paired_difference,
    wilson_interval,
)

COUNTS = st.integers(0, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))

# Newcombe (1998), two papers in Statistics in Medicine: the score intervals of one share and of a difference.
SINGLE = {(81, 263): (0.2553, 0.3662), (15, 148): (0.0624, 0.1605), (0, 20): (0.0, 0.1611), (1, 29): (0.0061, 0.1718)}
PAIRS = {
    ((56, 70), (48, 80)): (0.0524, 0.3339),
    ((9, 10), (3, 10)): (0.1705, 0.8090),
    ((6, 7), (2, 7)): (0.0582, 0.8062),
    ((10, 10), (0, 10)): (0.6075, 1.0),
}


@pytest.mark.parametrize(("counts", "interval"), SINGLE.items())
def test_the_interval_of_a_share_is_the_published_one(counts, interval):
    assert wilson_interval(*counts) == pytest.approx(interval, abs=6e-5)


@pytest.mark.parametrize(("counts", "interval"), PAIRS.items())
def test_the_interval_of_a_difference_is_the_published_one(counts, interval):
    assert difference_interval(*counts) == pytest.approx(interval, abs=6e-5)


@given(counts=COUNTS)
def test_the_ends_are_where_the_share_is_as_far_off_as_the_normal_distribution_allows(counts):
    right, n = counts
    low, high = wilson_interval(right, n)
    assert 0 <= low <= high <= 1
    for end in (low, high) if n else ():
        if 0 < end < 1:
            assert abs(right / n - end) == pytest.approx(1.959964 * math.sqrt(end * (1 - end) / n), rel=1e-6)


@given(first=COUNTS, second=COUNTS)
def test_the_difference_the_other_way_has_the_other_sign(first, second):
    low, high = difference_interval(first, second)
    assert difference_interval(second, first) == pytest.approx((-high, -low))
    if first[1] and second[1]:
        assert low <= first[0] / first[1] - second[0] / second[1] <= high


@settings(deadline=None, max_examples=5)
@given(seed=st.integers(0, 999), p=st.floats(0.02, 0.5), q=st.floats(0.05, 0.9))
def test_nineteen_of_twenty_intervals_of_a_weighted_difference_hold_the_truth(seed, p, q):
    rng = np.random.default_rng(seed)
    drawn = zip(rng.binomial(300, p, 1000).tolist(), rng.binomial(80, q, 1000).tolist(), strict=True)
    intervals = np.array([difference_interval((a, 300), (b, 80), 0.5) for a, b in drawn])
    held = (intervals[:, 0] <= p - q / 2) & (p - q / 2 <= intervals[:, 1])
    assert 0.91 < held.mean() < 0.99


@settings(deadline=None)
@given(counts=COUNTS, p=st.floats(0.001, 0.999))
def test_the_tail_is_the_sum_over_all_that_is_at_least_as_much(counts, p):
    times, n = counts
    slow = sum(comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(times, n + 1))
    assert binomial_tail(times, n, p) == pytest.approx(slow, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("right", [0, 10**400, 10**13])
def test_numbers_of_any_size_have_an_interval_and_a_tail(right):
    found = [*wilson_interval(right, 10**401), *difference_interval((right, 7), (3, 10**401))]
    assert np.isfinite([*found, binomial_tail(right, 10**401, 0.1)]).all()


def test_the_mean_over_equal_classes_is_known_about_as_well_as_the_share_of_all_rows():
    low, high = mean_class_interval([80] * 10, [100] * 10)
    expected = wilson_interval(800, 1000)
    assert (low, high) == pytest.approx(expected, abs=1e-3)


def test_without_any_variance_to_see_the_rows_of_all_classes_count():
    assert mean_class_interval([10] * 4, [10] * 4) == pytest.approx(wilson_interval(40, 40))
    assert mean_class_interval([0, 0], [5, 5]) == pytest.approx(wilson_interval(0, 10))


def test_classes_of_one_row_are_told_by_the_mean_of_all():
    assert mean_class_interval([1, 1, 1, 0], [1, 1, 1, 1]) == pytest.approx(wilson_interval(3, 4))


def test_intervals_of_the_mean_over_classes_hold_what_they_promise():
    rng, rows = np.random.default_rng(0), np.array([3, 5, 8, 20, 40, 5, 5, 9])
    truth = np.array([0.9, 0.5, 0.7, 0.95, 0.6, 0.8, 0.99, 0.4])
    ends = np.array([mean_class_interval(rng.binomial(rows, truth), rows) for _ in range(2000)])
    held = np.mean((ends[:, 0] <= truth.mean()) & (truth.mean() <= ends[:, 1]))
    assert 0.92 < held < 0.98


def test_paired_intervals_hold_what_they_promise():
    rng, n, p, q = np.random.default_rng(0), 300, 0.08, 0.04
    drawn = rng.multinomial(n, [p, q, 1 - p - q], 2000)
    ends = np.array([paired_difference(int(a), int(b), n)[1:3] for a, b, _ in drawn])
    held = np.mean((ends[:, 0] <= p - q) & (p - q <= ends[:, 1]))
    assert 0.93 < held < 0.98


def test_a_paired_difference_is_about_that_of_a_bootstrap():
    rng = np.random.default_rng(0)
    a, b = rng.random(800) < 0.9, rng.random(800) < 0.86
    found = paired_difference(int(np.sum(a & ~b)), int(np.sum(b & ~a)), 800)
    other = paired_bootstrap(a, b, random_state=0)
    assert found.difference == pytest.approx(other.difference)
    assert found[1:3] == pytest.approx(other[1:3], abs=0.003)


@pytest.mark.parametrize(("first", "second"), [(0, 0), (5, 0), (0, 5), (3, 3), (7, 2), (40, 22)])
def test_p_of_a_paired_difference_is_that_of_mcnemar(first, second):
    n = first + second
    tail = binom.cdf(min(first, second), n, 0.5) - 0.5 * binom.pmf(min(first, second), n, 0.5)
    assert paired_difference(first, second, 100).p == pytest.approx(min(1.0, 2 * tail) if n else 1.0)


def test_a_paired_difference_turns_with_its_order():
    one, other = paired_difference(9, 4, 50), paired_difference(4, 9, 50)
    assert (one.difference, one.low, one.high) == pytest.approx((-other.difference, -other.high, -other.low))
    assert paired_difference(0, 0, 0) == (0.0, -1.0, 1.0, 1.0)
