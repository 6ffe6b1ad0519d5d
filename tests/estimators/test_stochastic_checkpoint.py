"""StochasticClassifier(checkpoint=...): fit again with the same data and settings, and it goes on where it was."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.estimators import stochastic
from manyclass.estimators.callbacks import FitTask
from manyclass.solvers.sgd import tuning
from manyclass.solvers.sgd.checkpoint import Checkpoint
from tests.estimators import checkpoint_child as child

QUICK = {"step": 0.05, "beta": 3.0, "max_epochs": 5}
X, Y = child.data()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "fit.checkpoint"


def interrupted_after(epochs, seen=None):
    """A callback that lets so many epochs pass."""
    seen = [] if seen is None else seen

    def callback(record):
        seen.append(record)
        if len(seen) > epochs:
            raise KeyboardInterrupt

    return callback


def interrupt(path, epochs, **settings):
    with pytest.raises(KeyboardInterrupt):
        child.fit(path, callbacks=[interrupted_after(epochs)], **{**QUICK, **settings})


@pytest.mark.parametrize("epochs", range(8))
def test_no_epoch_is_run_twice_and_none_is_left_out(path, epochs):
    whole = child.fit(**QUICK)
    interrupt(path, epochs)
    seen = []
    again = child.fit(path, callbacks=[seen.append], **QUICK)
    assert [(r["phase"], r["epoch"]) for r in seen] == [(r["phase"], r["epoch"]) for r in whole.history_[epochs:]]
    assert [r["loss"] for r in again.history_] == [r["loss"] for r in whole.history_]
    assert child.bits(again) == child.bits(whole)
    assert (again.n_epochs_, again.step_, again.beta_) == (whole.n_epochs_, whole.step_, whole.beta_)
    assert again.temperature_ == whole.temperature_
    for name, values in whole.held_out_.items():  # what was said before the refit, which may come after a kill
        np.testing.assert_array_equal(again.held_out_[name], values)


def test_what_tuning_found_is_not_sought_again(path, monkeypatch):
    interrupt(path, 1, step="auto", beta="auto")
    whole = child.fit(max_epochs=5)
    monkeypatch.setattr(tuning, "find_plan", None)
    again = child.fit(path, max_epochs=5)
    assert (again.step_, again.beta_, child.bits(again)) == (whole.step_, whole.beta_, child.bits(whole))


def test_a_fit_that_ends_removes_its_checkpoint(path):
    child.fit(path, **QUICK)
    assert list(path.parent.iterdir()) == []


def test_a_seed_that_was_drawn_is_kept(path, monkeypatch):
    interrupt(path, 3, random_state=None)
    seed = Checkpoint(path).run.seed
    again = child.fit(path, **QUICK, random_state=None)
    monkeypatch.setattr(stochastic, "draw_seed", lambda random_state: seed)
    assert child.bits(again) == child.bits(child.fit(**QUICK))


def enough(record):
    """A callback that ends training after two epochs."""
    return record["phase"] == "train" and record["epoch"] == 2


def test_killed_after_a_callback_ended_training_it_does_no_more(path, monkeypatch):
    settings = {**QUICK, "max_epochs": 50}
    whole = child.fit(**settings, callbacks=[enough])
    with monkeypatch.context() as patch:
        patch.setattr(FitTask, "finish", interrupt_at_the_end)
        with pytest.raises(KeyboardInterrupt):
            child.fit(path, **settings, callbacks=[enough])
    again = child.fit(path, **settings)
    assert [record["phase"] for record in again.history_] == ["train"] * 2
    assert child.bits(again) == child.bits(whole)


def interrupt_at_the_end(task, machines):
    raise KeyboardInterrupt


def test_killed_between_the_last_epoch_of_training_and_the_refit_it_trains_no_further(path, monkeypatch):
    settings = {**QUICK, "max_epochs": 50, "patience": 1, "tolerance": 1.0}
    whole = child.fit(**settings)
    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "write", fails_at_the_refit(Checkpoint.write))
        with pytest.raises(KeyboardInterrupt):
            child.fit(path, **settings)
    assert Checkpoint(path).run.phase == "train"
    assert child.bits(child.fit(path, **settings)) == child.bits(whole)


def fails_at_the_refit(write):
    def guarded(checkpoint, **when):
        if checkpoint.run.phase == "refit":
            raise KeyboardInterrupt
        write(checkpoint, **when)

    return guarded


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"patience": 3}, "patience"),
        ({"random_state": 1}, "random_state"),
        ({"loss": "logistic", "objective": "softmax"}, "loss, objective"),
        ({"class_weight": "balanced", "regularization": 0.5}, "regularization"),
        ({"class_weight": {0: 2.0}}, "weights"),
    ],
)
def test_other_settings_are_refused_by_name_and_the_file_is_kept(path, changes, named):
    interrupt(path, 2)
    before = path.read_bytes()
    with pytest.raises(
        ValueError, match=f"belongs to another fit, which differs in .*{named}.*; fit with the same"
    ) as caught:
        child.fit(path, **{**QUICK, **changes})
    assert str(path) in str(caught.value)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("rows", "labels", "validation", "named"),
    [
        (X + 1, Y, None, "X"),
        (X[:-1], Y[:-1], None, "X, y"),
        (X, Y[::-1], None, "y"),
        (X, Y + 1, None, "the names of classes"),
        (X, Y, (X, Y), "validation"),
    ],
)
def test_other_data_are_refused_by_name_and_the_file_is_kept(path, rows, labels, validation, named):
    interrupt(path, 2)
    before = path.read_bytes()
    model = mc.StochasticClassifier(**{**child.SETTINGS, **QUICK}, checkpoint=path)
    with pytest.raises(ValueError, match=f"belongs to another fit, which differs in {named}"):
        model.fit(rows, labels, validation=validation)
    assert path.read_bytes() == before


def test_a_damaged_checkpoint_is_refused_and_kept(path):
    interrupt(path, 2)
    broken = bytearray(path.read_bytes())
    broken[-5] ^= 4
    path.write_bytes(broken)
    with pytest.raises(ValueError, match=r"fit\.checkpoint is damaged: .*; remove the file to begin anew"):
        child.fit(path, **QUICK)
    assert path.read_bytes() == broken


def test_a_model_is_not_taken_for_a_checkpoint(path):
    child.fit(**QUICK).save(path)
    with pytest.raises(ValueError, match="must hold a manyclass checkpoint; it holds a manyclass model"):
        child.fit(path, **QUICK)
    assert mc.load(path).coef_.shape == (12, 8)


def test_a_warm_start_goes_on_from_its_own_checkpoint(path):
    def warm(**more):
        model = child.fit(**QUICK)
        return model.set_params(warm_start=True, **more)

    whole = warm().fit(X, Y)
    with pytest.raises(KeyboardInterrupt):
        warm(checkpoint=path, callbacks=[interrupted_after(2)]).fit(X, Y)
    assert child.bits(warm(checkpoint=path).fit(X, Y)) == child.bits(whole)


def test_a_warm_start_from_other_machines_is_refused(path):
    model = child.fit(**QUICK).set_params(warm_start=True, checkpoint=path, callbacks=[interrupted_after(2)])
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    model.coef_ = np.ones_like(model.coef_)
    with pytest.raises(ValueError, match="differs in the machines it starts from"):
        model.fit(X, Y)


def test_what_a_callback_writes_into_its_record_goes_nowhere(tmp_path):
    X, y = child.data()

    def scribble(record):
        record["mine"] = object()

    clf = mc.StochasticClassifier(max_epochs=3, random_state=0, callbacks=[scribble], checkpoint=tmp_path / "c").fit(
        X, y
    )
    assert all("mine" not in record for record in clf.history_)
