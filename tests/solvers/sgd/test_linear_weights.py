"""Machines of all classes, cut into ranges and put together again."""

from itertools import pairwise

import numpy as np
import pytest

from manyclass.solvers.sgd.linear_weights import LinearWeights


def machines(k=7, d=3, first=128):
    rng = np.random.default_rng(0)
    found = LinearWeights.of(rng.normal(size=(k, d)), rng.normal(size=k))
    found.scales[:], found.steps[:], found.first = rng.random(k), rng.integers(0, 99, k), first
    return found


@pytest.mark.parametrize("cuts", [[128, 135], [128, 130, 135], [128, 129, 132, 135]])
def test_ranges_that_are_joined_are_the_whole(cuts):
    whole = machines()
    ranges = [range(*pair) for pair in pairwise(cuts)]
    parts = [whole.part(classes) for classes in ranges]
    assert [part.classes for part in parts] == ranges
    joined = LinearWeights.join(parts)
    assert joined.classes == whole.classes == range(128, 135)
    for name, array in whole.arrays().items():
        np.testing.assert_array_equal(joined.arrays()[name], array)
        assert not np.shares_memory(joined.arrays()[name], array)
        assert np.shares_memory(parts[0].arrays()[name], array)


def test_machines_are_new_until_they_have_seen_or_learned_something():
    assert LinearWeights.zeros(300, 2).are_new()
    for name in ("W", "biases", "steps"):
        seen = LinearWeights.zeros(300, 2)
        getattr(seen, name)[-1] = 1
        assert not seen.are_new()


@pytest.mark.parametrize("name", ["W", "biases"])
def test_what_is_not_finite_is_noticed_in_any_panel(name):
    found = LinearWeights.zeros(300, 2)
    assert found.finite()
    getattr(found, name)[-1] = np.inf
    assert not found.finite()
