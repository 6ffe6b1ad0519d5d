"""Classes that come later leave the earlier ones alone."""

import numpy as np
import pytest
from estimators.problems import blobs

import manyclass as mc

X, Y = blobs(k=8, per_class=20, d=40)
OLD = np.isin(Y, [0, 2, 4, 5, 7])
NAMES = np.array(["ape", "bear", "cat", "dog", "eel", "fox", "a goat with a long name", "hen"])


def grown(y=Y, rows=X, more=None, **settings):
    model = mc.StochasticClassifier(max_epochs=10, random_state=0, **settings).fit(X[OLD], y[OLD])
    before = model.classes_, model.coef_.copy(), model.intercept_.copy()
    return before, model.add_classes(rows, y if more is None else more)


@pytest.mark.parametrize("y", [Y, NAMES[Y], NAMES.astype(object)[Y], Y - 4])
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_old_machines_keep_their_bits_and_new_classes_are_known(y, loss):
    (classes, coef, intercept), model = grown(y, loss=loss)
    np.testing.assert_array_equal(model.classes_, np.unique(y))
    old = np.isin(model.classes_, classes)
    np.testing.assert_array_equal(model.coef_[old], coef)
    np.testing.assert_array_equal(model.intercept_[old], intercept)
    assert np.mean(model.predict(X) == y) > 0.9
    assert np.mean((model.predict(X) == y)[~OLD]) > 0.8


def test_classes_come_to_codes_too():
    codes = mc.ProductQuantizer(block=2, n_centroids=16, random_state=0).fit(X).encode(X)
    _, model = grown(rows=codes)
    assert model.score(X, Y) > 0.85


def test_new_classes_alone_are_negatives_of_one_another():
    model = mc.StochasticClassifier(max_epochs=10, random_state=0).fit(X[OLD], Y[OLD]).add_classes(X[~OLD], Y[~OLD])
    assert model.score(X[~OLD], Y[~OLD]) > 0.8


def test_what_was_grown_can_go_on_learning_and_growing():
    _, model = grown()
    model.partial_fit(X, Y)
    assert model.add_classes(np.concatenate([X, -X]), np.concatenate([Y, Y + 8])).coef_.shape == (16, 40)


def test_classes_can_be_added_after_batches():
    model = mc.StochasticClassifier(random_state=0).partial_fit(X[OLD], Y[OLD], classes=np.unique(Y[OLD]))
    assert model.add_classes(X, Y).coef_.shape == (8, 40)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (Y[OLD][np.zeros(len(Y), int)], "add_classes needs rows of classes that are not in classes_ yet"),
        (np.full(len(Y), 9), r"add_classes needs negatives; all rows are of the class 9"),
        (NAMES[Y], "labels must be of the kind of the classes, int64"),
        (Y[:5], "y must have one label per row of X"),
    ],
)
def test_labels_that_make_no_new_classes_are_refused(more, words):
    with pytest.raises(ValueError, match=words):
        grown(more=more)


@pytest.mark.parametrize("objective", ["multiclass", "softmax"])
def test_machines_that_compete_do_not_grow(objective):
    with pytest.raises(ValueError, match="add_classes needs objective='ovr', whose classes do not compete"):
        grown(objective=objective)


def test_nothing_grows_before_it_is_fitted():
    with pytest.raises(ValueError, match="not fitted yet"):
        mc.StochasticClassifier().add_classes(X, Y)
