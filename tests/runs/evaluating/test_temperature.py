"""calibrate, from Python."""

import numpy as np
import pytest
from cli.runs import CLASSES, rows, store

import manyclass as mc
from manyclass._core.errors import StorageError
from manyclass.estimators.uncertainty.known_classes import KnownClasses
from manyclass.runs import folder as run_folder

QUICK = {"max_epochs": 4, "step": 0.05, "beta": 3}


@pytest.fixture
def trained(tmp_path):
    return mc.runs.train(store(tmp_path / "x.store"), tmp_path / "run", **QUICK)


def test_the_temperature_is_that_of_the_classifier_on_these_rows(trained, tmp_path):
    X, y = rows()
    test = np.arange(len(y)) % 3 == 2
    labels = np.array(CLASSES)[y[test]]
    twin = trained.model.calibrate(X[test], labels)
    found = mc.runs.calibrate(trained.path, tmp_path / "x.store")
    assert found.temperature == pytest.approx(twin.temperature_, rel=1e-6)
    assert found.rows == len(labels)
    kept = mc.load(trained.path)
    assert kept.temperature_ == found.temperature
    P = kept.predict_proba(X[test])
    assert found.accuracy == pytest.approx(np.mean(kept.predict(X[test]) == labels))
    assert found.confidence == pytest.approx(P.max(axis=1).mean(), rel=1e-5)
    right = P[np.arange(len(labels)), np.searchsorted(kept.classes_, labels)]
    assert found.log_loss == pytest.approx(-np.log(right).mean(), rel=1e-5)
    np.testing.assert_array_equal(kept.predict(X), trained.model.predict(X))


def test_the_run_stays_whole_and_keeps_its_encoder_and_record(trained, tmp_path):
    before = dict(trained.record)
    mc.runs.calibrate(trained.path, tmp_path / "x.store")
    after = run_folder.read_whole_run(trained.path)
    assert after["files"]["model"]["name"] == "model-1.safetensors"
    assert sorted(path.name for path in trained.path.iterdir()) == ["model-1.safetensors", "run.json"]
    assert {**after, "files": None} == {**before, "files": None}


def test_a_model_in_a_file_is_calibrated_in_its_place(trained, tmp_path):
    trained.model.save(tmp_path / "model.safetensors")
    found = mc.runs.calibrate(tmp_path / "model.safetensors", tmp_path / "x.store", subset="test")
    assert mc.load(tmp_path / "model.safetensors").temperature_ == found.temperature


def test_rows_that_it_was_trained_on_are_told_of(trained, tmp_path):
    said = []
    mc.runs.calibrate(trained.path, tmp_path / "x.store", subset="train", warn=said.append)
    assert said == ["these rows are what it was trained on: probabilities will be too high for others"]


def test_when_the_disk_is_full_the_run_is_as_it_was(trained, tmp_path, monkeypatch):
    before = {path.name: path.read_bytes() for path in trained.path.iterdir()}

    def fail(*_):
        raise StorageError("disk full")

    monkeypatch.setattr(run_folder, "write_record", fail)
    with pytest.raises(StorageError, match="disk full"):
        mc.runs.calibrate(trained.path, tmp_path / "x.store")
    assert {path.name: path.read_bytes() for path in trained.path.iterdir()} == before


def test_data_of_other_columns_or_classes_are_refused(trained, tmp_path):
    X, y = rows()
    np.savez(tmp_path / "narrow.npz", X=X[:, :3], y=np.array(CLASSES)[y])
    with pytest.raises(ValueError, match=r"narrow\.npz must have \d+ columns"):
        mc.runs.calibrate(trained.path, tmp_path / "narrow.npz")
    np.savez(tmp_path / "other.npz", X=X, y=np.array(["zebra"] * len(y)))
    with pytest.raises(ValueError, match=r"other\.npz must hold classes among"):
        mc.runs.calibrate(trained.path, tmp_path / "other.npz")


def test_rows_that_were_learned_tell_strangers_by_their_distance(tmp_path):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(6), 40)
    X = (rng.normal(size=(6, 8))[y] + rng.normal(size=(240, 8))).astype(np.float32)
    split = np.where(np.arange(240) % 2 == 0, "train", "val")
    np.savez(tmp_path / "x.npz", X=X, y=y, split=split)
    run = mc.runs.train(tmp_path / "x.npz", tmp_path / "run", max_epochs=3)
    mc.runs.calibrate(run.path, tmp_path / "x.npz", known=tmp_path / "x.npz")
    model = mc.load(run.path)
    twin = KnownClasses.of_rows(mc.DenseMatrix(X[split == "train"]), y[split == "train"], 6)
    np.testing.assert_array_equal(model.known_classes_["within"], twin.within)
    assert len(model.held_out_["near"]) == 120
