"""Weights known before training, from the files that users have."""

import numpy as np
import pytest

import manyclass as mc
from manyclass._core.errors import SettingsError
from manyclass.runs.prior_knowledge.center_files import read_center

NAMES = np.array(["ant", "bee", "cat"])
MEANS = np.random.default_rng(9).normal(size=(3, 8))


def rows(seed, each):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(3), each)
    return (MEANS[y] + 1.5 * rng.normal(size=(len(y), 8))).astype(np.float32), NAMES[y]


@pytest.fixture
def data(tmp_path):
    X, y = rows(0, 4)
    np.savez(tmp_path / "x.npz", X=X, y=y)
    return tmp_path / "x.npz"


def test_rows_of_an_array_are_the_center(data, tmp_path):
    center = MEANS - MEANS.mean(axis=0)
    np.save(tmp_path / "text.npy", center.astype(np.float32))
    run = mc.runs.train(data, tmp_path / "run", "square", center=tmp_path / "text.npy")
    X, y = rows(0, 4)
    twin = mc.SquareLossClassifier(center=center.astype(np.float32)).fit(X, y)
    np.testing.assert_array_equal(run.model.coef_, twin.coef_)
    assert run.record["settings"]["center"] == str(tmp_path / "text.npy")
    assert run.model.center_scale_ > 0


def test_classes_of_an_older_run_go_by_name(data, tmp_path):
    X, y = rows(1, 30)
    some = y != "ant"
    np.savez(tmp_path / "old.npz", X=X[some], y=y[some])
    old = mc.runs.train(tmp_path / "old.npz", tmp_path / "old", "square")
    run = mc.runs.train(data, tmp_path / "run", "square", center=tmp_path / "old")
    np.testing.assert_array_equal(run.model.center["bee"], old.model.coef_[0].astype(np.float64))
    assert "ant" not in run.model.center
    assert mc.load(run.path).center_scale_ == run.model.center_scale_


def test_a_model_in_a_file_is_as_good(tmp_path):
    mc.SquareLossClassifier(0.1).fit(*rows(1, 30)).save(tmp_path / "model")
    assert set(read_center(tmp_path / "model")) == set(NAMES)


def test_other_objectives_have_no_center(data, tmp_path):
    np.save(tmp_path / "text.npy", MEANS)
    with pytest.raises(SettingsError, match="`center` goes with `objective='square'`"):
        mc.runs.train(data, tmp_path / "run", "softmax", center=tmp_path / "text.npy")
    assert not (tmp_path / "run").exists()


def test_what_is_not_there_or_of_another_shape_is_refused(data, tmp_path):
    with pytest.raises(FileNotFoundError, match="no file or run at"):
        mc.runs.train(data, tmp_path / "run", "square", center=tmp_path / "text.npy")
    np.save(tmp_path / "text.npy", MEANS[:2])
    with pytest.raises(ValueError, match=r"a row for each of 3 classes and 8 columns"):
        mc.runs.train(data, tmp_path / "run", "square", center=tmp_path / "text.npy")
