"""Labels of any kind come back as they were; others are refused."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.estimators.validation import encode_known_labels, encode_labels
from tests.estimators.problems import blobs

X, Y = blobs(k=4)
NAMES = np.array(["cat", "a dog with a long name", "cow", "Äpfel"])

KINDS = {
    "strings": NAMES[Y],
    "objects": NAMES.astype(object)[Y],
    "negative": Y - 2,
    "gaps": np.array([-7, 0, 3, 10**6])[Y],
    "huge": np.array([2**63, 2**63 + 1, 2**63 + 2, 2**64 - 1], np.uint64)[Y],
    "small": Y.astype(np.int8),
    "whole floats": Y.astype(np.float64),
}


@pytest.mark.parametrize("kind", KINDS)
def test_predictions_are_labels_of_the_kind_of_y(kind):
    y = KINDS[kind]
    model = mc.StochasticClassifier(random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.classes_, np.unique(y))
    assert model.predict(X).dtype == model.classes_.dtype == y.dtype
    assert np.mean(model.predict(X) == y) > 0.9


@pytest.mark.parametrize("kind", KINDS)
def test_labels_of_any_kind_serve_in_batches_and_for_validation(kind):
    y = KINDS[kind]
    model = mc.StochasticClassifier(random_state=0, max_epochs=3).fit(X, y, validation=(X, y.copy()))
    codes = encode_known_labels(y.copy(), model.classes_, len(y))
    np.testing.assert_array_equal(model.classes_[codes], y)
    assert np.mean(model.partial_fit(X, y).predict(X) == y) > 0.9


def test_two_truth_values_are_two_classes():
    y = Y >= 2
    model = mc.StochasticClassifier(random_state=0).fit(X, y)
    assert model.predict(X).dtype == bool
    assert model.decision_function(X).shape == (len(X),)
    np.testing.assert_array_equal(model.predict(X), model.decision_function(X) > 0)


def test_integers_of_two_widths_are_told_apart():
    classes = np.array([2**62, 2**62 + 1, 2**62 + 2], np.uint64)
    np.testing.assert_array_equal(encode_known_labels(classes.astype(np.int64), classes, 3), [0, 1, 2])
    with pytest.raises(ValueError, match="labels must be among the 3 classes"):
        encode_known_labels(np.array([2**62 + 3]), classes, 1)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.array([1, 2, 9]), r"labels must be among the 3 classes; got 9 at row 2"),
        (np.array([1, -2, 3]), r"got -2 at row 1"),
        (np.array(["1", "2", "3"]), "labels must be of the kind of the classes, int64; got <U1"),
        (np.array([1, 2]), "y must have one label per row of X .3.; got 2"),
        (np.array([1.0, np.nan, 2.0]), "y contains NaN or infinity, at row 1"),
        (np.array([1.0, 2.5, 2.0]), "Unknown label type: continuous"),
        (None, "requires y to be passed"),
    ],
)
def test_labels_that_are_not_known_are_named(y, words):
    with pytest.raises(ValueError, match=words):
        encode_known_labels(y, np.array([1, 2, 3]), 3)


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([2**53 + 1], np.array([0.0, 2.0**53])),
        ([1e300], np.array([np.iinfo(np.int64).min, 0])),
        ([-1], np.array([0, 2**64 - 1], np.uint64)),
    ],
)
def test_a_label_that_only_looks_like_a_class_once_it_is_cast_is_none(y, classes):
    with pytest.raises(ValueError, match="labels must be among the 2 classes"):
        encode_known_labels(np.array(y), classes, 1)


@pytest.mark.parametrize(("y", "classes"), [("a", b"a"), (b"a", "a")])
def test_bytes_are_no_text(y, classes):
    with pytest.raises(ValueError, match="labels must be of the kind of the classes"):
        encode_known_labels(np.array([y]), np.array([classes, classes * 2]), 1)


def test_a_longer_string_than_any_class_is_not_cut_to_one():
    with pytest.raises(ValueError, match="among the 2 classes"):
        encode_known_labels(["cats"], np.array(["cat", "dog"]), 1)


def test_one_class_is_too_few():
    with pytest.raises(ValueError, match="y must hold at least two classes; got 1 class"):
        encode_labels(["a", "a"], 2)
    with pytest.raises(ValueError, match="at least two classes"):
        mc.StochasticClassifier().partial_fit(X[:2], [3, 3], classes=[3])


@pytest.mark.parametrize("y", [Y + 1, NAMES[Y]])
def test_a_validation_set_with_other_labels_is_refused(y):
    with pytest.raises(ValueError, match="labels must be"):
        mc.StochasticClassifier().fit(X, Y, validation=(X, y))
