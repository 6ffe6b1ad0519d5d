"""People who mark what they find, simulated: who is asked, what is judged, and what the page says of it."""

import numpy as np
import pytest

from experiments.relevance_feedback import AFTER, Found, difference, verdict_of
from experiments.simulated_marks import OURS, PER_ROUND, WAYS, Marks, simulate, split_search


def search(per_class=12, n_classes=8, d=24, seed=0):
    """Classes around centers; every other one is the world."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_classes), per_class)
    X = rng.standard_normal((n_classes, d))[y] + rng.standard_normal((len(y), d))
    X = (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)
    return split_search(X, y, y % 2 == 1, None, 2)


def test_a_half_of_each_class_is_judged_and_the_world_has_none_of_them():
    made = search()
    assert made.X.shape == (48, 24)
    assert made.world.shape == (48, 24)
    for label in np.unique(made.y):
        assert made.markable[made.y == label].sum() == 6
    assert made.markable[made.queries].all()
    assert len(made.queries) == 8


def test_people_mark_the_best_that_they_have_not_marked_and_never_what_is_judged():
    made = search()
    query = int(made.queries[0])
    scores = made.X @ made.X[query]
    first = Marks([query], []).more(made, scores, made.y[query])
    second = first.more(made, scores, made.y[query])
    for marks, count in ((first, PER_ROUND), (second, 2 * PER_ROUND)):
        both = marks.wanted + marks.unwanted
        assert len(set(both)) == len(both) == 1 + count
        assert made.markable[both].all()
        assert (made.y[marks.wanted] == made.y[query]).all()
        assert (made.y[marks.unwanted] != made.y[query]).all()
    unmarked = made.markable.copy()
    unmarked[first.wanted + first.unwanted] = False
    assert scores[first.wanted + first.unwanted].min() >= scores[unmarked].max()


@pytest.mark.parametrize("name", WAYS)
def test_every_way_starts_from_the_query_and_scores_everything(name):
    made = search()
    scores = WAYS[name](made, Marks([int(made.queries[0])], []))
    assert scores.shape == (48,)
    found, times = simulate(made, WAYS[name], (0, 5, 10))
    assert found.shape == (8, 3)
    assert np.isfinite(found).all()
    assert len(times) == 8 * 3
    if name == "query alone":
        np.testing.assert_array_equal(found[:, 0], found[:, 2])


def test_marks_help():
    found, _ = simulate(search(), WAYS[OURS], (0, 20))
    assert found[:, 1].mean() > found[:, 0].mean() + 5


def test_an_interval_is_told_in_a_word():
    precisions = {way: np.tile([[50.0]], (6, len(AFTER))) for way in WAYS}
    precisions[OURS] = precisions[OURS] + np.array([[1.0], [2.0], [3.0], [1.0], [2.0], [3.0]])
    found = Found(precisions, {}, np.arange(6))
    mean, low, high = difference(found, "best score", 10)
    assert mean == pytest.approx(2)
    assert verdict_of(low, high) == "ahead"
    assert verdict_of(-high, -low) == "behind"
