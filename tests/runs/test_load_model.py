"""Models by the paths that users give: the classifier of a run or a file, and what does not go with it."""

import shutil

import numpy as np
import pytest
from cli.runs import CLASSES, bits, rows, store

import manyclass as mc
from manyclass.runs import load_model
from manyclass.runs.load_model import (
    check_columns,
    check_labels,
    describe_model,
    is_model,
    load_run_file,
    open_classifier,
    open_encoder,
)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("load")
    store(folder / "x.store")
    return mc.runs.train(folder / "x.store", folder / "run", max_epochs=2, step=0.05, beta=3)


@pytest.fixture
def encoder(tmp_path):
    mc.WhitenedPCA().fit(rows()[0]).save(tmp_path / "pca")
    return tmp_path / "pca"


def test_a_run_and_the_file_in_it_are_the_same_model(run):
    opened = [open_classifier(path) for path in (run.path, run.path / "model-0.safetensors")]
    assert {one.sha256 for one in opened} == {run.record["files"]["model"]["sha256"]}
    assert [one.run for one in opened] == [run.record, None]
    models = [one.model for one in opened]
    assert models[0].coef_.tobytes() == models[1].coef_.tobytes() == run.model.coef_.tobytes()


def test_nothing_at_a_path_is_told(tmp_path):
    with pytest.raises(FileNotFoundError, match=f"no run or model at {tmp_path / 'x'}"):
        open_classifier(tmp_path / "x")


def test_a_folder_that_is_no_run_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"must be a folder that manyclass train made, .*; it has no run\.json"):
        open_classifier(tmp_path)


def test_a_run_without_its_model_is_damaged(run, tmp_path):
    (tmp_path / "run.json").write_bytes((run.path / "run.json").read_bytes())
    with pytest.raises(mc.StoreCorruptedError, match=r"is damaged: model-0\.safetensors is missing; restore that file"):
        open_classifier(tmp_path)


def test_what_is_no_classifier_is_named(encoder):
    with pytest.raises(ValueError, match="must hold a classifier; it holds a WhitenedPCA"):
        open_classifier(encoder)


def test_rows_of_another_width_are_refused(run, tmp_path):
    check_columns(run.model, run.path, np.zeros((0, 8)), tmp_path)
    with pytest.raises(ValueError, match=r"must have 8 columns, as the data of .* had; got 7"):
        check_columns(run.model, run.path, np.zeros((0, 7)), tmp_path)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (["cat", "yak"], "must hold classes among the 6 that .* knows; got 'yak'$"),
        (["yak", "elk", "cat", "gnu"], "got 'elk' and 2 more"),
        ([1, 2], "must label its rows by names such as 'ant', .*; got numbers such as 1; give others with `labels`"),
    ],
)
def test_labels_that_the_model_does_not_know_are_refused(run, tmp_path, y, words):
    check_labels(run.model, run.path, np.array(CLASSES[:2]), tmp_path)
    with pytest.raises(ValueError, match=words):
        check_labels(run.model, run.path, np.array(y), tmp_path)


def test_images_need_an_encoder_of_images_that_fits(run, encoder):
    with pytest.raises(ValueError, match=r"images need the encoder .* which has none; give its file with `encoder`"):
        open_encoder(run.path, None, open_classifier(run.path))
    with pytest.raises(ValueError, match="must hold an encoder of images; it holds a WhitenedPCA"):
        open_encoder(run.path, encoder, open_classifier(run.path))


def test_a_file_is_a_model_by_how_it_begins(run, tmp_path):
    (tmp_path / "x").write_bytes(b"")
    assert is_model(run.path / "model-0.safetensors")
    assert not any(is_model(path) for path in (run.path, run.path / "run.json", tmp_path / "x", tmp_path / "y"))


def test_a_store_stands_for_the_encoder_of_its_pictures(run, tmp_path):
    mc.write_store(tmp_path / "x.store", np.eye(3))
    with pytest.raises(
        ValueError, match=r"`encoder` must be the file of an encoder, or a store that holds one; .* none"
    ):
        open_encoder(run.path, tmp_path / "x.store", open_classifier(run.path))


def test_there_is_something_to_say_of_classifiers_and_encoders(run, encoder):
    classifier, other = describe_model(run.path / "model-0.safetensors"), describe_model(encoder)
    assert (classifier["estimator"], classifier["classes"]) == ("StochasticClassifier", 6)
    assert other["estimator"] == "WhitenedPCA"
    assert other["bytes"] == encoder.stat().st_size


@pytest.fixture
def copied(run, tmp_path):
    """A copy of the run."""
    shutil.copytree(run.path, tmp_path / "copy")
    return tmp_path / "copy"


def test_a_folder_or_a_file_is_loaded(copied, run):
    assert bits(copied) == bits(run.path) == bits(copied / "model-0.safetensors") == bits(str(copied))
    with pytest.raises(FileNotFoundError, match="no run or model at"):
        mc.load(copied / "missing")


def test_a_run_that_is_replaced_while_it_is_opened_is_the_new_one(copied, run, monkeypatch):
    calls = []

    def replaced(folder, record, role):
        calls.append(record["seed"])
        if len(calls) == 1:
            mc.runs.train(run.record["data"][0]["path"], copied, seed=1, overwrite=True, max_epochs=2)
        return load_run_file(folder, record, role)

    monkeypatch.setattr(load_model, "load_run_file", replaced)
    opened = open_classifier(copied)
    assert calls == [0, 1]
    assert opened.run["seed"] == 1
    assert opened.sha256 == opened.run["files"]["model"]["sha256"] != run.record["files"]["model"]["sha256"]
