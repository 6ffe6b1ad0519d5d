"""Plain functions and scikit-learn's callbacks hear of every epoch, and may end the descent."""

import importlib.util
import io
import sys

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

import manyclass as mc
from manyclass.estimators import callbacks, stochastic
from tests.estimators.problems import blobs

X, Y = blobs()
needs_protocol = pytest.mark.skipif(
    importlib.util.find_spec("sklearn.callback") is None, reason="scikit-learn has callbacks from 1.9 on"
)


def model(**settings):
    return mc.StochasticClassifier(**{"max_epochs": 4, "patience": 10, "n_threads": 1, "random_state": 0, **settings})


class Listener:
    """A callback of scikit-learn's protocol that notes what it hears and may stop at an epoch."""

    def __init__(self, stop_at=None):
        self.heard, self.scores, self.stop_at = [], [], stop_at

    def setup(self, estimator, context):
        self.heard.append("setup")

    def teardown(self, estimator, context):
        self.heard.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.heard.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, X, y, fitted_estimator):
        self.heard.append(f"end {context.task_name}")
        self.scores.append(fitted_estimator.score(X, y))
        return context.task_name == "epoch" and context.task_id == self.stop_at


def epochs(n):
    return ["begin epoch", "end epoch"] * n


def test_a_function_gets_the_record_of_every_epoch():
    records = []
    fitted = model(callbacks=[records.append]).fit(X, Y)
    assert records == fitted.history_
    assert [(record["phase"], record["epoch"]) for record in records[:4]] == [("train", epoch) for epoch in range(1, 5)]
    assert {record["phase"] for record in records[4:]} == {"refit"}


def test_a_function_that_returns_true_ends_the_descent():
    fitted = model(early_stopping=False, callbacks=[lambda record: record["epoch"] == 2]).fit(X, Y)
    assert len(fitted.history_) == fitted.n_epochs_ == 2


def test_all_functions_hear_of_the_epoch_at_which_one_stops():
    records = []
    model(early_stopping=False, callbacks=[lambda record: True, records.append]).fit(X, Y)
    assert len(records) == 1


def test_after_a_function_ended_training_there_is_no_refit():
    whole = model(refit=False, max_epochs=2).fit(X, Y)
    ended = model(max_epochs=9, callbacks=[lambda record: record["epoch"] == 2]).fit(X, Y)
    assert [record["phase"] for record in ended.history_] == ["train"] * 2
    np.testing.assert_array_equal(ended.coef_, whole.coef_)


def test_a_function_that_ends_training_as_patience_does_is_heard_all_the_same():
    ended = model(patience=1, tolerance=1.0, callbacks=[lambda record: "accuracy" in record]).fit(X, Y)
    assert {record["phase"] for record in ended.history_} == {"train"}


def test_a_function_that_ends_the_refit_keeps_its_machines():
    ended = model(callbacks=[lambda record: record["phase"] == "refit"]).fit(X, Y)
    assert [record["phase"] for record in ended.history_].count("refit") == ended.n_epochs_ == 1


@needs_protocol
def test_after_a_callback_of_scikit_learn_ended_training_there_is_no_refit():
    listener = Listener(stop_at=1)
    ended = model(max_epochs=9).set_callbacks(listener).fit(X, Y)
    assert [record["phase"] for record in ended.history_] == ["train"] * 2
    assert listener.heard[-2:] == ["end fit", "teardown"]


@needs_protocol
def test_a_callback_of_scikit_learn_hears_of_tasks_in_order():
    listener = Listener()
    model(early_stopping=False).set_callbacks(listener).fit(X, Y)
    phase = ["begin train", *epochs(4), "end train"]
    assert listener.heard == ["setup", "begin fit", *phase, "end fit", "teardown"]


@needs_protocol
def test_training_and_refit_are_two_phases():
    listener = Listener()
    fitted = model().set_callbacks(listener).fit(X, Y)
    train, refit = ["begin train", *epochs(4), "end train"], ["begin refit", *epochs(fitted.n_epochs_), "end refit"]
    assert listener.heard == ["setup", "begin fit", *train, *refit, "end fit", "teardown"]


