"""Nearest means that pictures without labels help to place."""

import numpy as np
import pytest

from manyclass.runs.labeling.seeded_means import SeededMeans


def unit(Z):
    return (Z / np.linalg.norm(Z, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture
def drawn(rows):
    data = rows(k=6, each=100, spread=0.7)
    return unit(data.X), data.y


def first_of_each(y, count):
    return np.concatenate([np.flatnonzero(y == c)[:count] for c in range(y.max() + 1)])


def accuracy(found, Z, y):
    return np.mean(found.probabilities(Z).argmax(axis=1) == y)


def test_pictures_without_labels_help_where_classes_are_round(drawn):
    Z, y = drawn
    few = first_of_each(y, 2)
    rest = np.setdiff1d(np.arange(len(y)), few)
    helped = SeededMeans.fit(Z[few], y[few], 6, Z[rest])
    alone = SeededMeans.fit(Z[few], y[few], 6, Z[:0])
    assert helped.weight > 0
    assert alone.weight == 0
    assert accuracy(helped, Z[rest], y[rest]) > accuracy(alone, Z[rest], y[rest]) + 0.05


def test_pictures_of_other_things_are_left_out_where_they_do_harm(drawn):
    Z, y = drawn
    rng = np.random.default_rng(0)
    few = first_of_each(y, 20)
    # All of the pool lies between two classes.
    pool = unit(Z[y == 0].mean(axis=0) + 0.9 * Z[y == 1].mean(axis=0) + 0.02 * rng.normal(size=(2000, Z.shape[1])))
    assert SeededMeans.fit(Z[few], y[few], 6, pool).weight < 1


def test_held_out_cosines_know_nothing_of_the_label(drawn):
    Z, y = drawn
    few = first_of_each(y, 5)
    wrong = y[few].copy()
    wrong[0] = 3
    found = SeededMeans.fit(Z[few], wrong, 6, Z[:0])
    assert found.held_out[0].argmax() == 0
    assert found.accuracy(wrong) < 1


def test_probabilities_are_about_as_high_as_the_share_that_is_right(drawn):
    Z, y = drawn
    few = first_of_each(y, 10)
    rest = np.setdiff1d(np.arange(len(y)), few)
    P = SeededMeans.fit(Z[few], y[few], 6, Z[rest]).probabilities(Z[rest])
    assert abs(P.max(axis=1).mean() - np.mean(P.argmax(axis=1) == y[rest])) < 0.1


def test_classes_that_were_seen_once_leave_room_for_those_not_seen_yet(drawn):
    Z, y = drawn
    few = first_of_each(y, 1)
    found = SeededMeans.fit(Z[few], y[few], 6, Z[:0])
    assert found.novelty == pytest.approx(6 / 7)
    assert found.accuracy(y[few]) is None
    np.testing.assert_allclose(found.probabilities(Z[:9]).sum(axis=1), 1 / 7)


def test_one_class_is_enough_and_not_certain(drawn):
    Z, _ = drawn
    P = SeededMeans.fit(Z[:3], np.zeros(3, np.intp), 1, Z[3:]).probabilities(Z)
    assert P.shape == (len(Z), 1)
    assert (P <= 1).all()
    alone = SeededMeans.fit(Z[:1], np.zeros(1, np.intp), 1, Z[1:])
    np.testing.assert_allclose(alone.probabilities(Z), 0.5)


def test_probabilities_can_be_fitted_to_some_of_the_rows_alone(drawn):
    Z, y = drawn
    few = np.concatenate([first_of_each(y, 10)[:50], np.flatnonzero(y == 5)[:1]])
    found = SeededMeans.fit(Z[few], y[few], 6, Z[:0])
    easy = found.held_out[np.arange(51), y[few]] >= found.held_out.max(axis=1)
    easy[-1] = False
    shown = found.calibrated(y[few], easy)
    assert shown.temperature < found.temperature
    assert (shown.novelty, found.novelty) == (0, pytest.approx(1 / 52))
    assert (shown.means == found.means).all()
