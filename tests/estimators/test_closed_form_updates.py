"""Rows and classes that come and go: always the machines of a fit on what is there."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyclass as mc
from tests.estimators.problems import blobs

STRENGTH = 0.02


def problem(dtype=np.float64):
    X, y = blobs(per_class=15)
    return X.astype(dtype), y


def assert_same_machines(clf, X, y, sample_weight=None, rtol=1e-9):
    fresh = mc.SquareLossClassifier(clf.regularization_, class_weight=clf.class_weight).fit(X, y, sample_weight)
    np.testing.assert_array_equal(clf.classes_, fresh.classes_)
    np.testing.assert_allclose(clf.coef_, fresh.coef_, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(clf.intercept_, fresh.intercept_, rtol=rtol, atol=rtol)


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 1e-9), (np.float32, 1e-5)])
def test_rows_are_added_and_removed(dtype, rtol):
    X, y = problem(dtype)
    clf = mc.SquareLossClassifier().fit(X[:60], y[:60])
    assert_same_machines(clf.add_rows(X[60:], y[60:]), X, y, rtol=rtol)
    assert_same_machines(
        clf.remove_rows(X[10:40], y[10:40]), np.delete(X, slice(10, 40), 0), np.delete(y, slice(10, 40)), rtol=rtol
    )


def test_weights_come_and_go_with_their_rows():
    X, y = problem()
    c = np.random.default_rng(0).uniform(0.2, 3, len(y)).astype(np.float32)
    clf = mc.SquareLossClassifier(STRENGTH, class_weight={1: 2.0}).fit(X[:60], y[:60], c[:60])
    assert_same_machines(clf.add_rows(X[60:], y[60:], c[60:]), X, y, c)
    assert_same_machines(clf.remove_rows(X[:30], y[:30], c[:30]), X[30:], y[30:], c[30:])


@pytest.mark.parametrize("names", [np.arange(6), np.array(["ant", "bee", "cat", "dog", "elephant", "fox"])])
def test_classes_are_added_and_removed(names):
    X, y = problem()
    old = np.isin(y, [1, 2, 4])
    clf = mc.SquareLossClassifier(STRENGTH).fit(X[old], names[y[old]])
    assert_same_machines(clf.add_classes(X[~old], names[y[~old]]), X, names[y])
    gone = np.isin(y, [2, 5])
    assert_same_machines(clf.remove_classes(X[gone], names[y[gone]]), X[~gone], names[y[~gone]])


def test_rows_of_old_classes_are_added_beside_new_classes():
    X, y = problem()
    first = (y < 5) & (np.arange(len(y)) % 2 == 0)
    clf = mc.SquareLossClassifier(STRENGTH).fit(X[first], y[first])
    assert_same_machines(clf.add_classes(X[~first], y[~first]), X, y)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 89), min_size=0, max_size=5, unique=True))
def test_any_batches_give_the_machines_of_all_rows(cuts):
    X, y = problem()
    edges = [0, *sorted(cuts), len(y)]
    clf = mc.SquareLossClassifier(STRENGTH)
    for start, stop in pairwise(edges):
        clf.partial_fit(X[start:stop], y[start:stop], classes=range(6))
    assert_same_machines(clf, X, y)


def test_batches_choose_a_strength_by_their_own_rows():
    X, y = problem()
    clf = mc.SquareLossClassifier().partial_fit(X[:50], y[:50], classes=range(6)).partial_fit(X[50:], y[50:])
    assert clf.path_[0]["rows"] == 40
    assert_same_machines(clf, X, y)


def test_what_was_loaded_goes_on(tmp_path):
    X, y = problem()
    mc.SquareLossClassifier(STRENGTH).fit(X[:60], y[:60]).save(tmp_path / "model")
    assert_same_machines(mc.load(tmp_path / "model").add_rows(X[60:], y[60:]), X, y)


def test_the_strength_and_the_temperature_stay():
    X, y = problem()
    clf = mc.SquareLossClassifier().fit(X[:60], y[:60])
    before = clf.regularization_, clf.temperature_
    clf.add_rows(X[60:], y[60:])
    assert (clf.regularization_, clf.temperature_) == before


def fitted():
    X, y = problem()
    return mc.SquareLossClassifier(STRENGTH).fit(X, y), X, y


def refused(change, words):
    clf, X, y = fitted()
    before = dict(vars(clf))
    with pytest.raises(ValueError, match=words):
        change(clf, X, y)
    assert all(vars(clf)[name] is value for name, value in before.items())


def test_all_rows_of_a_class_go_by_another_call():
    refused(lambda clf, X, y: clf.remove_rows(X[y == 3], y[y == 3]), "use remove_classes")


def test_some_rows_of_a_class_go_by_another_call():
    refused(
        lambda clf, X, y: clf.remove_classes(X[y == 3][1:], y[y == 3][1:]), "needs all 15 rows of the class 3; got 14"
    )


def test_two_classes_stay():
    refused(lambda clf, X, y: clf.remove_classes(X[y > 0], y[y > 0]), "must leave two classes; got 1")


def test_rows_that_were_never_learned_do_not_go():
    refused(lambda clf, X, y: clf.remove_rows(3.9 * X[:60], y[:60]), "rows that were learned")


def test_new_classes_are_new():
    refused(lambda clf, X, y: clf.add_classes(X, y), "all labels are known")


def test_a_new_class_has_a_row_that_counts():
    refused(lambda clf, X, y: clf.add_classes(X[:2], [0, 9], sample_weight=[1, 0]), "none of the class 9")


def test_rows_of_unknown_classes_are_refused():
    refused(lambda clf, X, y: clf.add_rows(X[:1], [9]), "labels must be among the 6 classes")


@pytest.mark.parametrize("task", ["add_rows", "remove_rows", "add_classes", "remove_classes", "partial_fit"])
def test_without_sums_nothing_comes_or_goes(task):
    X, y = problem()
    for clf in (
        mc.SquareLossClassifier(keep_sums=False).fit(X, y),
        mc.SquareLossClassifier().fit(X[:6], np.arange(6) % 2),
    ):
        with pytest.raises(ValueError, match=f"{task} needs the sums over rows"):
            getattr(clf, task)(X, y)


def test_balanced_weights_need_all_rows():
    X, y = problem()
    clf = mc.SquareLossClassifier(class_weight="balanced").fit(X, y)
    with pytest.raises(ValueError, match="needs all labels at once"):
        clf.add_rows(X, y)
