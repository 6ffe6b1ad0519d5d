"""Every setting that cannot be is refused in one sentence."""

import numpy as np
import pytest

import manyclass as mc
from tests.estimators.problems import blobs


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("objective", "svm", "objective must be one of auto, ovr, multiclass, ranking, warp, softmax; got 'svm'"),
        ("objective", ["ovr"], "objective must be one of"),
        ("loss", "huber", "loss must be one of hinge, squared_hinge, logistic, squared; got 'huber'"),
        ("beta", 0, "beta must be 'auto', None or a positive number; got 0"),
        ("beta", "many", "beta must be 'auto', None or a positive number; got 'many'"),
        ("beta", True, "beta must be"),
        ("beta", np.nan, "beta must be"),
        ("step", "small", "step must be 'auto' or a positive number; got 'small'"),
        ("step", -1.0, "step must be 'auto' or a positive number; got -1.0"),
        ("step", np.inf, "step must be"),
        ("regularization", -0.1, "regularization must be a number, at least 0; got -0.1"),
        ("regularization", np.nan, "regularization must be"),
        ("validation_fraction", 1.0, "validation_fraction must be a number between 0 and 1; got 1.0"),
        ("validation_fraction", 0, "validation_fraction must be"),
        ("tolerance", -1, "tolerance must be a number, at least 0; got -1"),
        ("max_epochs", 0, "max_epochs must be a whole number, at least 1; got 0"),
        ("max_epochs", 2.5, "max_epochs must be"),
        ("patience", 0, "patience must be"),
        ("n_threads", 0, "n_threads must be a whole number, at least 1; got 0"),
        ("beta", np.array([1, 2]), r"beta must be 'auto', None or a positive number; got array\(\[1, 2\]\)"),
        ("step", np.array([1, 2]), "step must be 'auto' or a positive number; got array"),
        ("step_decay", "no", "step_decay must be True or False; got 'no'"),
        ("step_decay", True, "step_decay must be False without regularization, .* or a t0; got True"),
        ("t0", 30, "t0 must be None for steps of one length; got 30, so set step_decay=True"),
        ("t0", 0, "t0 must be None or a positive number; got 0"),
        ("averaging", "no", "averaging must be True or False; got 'no'"),
        ("early_stopping", "x", "early_stopping must be True or False; got 'x'"),
        ("refit", None, "refit must be True or False; got None"),
        ("sampling", True, "sampling must be one of uniform, balanced; got True"),
        ("warm_start", 1, "warm_start must be True or False; got 1"),
        ("callbacks", None, "callbacks must be a list of functions; got None"),
        ("callbacks", print, "callbacks must be a list of functions; got <built-in function print>"),
        ("callbacks", ["print"], "callbacks must be a list of functions; got \\['print'\\]"),
        ("callbacks", iter([print]), "callbacks must be a list of functions"),
        ("class_weight", np.array([1, 2]), "class_weight must be None, 'balanced' or a dictionary; got array"),
        ("class_weight", "even", "class_weight must be None, 'balanced' or a dictionary; got 'even'"),
    ],
)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_a_setting_that_cannot_be_is_named(method, name, value, words):
    X, y = blobs()
    with pytest.raises(ValueError, match=words):
        getattr(mc.StochasticClassifier(**{name: value}), method)(X, y)


@pytest.mark.parametrize("value", [np.int64(2), np.float32(2), np.inf])
def test_numbers_of_numpy_are_numbers(value):
    X, y = blobs()
    assert mc.StochasticClassifier(beta=value, max_epochs=np.int64(2), random_state=0).fit(X, y).score(X, y) > 0.5


@pytest.mark.parametrize("value", [False, True])
def test_truth_values_of_numpy_are_truth_values(value):
    X, y = blobs()
    models = (mc.StochasticClassifier(max_epochs=2, random_state=0, refit=kind(value)) for kind in (bool, np.bool_))
    one, other = (model.fit(X, y) for model in models)
    assert len(one.history_) == len(other.history_)


def test_a_ridge_too_strong_for_the_step_is_refused():
    X, y = blobs()
    with pytest.raises(ValueError, match=r"step \* regularization must be below 1; got 2 \* 1; use a smaller step"):
        mc.StochasticClassifier(step=2.0, regularization=1.0).fit(X, y)


def test_the_automatic_step_copes_with_a_strong_ridge():
    X, y = blobs()
    model = mc.StochasticClassifier(regularization=50.0, max_epochs=3, random_state=0).fit(X, y)
    assert model.step_ * 50 < 1
