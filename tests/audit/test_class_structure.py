"""Classes that were cut in two or joined are found, and no others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import manyclass as mc
from manyclass.audit.class_structure import best_split
from manyclass.audit.mislabeled import LabelErrors


@pytest.fixture(scope="module")
def clusters():
    """Twelve classes of forty rows each."""
    rng = np.random.default_rng(1)
    y = np.arange(480) % 12
    return rng.normal(size=(12, 24))[y] + 0.4 * rng.normal(size=(480, 24)), y


def test_a_class_that_was_cut_at_random_cannot_be_told_apart(clusters):
    X, y = clusters
    halved = y.copy()
    halved[np.flatnonzero(y == 3)[::2]] = 99
    (pair,) = mc.audit.class_pairs(X, halved)
    assert (pair.first, pair.second, pair.same) == (3, 99, True)
    assert 0 < pair.low < 0.5 < pair.high
    assert mc.audit.class_pairs(X, y) == []


def judged(given, predicted):
    """What `label_errors` would say of rows that are taken for these classes."""
    given, predicted = np.array(given), np.array(predicted)
    wrong = given != predicted
    return LabelErrors(np.zeros(len(given)), -1.0 * wrong, given, np.where(wrong, predicted, given + 1), wrong, 0.0)


def test_pairs_are_counted_both_ways():
    given = np.repeat(np.arange(6), 20)
    predicted = given.copy()
    predicted[0:4] = 1  # four of 0 go to 1, six of 1 to 0
    predicted[20:26] = 0
    predicted[40:48] = 3  # eight of 2 go to 3, and none come back
    (pair,) = mc.audit.class_pairs(None, given, errors=judged(given, predicted))
    assert (pair.first, pair.second, pair.confused, pair.rows, pair.same) == (0, 1, 10, 40, False)


def test_what_chance_explains_is_no_pair():
    rng = np.random.default_rng(0)
    given = np.repeat(np.arange(10), 30)
    predicted = np.where(rng.random(300) < 0.5, rng.integers(0, 10, 300), given)
    assert mc.audit.class_pairs(None, given, errors=judged(given, predicted)) == []


def test_classes_that_were_joined_are_two(clusters):
    X, y = clusters
    joined = np.where(y == 5, 4, y)
    (split,) = mc.audit.class_splits(X, joined)
    sizes = np.bincount(y)[[4, 5]]
    smaller = y[split.rows]
    assert split.label == 4
    assert len(set(smaller)) == 1
    assert len(split.rows) == sizes[0] == split.size / 2
    assert mc.audit.class_splits(X, y) == []


@pytest.mark.parametrize("draw", ["normal", "uniform"])
def test_one_cloud_is_hardly_ever_two(draw):
    rng = np.random.default_rng(0)
    X = getattr(rng, draw)(size=(2000, 3)) * [5, 1, 1]
    assert mc.audit.class_splits(X, np.arange(2000) % 50) == []


def test_small_classes_are_not_looked_at():
    X = np.concatenate([np.full((3, 2), 9.0), np.zeros((4, 2)), np.ones((30, 2))])
    assert mc.audit.class_splits(X, [0] * 7 + [1] * 30) == []


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=12))
def test_the_best_split_is_that_of_all_splits(values):
    values = np.sort(values)
    total = ((values - values.mean()) ** 2).sum()
    found, size = best_split(values)
    if total < 1e-9:
        return
    explained = [1 - sum(((part - part.mean()) ** 2).sum() for part in (values[:i], values[i:])) / total
                 for i in range(1, len(values))]  # fmt: skip
    assert found == pytest.approx(max(explained), abs=1e-6)
    assert explained[size - 1] == pytest.approx(max(explained), abs=1e-6)


def test_levels_are_checked():
    with pytest.raises(ValueError, match="level must be"):
        mc.audit.class_splits(np.eye(4), [0, 0, 1, 1], level=2)


def test_a_few_rows_that_do_not_belong_are_no_kind(clusters):
    X, y = clusters
    wrong = y.copy()
    wrong[[0, 12]] = 7  # two rows of class 0 among forty
    assert mc.audit.class_splits(X, wrong) == []
    X = X.copy()
    X[3] += 50
    assert mc.audit.class_splits(X, y) == []


def test_a_row_that_does_not_belong_hides_no_kinds(clusters):
    X, y = clusters
    X, joined = X.copy(), np.where(y == 5, 4, y)
    X[4] += 50
    (split,) = mc.audit.class_splits(X, joined)
    assert (split.label, split.size) == (4, 79)
    assert len(set(y[split.rows])) == 1
    assert len(split.rows) in (39, 40)
    assert 4 not in split.rows


def test_rows_to_split_are_checked(clusters):
    X, y = clusters
    spoiled = X.copy()
    spoiled[3, 2] = np.nan
    with pytest.raises(ValueError, match="X must hold finite numbers; row 3"):
        mc.audit.class_splits(spoiled, y)
