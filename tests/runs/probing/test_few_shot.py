"""Few examples of a class: how many are drawn, and that more of them are better."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.runs.probing.few_shot import DRAWS, check_shots, draw_shots, learn_from_shots, mean_of_draws
from tests.runs.probing.test_probe_methods import task


@given(counts=st.lists(st.integers(0, 6), min_size=1, max_size=5), shots=st.integers(1, 5), seed=st.integers(0, 9))
def test_every_class_gives_so_many_rows_or_all_it_has(counts, shots, seed):
    y = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts))
    rows = draw_shots(y, shots, np.random.default_rng(seed))
    assert np.bincount(y[rows], minlength=len(counts)).tolist() == [min(shots, count) for count in counts]
    assert (np.diff(rows) > 0).all()


def test_more_examples_are_better_and_draws_are_counted():
    given_task, y = task(spread=1.5)
    seen = []
    found = learn_from_shots(given_task, y, [1, 20], lambda done, total: seen.append((done, total)))
    kinds = [(one["shots"], one["name"]) for one in found]
    assert kinds == [(1, "means"), (1, "closed"), (20, "means"), (20, "closed")]
    assert found[3]["top_1"]["low"] > found[1]["top_1"]["high"]
    assert seen == [(i, 2 * DRAWS) for i in range(1, 2 * DRAWS + 1)]
    assert learn_from_shots(given_task, y, [], lambda *_: None) == []


def test_the_interval_is_students():
    found = mean_of_draws(np.array([0.2, 0.4, 0.3, 0.3, 0.3]))
    half = 2.776445 * np.std([0.2, 0.4, 0.3, 0.3, 0.3], ddof=1) / np.sqrt(5)
    assert (found["value"], found["low"], found["high"]) == pytest.approx((0.3, 0.3 - half, 0.3 + half))
    assert mean_of_draws(np.array([1.0, 0.6]))["high"] == 1.0


@pytest.mark.parametrize("shots", ["0,1", "a", "", [], [1.5, "x"], "-2"])
def test_numbers_of_examples_must_be_whole(shots):
    with pytest.raises(ValueError, match="`shots` must be whole numbers from 1 on, such as 1,2,5,10"):
        check_shots(shots)
