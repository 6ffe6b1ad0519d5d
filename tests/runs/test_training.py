"""train, from Python: no command line, and nothing printed."""

import errno
import os
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from cli.runs import CLASSES, bits, rows, store

import manyclass as mc
from manyclass._core import files
from manyclass.runs.records import read_record
from manyclass.solvers.batch.path import PathCheckpoint

QUICK = {"max_epochs": 4, "step": 0.05, "beta": 3}


@pytest.fixture
def data(tmp_path):
    return store(tmp_path / "x.store")


def test_a_run_has_a_model_and_a_record(data, tmp_path, capsys):
    run = mc.runs.train(data, tmp_path / "run", **QUICK)
    assert run.path == tmp_path / "run"
    assert run.record == read_record(tmp_path / "run" / "run.json", "run")
    assert run.record["arguments"] == []
    assert run.model.classes_.tolist() == sorted(CLASSES)
    assert capsys.readouterr() == ("", "")


def test_the_model_is_what_the_estimator_fits(data, tmp_path):
    run = mc.runs.train(str(data), str(tmp_path / "run"), "softmax", subset="all", seed=3, max_epochs=4)
    X, y = rows()
    model = mc.StochasticClassifier("softmax", max_epochs=4, random_state=3).fit(X, np.array(CLASSES)[y])
    assert bits(run.path) == model.coef_.tobytes() + model.intercept_.tobytes()


def test_it_tells_what_it_does(data, tmp_path):
    said = []
    mc.runs.train(data, tmp_path / "run", tune=["beta"], notify=said.append, max_epochs=2)
    assert said[:2] == [f"training on 120 rows of the part train of {data}", "trying the defaults"]
    assert any(words.startswith("trying beta") for words in said)


def test_callbacks_hear_of_every_epoch(data, tmp_path):
    epochs = []
    mc.runs.train(data, tmp_path / "run", callbacks=[lambda record: epochs.append(record["epoch"])], **QUICK)
    assert epochs[0] == 1
    assert len(epochs) > 2


def test_rows_without_a_label_are_a_warning(tmp_path):
    X, y = rows()
    np.savez(tmp_path / "x.npz", X=X, y=np.where(np.arange(len(y)) < 2, -1, y))
    words = f"2 rows of {tmp_path / 'x.npz'} left out, as their label is -1"
    with pytest.warns(UserWarning, match=words):
        mc.runs.train(tmp_path / "x.npz", tmp_path / "a", **QUICK)
    said = []
    run = mc.runs.train(tmp_path / "x.npz", tmp_path / "b", warn=said.append, **QUICK)
    assert (said, run.record["data"][0]["rows"]) == ([words], 178)


def test_a_folder_that_is_taken_is_refused_in_the_words_of_python(data, tmp_path):
    first = mc.runs.train(data, tmp_path / "run", **QUICK)
    with pytest.raises(ValueError, match="holds a run already; pass `overwrite=True` to replace it"):
        mc.runs.train(data, tmp_path / "run", **QUICK)
    said = []
    again = mc.runs.train(data, tmp_path / "run", resume=True, notify=said.append, **QUICK)
    assert again.record == first.record
    assert said[-1] == f"{tmp_path / 'run'} is done already"
    other = mc.runs.train(data, tmp_path / "run", overwrite=True, **{**QUICK, "beta": 2})
    assert other.record["settings"]["beta"] == 2


def test_one_goes_on_after_ctrl_c(data, tmp_path):
    def stop(record):
        if record["epoch"] == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mc.runs.train(data, tmp_path / "run", callbacks=[stop], **QUICK)
    with pytest.raises(ValueError, match="unfinished; pass `resume=True` to go on with it, or `overwrite=True`"):
        mc.runs.train(data, tmp_path / "run", **QUICK)
    mc.runs.train(data, tmp_path / "run", resume=True, **QUICK)
    mc.runs.train(data, tmp_path / "whole", **QUICK)
    assert bits(tmp_path / "run") == bits(tmp_path / "whole")


