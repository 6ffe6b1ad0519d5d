"""What was learned: means, the closed form, or a run that is there."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.data.dense import DenseMatrix
from manyclass.runs.labeling.learned_model import LearnedModel, class_probabilities, learn
from manyclass.runs.labeling.picture_space import PictureSpace

CLASSES = ["ant", "bee", "cat", "dog"]


@pytest.fixture
def data(rows):
    return rows(each=100, spread=0.5)


@pytest.fixture
def space(data):
    return PictureSpace(DenseMatrix(data.X), 1000, 0)


def test_few_labels_are_learned_by_means(data, space):
    few, rest = np.arange(20), np.arange(20, 400)
    found = learn(space, few, data.y[few], CLASSES, rest)
    assert found.kind == "means"
    assert found.held_out.shape == (20, 4)
    assert np.mean(found.probabilities(rest, space.X).argmax(axis=1) == data.y[rest]) > 0.9


def test_many_labels_are_learned_by_the_closed_form_where_that_is_better(rows):
    # Two groups each make a class, so that the mean of a class lies where nothing is.
    data = rows(k=6, each=200, d=40, spread=0.3)
    y = np.array([0, 0, 1, 1, 2, 2])[data.y]
    X = data.X + 2 * data.X[np.flatnonzero(data.y == 0)[0]]
    found = learn(PictureSpace(DenseMatrix(X), 2000, 0), np.arange(1200), y, CLASSES[:3], np.arange(0))
    assert found.kind == "square"
    assert found.accuracy > 0.9


def test_the_run_is_used_as_long_as_it_is_right_more_often(data, space):
    good = mc.SquareLossClassifier().fit(data.X, np.array(CLASSES)[data.y])
    bad = mc.SquareLossClassifier().fit(data.X, np.array(CLASSES)[(data.y + 1) % 4])
    few = np.arange(12)
    assert learn(space, few, data.y[few], CLASSES, np.arange(0), good).kind == "run"
    assert learn(space, few, data.y[few], CLASSES, np.arange(0), bad).kind == "means"


def test_a_run_is_judged_by_what_it_cannot_have_learned(rows):
    # It has half of three classes by heart, and lacks the fourth, of which there are ten labels now.
    data = rows(k=4, each=60, d=200, spread=3.0)
    old = np.flatnonzero((data.y < 3) & (np.arange(240) % 2 == 0))
    run = mc.SquareLossClassifier(1e-3).fit(data.X[old], np.array(CLASSES)[data.y[old]])
    assert (run.predict(data.X[old]) == np.array(CLASSES)[data.y[old]]).mean() > 0.99
    some = np.sort(np.concatenate([old, np.flatnonzero(data.y == 3)[:10]]))
    space, new = PictureSpace(DenseMatrix(data.X), 1000, 0), data.y[some] == 3
    given = space, some, data.y[some], CLASSES, np.arange(0), run
    assert learn(*given).kind == "run"
    assert learn(*given, new=new).kind != "run"


def test_what_is_saved_predicts_what_is_proposed(data, space, tmp_path):
    few = np.arange(60)
    found = learn(space, few, data.y[few], CLASSES, np.arange(60, 400))
    classifier = found.classifier(np.bincount(data.y[few]))
    classifier.save(tmp_path / "model.safetensors")
    again = mc.load(tmp_path / "model.safetensors")
    best = found.probabilities(np.arange(400), space.X).argmax(axis=1)
    assert (again.predict(data.X) == np.array(CLASSES)[best]).all()
    P = again.predict_proba(data.X)
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-5)
    assert again.class_counts_.sum() == 60


def test_what_is_saved_can_learn_a_further_class(data, space):
    some = np.flatnonzero(data.y < 3)
    classifier = learn(space, some, data.y[some], CLASSES[:3], np.arange(0)).classifier(np.bincount(data.y[some]))
    new = np.flatnonzero(data.y == 3)
    classifier.imprint_classes(data.X[new[:20]], np.array(["dog"] * 20))
    assert np.mean(classifier.predict(data.X[new]) == "dog") > 0.8


def test_a_single_class_has_no_classifier(data, space):
    assert learn(space, np.arange(3), np.zeros(3, np.intp), ["ant"], np.arange(0)).classifier(np.array([3])) is None


def test_a_classifier_that_knows_no_probabilities_has_some_all_the_same(data):
    two = data.y < 2
    for rows, labels in ((data.X, data.y), (data.X[two], data.y[two])):
        classifier = mc.NearestCentroid().fit(rows, labels)
        P = class_probabilities(classifier, DenseMatrix(rows))
        np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-5)
        assert (classifier.classes_[P.argmax(axis=1)] == classifier.predict(rows)).all()
    assert LearnedModel.of_run(classifier).classes == ["0", "1"]
