"""What fails or is interrupted leaves the classifier as it was."""

import numpy as np
import pytest
from estimators.problems import blobs

import manyclass as mc

X, Y = blobs(k=5)
X2, Y2 = blobs(k=7, d=9, seed=1)


def interrupt(record):
    if record["epoch"] == 2:
        raise KeyboardInterrupt


def test_an_interrupted_first_fit_leaves_it_unfitted():
    model = mc.StochasticClassifier(callbacks=[interrupt], random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert not [name for name in vars(model) if name.endswith("_") or name.startswith("_")]


def test_an_interrupted_fit_leaves_the_machines_of_the_last():
    model = mc.StochasticClassifier(random_state=0).fit(X, Y)
    before, scores = dict(vars(model)), model.decision_function(X)
    model.callbacks = [interrupt]
    with pytest.raises(KeyboardInterrupt):
        model.fit(X2, Y2)
    model.callbacks = ()
    assert all(vars(model)[name] is value for name, value in before.items())
    assert vars(model).keys() == before.keys()
    np.testing.assert_array_equal(model.decision_function(X), scores)


FAILURES = {
    "fit": lambda model: model.fit(X2, np.zeros(len(X2))),
    "fit with a bad validation set": lambda model: model.fit(X2, Y2, validation=(X2, Y2 + 1)),
    "fit with too large a step": lambda model: model.set_params(step=1e30, loss="squared").fit(X, Y),
    "partial_fit": lambda model: model.partial_fit(X, Y + 1),
    "partial_fit with too large a step": lambda model: model.set_params(step=1e30, loss="squared").partial_fit(X, Y),
    "add_classes": lambda model: model.add_classes(X, Y),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_a_failure_leaves_machines_and_classes(failure):
    model = mc.StochasticClassifier(max_epochs=3, random_state=0).fit(X, Y)
    classes, coef, columns = model.classes_, model.coef_.copy(), model.n_features_in_
    with pytest.raises((ValueError, FloatingPointError)):
        FAILURES[failure](model)
    np.testing.assert_array_equal(model.coef_, coef)
    assert model.classes_ is classes
    assert model.n_features_in_ == columns


def test_records_that_were_appended_before_a_failure_are_taken_back(monkeypatch):
    model = mc.StochasticClassifier(random_state=0).partial_fit(X, Y, classes=range(5)).partial_fit(X, Y)
    history = model.history_
    before = list(history)
    monkeypatch.setattr(mc.StochasticClassifier, "_learn", lambda *_: exec("raise KeyboardInterrupt"))
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X, Y)
    assert model.history_ is history
    assert history == before


def test_a_failed_batch_leaves_the_batches_before():
    model = mc.StochasticClassifier(random_state=0).partial_fit(X, Y, classes=range(5))
    twin = mc.StochasticClassifier(random_state=0).partial_fit(X, Y, classes=range(5))
    with pytest.raises(ValueError, match="labels must be among"):
        model.partial_fit(X, Y + 1)
    np.testing.assert_array_equal(model.partial_fit(X, Y).coef_, twin.partial_fit(X, Y).coef_)