@pytest.fixture
def full_disk(monkeypatch):
    """`with full_disk("model"):` files whose names begin so cannot be written."""

    @contextmanager
    def arrange(name):
        create = files.create_file

        def refuse(path):
            if os.path.basename(path).startswith(name):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
            return create(path)

        with monkeypatch.context() as patch:
            patch.setattr(files, "create_file", refuse)
            yield

    return arrange


@pytest.mark.parametrize("file", ["model", "run.json", "tuning.json"])
def test_a_disk_that_is_full_when_a_fit_is_over_does_not_cost_the_fit(data, tmp_path, full_disk, monkeypatch, file):
    monkeypatch.setattr("manyclass.solvers.sgd.checkpoint._SECONDS", 0.0)
    monkeypatch.setattr("manyclass.solvers.sgd.checkpoint._TIMES", 0.0)
    options, epochs = {"max_epochs": 6, "step": 0.05, "tune": ["beta"] if file == "tuning.json" else []}, []

    def count(record):
        epochs.append(record["epoch"])

    mc.runs.train(data, tmp_path / "whole", callbacks=[count], **options)
    undisturbed = [*epochs]
    epochs.clear()
    with full_disk(file), pytest.raises((OSError, ValueError), match=r"(?i)no space|disk full"):
        mc.runs.train(data, tmp_path / "run", callbacks=[count], **options)
    assert epochs
    mc.runs.train(data, tmp_path / "run", resume=True, callbacks=[count], **options)
    assert epochs == undisturbed
    assert bits(tmp_path / "run") == bits(tmp_path / "whole")
    assert sorted(os.listdir(tmp_path / "run")) == ["model-0.safetensors", "run.json"]


def test_a_disk_that_is_full_when_a_path_is_over_does_not_cost_the_path(data, tmp_path, full_disk, monkeypatch):
    solved, save = [], PathCheckpoint.save
    monkeypatch.setattr(PathCheckpoint, "save", lambda *args: (solved.append(args[1]), save(*args)))
    options = {"traces": 2, "ridges": [0.01], "tolerance": 0.05}
    with full_disk("model"), pytest.raises((OSError, ValueError), match=r"(?i)no space|disk full"):
        mc.runs.train(data, tmp_path / "run", "trace", **options)
    assert solved == [0, 1]
    solved.clear()
    mc.runs.train(data, tmp_path / "run", "trace", resume=True, **options)
    assert solved == []
    mc.runs.train(data, tmp_path / "whole", "trace", **options)
    assert bits(tmp_path / "run") == bits(tmp_path / "whole")


def test_what_is_tried_after_a_kill_does_not_stumble_over_the_checkpoint_of_what_was_tried(data, tmp_path, monkeypatch):
    options, unlink = {"max_epochs": 2, "step": 0.05, "tune": ["beta"]}, Path.unlink

    def killed(path, missing_ok=False):
        if path.name.startswith("trial"):
            raise KeyboardInterrupt
        unlink(path, missing_ok)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", killed)
        with pytest.raises(KeyboardInterrupt):
            mc.runs.train(data, tmp_path / "run", **options)
    mc.runs.train(data, tmp_path / "run", resume=True, **options)
    mc.runs.train(data, tmp_path / "whole", **options)
    assert bits(tmp_path / "run") == bits(tmp_path / "whole")


@pytest.mark.parametrize("validation", ["test", "path"])
def test_validation_is_a_subset_or_a_path(data, tmp_path, validation):
    if validation == "path":
        X, y = rows(seed=1, n=10)
        validation = tmp_path / "v.npz"
        np.savez(validation, X=X, y=np.array(CLASSES)[y])
    run = mc.runs.train(data, tmp_path / "run", validation=validation, **QUICK)
    assert [(one["role"], one["rows"]) for one in run.record["data"]] == [("train", 120), ("validation", 60)]


def test_a_trace_norm_without_a_path_takes_no_validation(data, tmp_path):
    with pytest.raises(ValueError, match="`validation` does not go with `objective='trace'`, unless"):
        mc.runs.train(data, tmp_path / "run", "trace", validation="test")
    assert not (tmp_path / "run").exists()
