"""Classes that come later leave the earlier ones alone."""

import copy

import numpy as np
import pytest

import manyclass as mc
from tests.estimators.problems import blobs

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
        (NAMES[Y], "labels must be of the kind of the classes, int64"),
        (Y[:5], "y must have one label per row of X"),
    ],
)
def test_labels_that_make_no_new_classes_are_refused(more, words):
    with pytest.raises(ValueError, match=words):
        grown(more=more)


BIG = 2**60


@pytest.mark.parametrize(
    ("classes", "more"),
    [
        (np.array([BIG, BIG + 2]), np.array([BIG + 1, BIG + 2, BIG + 3], np.uint64)),
        (np.array([BIG, BIG + 2], np.uint64), np.array([BIG + 1, BIG + 2, BIG + 3])),
        (np.array([0, 2]), np.array([1.0, 2.0, 3.0])),
        (np.array([0.0, 2.0]), np.array([1, 2, 3], np.int8)),
        (np.array([0, 2], np.int8), np.array([1, 2, 3])),
        (np.array(["a", "c"], object), np.array(["b", "c", "a long one"])),
        (np.array(["a", "c"]), np.array(["b", "c", "a long one"], object)),
        (np.array([b"a", b"c"]), np.array([b"b", b"c", b"a long one"])),
    ],
    ids=lambda labels: str(labels.dtype),
)
def test_new_labels_come_exactly_and_in_the_kind_of_the_classes(classes, more):
    model = mc.StochasticClassifier(max_epochs=3, random_state=0).fit(X[Y < 2], classes[Y[Y < 2]])
    model.add_classes(X[Y < 3], more[Y[Y < 3]])
    assert model.classes_.tolist() == sorted({*classes.tolist(), *more.tolist()})
    assert model.classes_.dtype.kind == classes.dtype.kind
    assert len(model.coef_) == len(model.intercept_) == len(model.steps_) == 4


@pytest.mark.parametrize(
    ("classes", "more", "words"),
    [
        (
            np.array([0, 1], np.int8),
            [1, 2, 300],
            "labels must be representable in the dtype of the classes, int8; got 300 at row",
        ),
        (
            np.array([0, 1], np.uint8),
            [0, 1, -1],
            "labels must be representable in the dtype of the classes, uint8; got -1 at row",
        ),
        (np.array([0, 1], np.uint64), [0, 1, -1], "the classes, uint64; got -1 at row"),
        (np.array([0.0, 1.0]), [0, 1, 2**53 + 1], f"the classes, float64; got {2**53 + 1} at row"),
        (np.array([0, 1]), [0.0, 1.0, 1e300], "the classes, int64; got 1e.300 at row"),
        (np.array([0, 1]), [0.0, 1.0, 2.0**63], "the classes, int64; got 9.22.*e.18 at row"),
        (np.array(["a", "b"]), [b"a", b"b", b"c"], "labels must be of the kind of the classes, <U1; got .S1"),
        (np.array([b"a", b"b"]), ["a", "b", "c"], "labels must be of the kind of the classes, .S1; got <U1"),
    ],
)
def test_new_labels_that_the_classes_cannot_hold_are_refused(classes, more, words):
    model = mc.StochasticClassifier(max_epochs=3, random_state=0).fit(X[Y < 2], classes[Y[Y < 2]])
    with pytest.raises(ValueError, match=words):
        model.add_classes(X[Y < 3], np.array(more)[Y[Y < 3]])
    np.testing.assert_array_equal(model.classes_, classes)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (Y != 3, "add_classes needs a row of every new class whose sample_weight is not zero; got none of the class 3"),
        (np.isin(Y, [1, 3]), "got none of the class 6"),
    ],
)
def test_a_new_class_needs_an_example_that_counts(weights, words):
    model = mc.StochasticClassifier(max_epochs=3, random_state=0).fit(X[OLD], Y[OLD])
    with pytest.raises(ValueError, match=words):
        model.add_classes(X, Y, sample_weight=weights.astype(float))


@pytest.mark.parametrize("objective", ["ovr", "multiclass", "softmax"])
def test_five_rows_of_one_new_class_alone_are_enough(objective):
    model = mc.StochasticClassifier(objective, max_epochs=10, random_state=0).fit(X[OLD], Y[OLD])
    before, coef = model.score(X[OLD], Y[OLD]), model.coef_
    new = np.flatnonzero(Y == 3)
    model.add_classes(X[new[:5]], Y[new[:5]])
    assert model.classes_.tolist() == [0, 2, 3, 4, 5, 7]
    np.testing.assert_array_equal(np.delete(model.coef_, 2, axis=0), coef)
    assert model.steps_[2] == 5
    assert model.score(X[new[5:]], Y[new[5:]]) > 0.8
    assert model.score(X[OLD], Y[OLD]) > before - 0.05


def test_negatives_of_weight_zero_are_none():
    model = mc.StochasticClassifier(max_epochs=3, random_state=0).fit(X[OLD], Y[OLD])
    twin, some = copy.deepcopy(model), OLD | (Y == 3)
    model.add_classes(X[some], Y[some], sample_weight=(Y[some] == 3).astype(float))
    np.testing.assert_array_equal(model.coef_, twin.add_classes(X[Y == 3], Y[Y == 3]).coef_)


def test_a_few_rows_beside_many_of_others_are_imprinted():
    few = OLD | (np.arange(len(Y)) < 60)
    model = mc.StochasticClassifier(objective="ovr", max_epochs=3, random_state=0).fit(X[OLD], Y[OLD])
    counts = np.bincount(Y[few])
    assert counts[[1, 3, 6]].min() < 10 == counts[[0, 2, 4, 5, 7]].mean() / 2
    twin = copy.deepcopy(model).imprint_classes(X[few], Y[few])
    np.testing.assert_array_equal(model.add_classes(X[few], Y[few]).coef_, twin.coef_)


def test_without_negatives_of_any_kind_there_is_nothing_to_tell_a_class_from():
    model = mc.StochasticClassifier(max_epochs=3, random_state=0).fit(X[OLD], Y[OLD])
    del model.negatives_
    with pytest.raises(ValueError, match=r"rows of old classes are needed .* no `negatives_`; give a hundred"):
        model.add_classes(X[Y == 3], Y[Y == 3])


@pytest.mark.parametrize(
    ("trained", "now", "words"),
    [
        (
            {"loss": "logistic"},
            {"loss": "hinge"},
            "loss must stay 'logistic' for add_classes, .*; got 'hinge'; call fit",
        ),
        (
            {"objective": "softmax"},
            {"objective": "ovr"},
            "objective must stay 'softmax' for add_classes, .*; got 'ovr'",
        ),
    ],
)
def test_classes_are_added_by_the_objective_and_loss_of_the_others(trained, now, words):
    model = mc.StochasticClassifier(max_epochs=3, random_state=0, **trained).fit(X[OLD], Y[OLD])
    with pytest.raises(ValueError, match=words):
        model.set_params(**now).add_classes(X, Y)


@pytest.mark.parametrize("objective", ["multiclass", "softmax"])
def test_machines_that_compete_are_imprinted(objective):
    (classes, coef, _), model = grown(objective=objective)
    np.testing.assert_array_equal(model.coef_[np.isin(model.classes_, classes)], coef)
    assert model.score(X[~OLD], Y[~OLD]) > 0.8


def test_nothing_grows_before_it_is_fitted():
    with pytest.raises(ValueError, match="not fitted yet"):
        mc.StochasticClassifier().add_classes(X, Y)
