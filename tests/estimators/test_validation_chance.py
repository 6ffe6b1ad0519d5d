"""Numbers that make no sense are told of, in a sentence with a way out; ordinary ones are not."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_blobs

import manyclass as mc
from manyclass.estimators import linear_model

X, Y = make_blobs(400, 10, centers=4, cluster_std=2, random_state=0)
X = ((X - X.mean(axis=0)) / X.std()).astype(np.float32)

CLASSIFIERS = {
    "ovr": lambda: mc.StochasticClassifier(random_state=0, max_epochs=10),
    "softmax": lambda: mc.StochasticClassifier("softmax", random_state=0, max_epochs=10),
    "linear": lambda: mc.LinearClassifier(max_iter=100),
    "trace": lambda: mc.TraceNormClassifier(max_iter=100),
    "path": lambda: mc.TraceNormPath(traces=3, ridges=1, max_iter=100, random_state=0),
    "kernel": lambda: mc.SharedStructureClassifier(max_iter=100),
    "rbf": lambda: mc.SharedStructureClassifier("rbf", max_iter=100),
}


def told_by(make, X, y=Y):
    """(what a fit says of the data, what part of it is right in the end)."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = make().fit(X.astype(np.float32), y)
        right = float((model.predict(X.astype(np.float32)) == y).mean())
    return [str(one.message) for one in caught if one.category is UserWarning], right


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_rows_far_from_zero_are_learned_or_told_of(name, offset):
    told, right = told_by(CLASSIFIERS[name], X + offset)
    assert right > 0.9 or any("subtract the mean" in words for words in told)
    assert told == [] or offset


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_column_that_dwarfs_the_others_is_told_of(name):
    column = 1e12 * np.random.default_rng(0).standard_normal((100, 1))
    told, _ = told_by(CLASSIFIERS[name], np.hstack([X[:100], column]), Y[:100])
    assert any("column 10 of X has all but" in words for words in told)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_no_number_of_a_model_is_nan(name):
    for strange in (X[:100] + 1e6, X[:100] * np.logspace(0, 12, 10)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scores = CLASSIFIERS[name]().fit(strange.astype(np.float32), Y[:100]).decision_function(strange)
        assert np.isfinite(scores).all()


@pytest.mark.parametrize("name", [name for name in CLASSIFIERS if name != "rbf"])  # which learns anything by heart
def test_labels_that_have_nothing_to_do_with_the_rows_are_told_of(name):
    # One column, so that there is nothing to learn by heart.
    rng = np.random.default_rng(0)
    told, _ = told_by(CLASSIFIERS[name], rng.standard_normal((600, 1)), rng.integers(0, 5, 600))
    assert any("no better than to guess one class for all" in words for words in told)


def test_weights_that_are_all_zero_are_told_of():
    told, _ = told_by(lambda: mc.TraceNormClassifier(trace=1e3), X)
    assert any("whether a penalty or a step is too large" in words for words in told)


@pytest.mark.parametrize("k", [2, 50, 700, 2000, 5000])
def test_one_class_for_all_rows_is_no_better_than_chance(k):
    """However few classes a sample has of those that there are."""
    y = np.random.default_rng(0).integers(0, k, 512)
    for size in (128, 512):
        guess = np.bincount(y[:size]).argmax()
        assert not linear_model._Guesses(y[:size], y[:size] == guess, k).is_better(2)


def test_few_rows_cannot_be_told_from_chance():
    assert told_by(lambda: mc.TraceNormClassifier(trace=1e3), X[:60], Y[:60])[0] == []


@pytest.mark.parametrize("name", ["ovr", "linear", "trace", "kernel"])
@pytest.mark.parametrize("load", [load_iris, load_digits, load_wine, load_breast_cancer])
def test_ordinary_tables_are_no_cause_for_a_warning_unless_they_suffer(name, load):
    A, b = load(return_X_y=True)
    told, right = told_by(CLASSIFIERS[name], A, b)
    assert told == [] or right < 0.8


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_model_tells_of_rows_on_another_scale_after_it_was_saved_too(name, tmp_path):
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    model = CLASSIFIERS[name]().fit(unit, Y)
    model = getattr(model, "best_", model)
    model.save(tmp_path / "model")
    for one in (model, mc.load(tmp_path / "model")):
        one.predict(unit[:1])
        with pytest.warns(UserWarning, match=r"lengths of about 20, and \w+ was fitted on rows of lengths from 1 to 1"):
            one.predict(20 * unit)
