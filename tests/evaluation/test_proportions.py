"""Intervals and tails against published values, and against sums over all outcomes."""

import math
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyclass.evaluation.proportions import binomial_tail, difference_interval, wilson_interval

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