@needs_protocol
def test_a_callback_of_scikit_learn_can_score_every_epoch():
    listener = Listener()
    fitted = model(early_stopping=False).set_callbacks(listener).fit(X, Y)
    assert len(listener.scores) == 4 + 2
    assert listener.scores[-1] == fitted.score(X, Y)


@needs_protocol
def test_a_callback_of_scikit_learn_can_end_the_descent():
    listener = Listener(stop_at=1)
    fitted = model(early_stopping=False).set_callbacks(listener).fit(X, Y)
    assert fitted.n_epochs_ == 2
    phase = ["begin train", *epochs(2), "end train"]
    assert listener.heard == ["setup", "begin fit", *phase, "end fit", "teardown"]


@needs_protocol
def test_a_callback_of_scikit_learn_is_torn_down_when_fit_fails():
    listener = Listener()
    unlucky = model().set_callbacks(listener)
    with pytest.raises(ValueError, match="at least two classes"):
        unlucky.fit(X, np.zeros(len(X)))
    assert listener.heard == ["setup", "begin fit", "teardown"]
    assert not [name for name in vars(unlucky) if "callback_fit" in name or "teardown" in name]


@needs_protocol
def test_scikit_learns_progress_bar_shows_the_phases(capsys):
    pytest.importorskip("rich")
    from sklearn.callback import ProgressBar

    model().set_callbacks(ProgressBar()).fit(X, Y)
    shown = capsys.readouterr().out
    assert "StochasticClassifier - train" in shown
    assert "StochasticClassifier - refit" in shown
    assert "100%" in shown


@needs_protocol
def test_a_progress_bar_of_a_grid_search_reaches_the_classifier(capsys):
    pytest.importorskip("rich")
    from sklearn.callback import ProgressBar

    search = GridSearchCV(model(), {"beta": [1, 2]}, cv=2)
    if not hasattr(search, "set_callbacks"):
        pytest.skip("this scikit-learn's grid search has no callbacks")
    search.set_callbacks(ProgressBar()).fit(X, Y)
    assert "StochasticClassifier - train" in capsys.readouterr().out


def test_callbacks_change_no_bit_of_the_machines():
    heard = model(callbacks=[lambda record: None])
    if hasattr(heard, "set_callbacks"):
        heard.set_callbacks(Listener())
    np.testing.assert_array_equal(heard.fit(X, Y).coef_, model().fit(X, Y).coef_)


def test_an_older_scikit_learn_without_callbacks_is_no_obstacle(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.callback", None)
    spec = importlib.util.spec_from_file_location("callbacks_before", callbacks.__file__)
    before = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(before)
    assert before.CallbackSupport is before.NoCallbackSupport
    assert before.with_callbacks(len) is len
    task = before.FitTask(object(), X, Y, phases=1)
    phase = task.phase("train", 3)
    descent = type("Descent", (), {"done": False, "mean": None})()
    phase.end_epoch(descent)
    phase.finish(None)
    task.finish(None)
    assert descent.done is False


def test_the_best_machines_are_kept_unless_a_refit_replaces_them_for_sure(monkeypatch, tmp_path):
    kept = []
    run_sgd = stochastic.run_sgd

    def watch(descent, *arguments):
        run_sgd(descent, *arguments)
        kept.append(descent.weights.best is not None)

    monkeypatch.setattr(stochastic, "run_sgd", watch)
    ours = [mc.JsonLines(tmp_path / "history.jsonl"), mc.Progress(file=io.StringIO())]
    model(step=0.1, beta=2, callbacks=ours).fit(X, Y)
    model(step=0.1, beta=2, callbacks=[*ours, lambda record: None]).fit(X, Y)
    model(step=0.1, beta=2, refit=False).fit(X, Y)
    model(step=0.1, beta=2).fit(X, Y, validation=(X, Y))
    assert kept == [False, False, True, False, True, True]
