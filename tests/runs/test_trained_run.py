"""A run that is done: its model, and the same again where nothing has changed."""

from functools import partial

import numpy as np
import pytest

import manyclass as mc
from manyclass.runs.folder import RunFolder
from manyclass.runs.trained_run import write_run


@pytest.fixture
def trained(tmp_path):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), 20)
    np.savez(tmp_path / "x.npz", X=rng.normal(size=(4, 8))[y] + 0.1 * rng.normal(size=(80, 8)), y=y)
    return mc.runs.train(tmp_path / "x.npz", tmp_path / "run", "square")


def again(run, model, **changed):
    said = []
    asked = {"resume": False, "overwrite": False, **changed}
    record = {key: value for key, value in run.record.items() if key not in ("files", "results")}
    outcome = {"history": [], "tuning": [], "grid": None}
    write = partial(write_run, RunFolder(run.path), record, model, outcome, (None, None), lambda: None, lambda: 1.0)
    return write(**asked, notify=said.append), said


def test_the_model_is_that_of_the_folder(trained):
    np.testing.assert_array_equal(trained.model.coef_, mc.load(trained.path).coef_)


def test_a_run_of_the_same_model_is_done_already(trained):
    record, said = again(trained, trained.model)
    assert record == trained.record
    assert said == [f"{trained.path} is done already"]


def test_a_run_of_another_model_is_refused(trained):
    other = mc.load(trained.path)
    other.coef_ = other.coef_ + 1
    with pytest.raises(ValueError, match="overwrite"):
        again(trained, other)
    np.testing.assert_array_equal(mc.load(trained.path).coef_, trained.model.coef_)
