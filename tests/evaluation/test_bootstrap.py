"""The paired bootstrap: against normal theory, and at the edges."""

import numpy as np
import pytest

from manyclass.evaluation import bootstrap, paired_bootstrap


def pair(n, shift, seed=0):
    rng = np.random.default_rng(seed)
    b = rng.random(n)
    return b + shift + 0.2 * rng.standard_normal(n), b


def test_the_interval_is_that_of_normal_theory_for_many_queries():
    a, b = pair(2000, 0.05)
    found = paired_bootstrap(a, b, random_state=0)
    half = 1.96 * np.std(a - b) / np.sqrt(2000)
    assert found.difference == pytest.approx(np.mean(a - b))
    assert [found.low, found.high] == pytest.approx([found.difference - half, found.difference + half], abs=0.1 * half)


@pytest.mark.parametrize("z", [0.5, 1.0, 2.0])
def test_p_is_that_of_normal_theory_for_many_queries(z):
    differences = np.random.default_rng(1).standard_normal(2000)
    differences = (differences - differences.mean()) / differences.std() + z / np.sqrt(2000)
    found = paired_bootstrap(differences, np.zeros(2000), random_state=0)
    two_sided = {0.5: 0.6171, 1.0: 0.3173, 2.0: 0.0455}[z]
    assert found.p == pytest.approx(two_sided, abs=0.015)


def test_under_equal_methods_p_is_below_a_tenth_a_tenth_of_the_time():
    rng = np.random.default_rng(0)
    ps = [paired_bootstrap(rng.random(50), rng.random(50), 400, random_state=i).p for i in range(300)]
    assert np.mean(np.array(ps) < 0.1) == pytest.approx(0.1, abs=0.05)


def test_the_pairs_matter_and_not_the_spread_of_queries():
    b = np.linspace(0, 1, 50)
    assert paired_bootstrap(b + 0.01, b, random_state=0).p < 0.001


def test_swapping_the_methods_turns_the_signs():
    a, b = pair(40, 0.05)
    one, other = paired_bootstrap(a, b, random_state=3), paired_bootstrap(b, a, random_state=3)
    assert [one.difference, one.low, one.high] == pytest.approx([-other.difference, -other.high, -other.low])
    assert one.p == other.p


@pytest.mark.parametrize("unit", [0.1, 0.3, 1e-9])
def test_p_does_not_depend_on_the_rounding_of_sums(unit):
    differences = np.array([1, 1, 1, 0, 0, 0, 0])
    whole = paired_bootstrap(differences, np.zeros(7), random_state=0)
    assert paired_bootstrap(unit * differences, np.zeros(7), random_state=0).p == whole.p


def test_equal_methods_differ_by_chance():
    b = np.random.default_rng(0).random(30)
    assert paired_bootstrap(b, b, random_state=0) == (0, 0, 0, 1)


def test_more_confidence_takes_a_wider_interval():
    a, b = pair(60, 0.05)
    narrow, wide = (paired_bootstrap(a, b, confidence=c, random_state=0) for c in (0.5, 0.99))
    assert wide.low < narrow.low < narrow.high < wide.high


def test_a_seed_gives_the_same_bits_in_blocks_of_any_size(monkeypatch):
    a, b = pair(37, 0.05)
    found = paired_bootstrap(a, b, 500, random_state=5)
    monkeypatch.setattr(bootstrap, "_BLOCK", 100)
    assert paired_bootstrap(a, b, 500, random_state=5) == found != paired_bootstrap(a, b, 500, random_state=6)


def test_queries_without_positives_are_left_out():
    a, b = pair(20, 0.1)
    with_gaps = [np.insert(values, 7, np.nan) for values in (a, b)]
    assert paired_bootstrap(*with_gaps, random_state=0) == paired_bootstrap(a, b, random_state=0)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([1, 2], [1, 2, 3]), r"same length; got shapes \(2,\) and \(3,\)"),
        (([[1, 2]], [[1, 2]]), r"a and b must be vectors"),
        (([1, np.nan], [1, 2]), "NaN for the same queries; query 1 is NaN for one of them"),
        (([np.nan], [np.nan]), "finite numbers for at least one query"),
        (([np.inf, 1], [np.inf, 1]), "finite numbers for at least one query"),
        (([], []), "finite numbers for at least one query"),
        (([1, 2], [1, 2], 0), "n_resamples must be a whole number, at least 1; got 0"),
        (([1, 2], [1, 2], 10, 1.0), "confidence must be a number between 0 and 1; got 1.0"),
    ],
)
def test_what_cannot_be_compared_is_refused(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        paired_bootstrap(*arguments)


def test_intervals_over_groups_hold_the_truth_where_queries_of_a_group_are_alike():
    rng, groups, held = np.random.default_rng(0), np.repeat(np.arange(40), 8), {"queries": 0, "groups": 0}
    for seed in range(100):
        values = 0.5 + 0.2 * rng.normal(size=40)[groups] + 0.1 * rng.normal(size=320)
        for kind, given in (("queries", None), ("groups", groups)):
            found = paired_bootstrap(values, np.zeros(320), n_resamples=300, random_state=seed, groups=given)
            held[kind] += found.low <= 0.5 <= found.high
    assert held["queries"] < 70
    assert held["groups"] >= 85


def test_groups_of_one_are_queries():
    a, b = np.random.default_rng(0).random((2, 30))
    assert paired_bootstrap(a, b, random_state=0) == paired_bootstrap(a, b, random_state=0, groups=np.arange(30))


def test_groups_of_another_length_are_refused():
    with pytest.raises(ValueError, match=r"groups must have one label for each query \(3\)"):
        paired_bootstrap([1, 2, 3], [0, 0, 0], groups=[1, 2])
