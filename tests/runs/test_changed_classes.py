"""Runs with classes more, less and by other names; the run that they are made of stays as it is."""

import numpy as np
import pytest
from cli.runs import CLASSES, rows, store

import manyclass as mc
from manyclass.runs.folder import read_whole_run
from manyclass.runs.verify_run import verify_run

QUICK = {"max_epochs": 4, "step": 0.05, "beta": 3}


@pytest.fixture
def trained(tmp_path):
    return mc.runs.train(store(tmp_path / "x.store"), tmp_path / "run", **QUICK)


@pytest.fixture
def five(tmp_path):
    """Five rows of a class that nobody knows."""
    X = np.random.default_rng(0).normal(size=(30, 8)).astype(np.float32) / 2 + 3
    np.savez(tmp_path / "five.npz", X=X[:5], y=np.repeat("zebra", 5))
    return tmp_path / "five.npz", X


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_a_class_from_five_rows(trained, five, tmp_path):
    before = files(trained.path)
    found = mc.runs.add_classes(trained.path, five[0], tmp_path / "new")
    assert (found.changed, found.classes, found.rows) == (["zebra"], 7, 5)
    model = mc.load(tmp_path / "new")
    twin = trained.model.imprint_classes(five[1][:5], np.repeat("zebra", 5))
    np.testing.assert_array_equal(model.coef_, twin.coef_)
    assert np.mean(model.predict(five[1]) == "zebra") > 0.9
    assert files(trained.path) == before
    assert mc.runs.class_sizes(tmp_path / "new") == {**dict.fromkeys(sorted(CLASSES), 20), "zebra": 5}


def test_what_was_done_is_on_record(trained, five, tmp_path):
    mc.runs.add_classes(trained.path, five[0], tmp_path / "a", arguments=["x"])
    mc.runs.remove_classes(tmp_path / "a", ["owl"], tmp_path / "b")
    mc.runs.rename_classes(tmp_path / "b", {"cat": "lynx"}, tmp_path / "c")
    first, last = read_whole_run(tmp_path / "a"), read_whole_run(tmp_path / "c")
    assert (first["command"], first["arguments"]) == ("classes", ["x"])
    assert [one["path"] for one in first["data"]] == [str(tmp_path / "x.store"), str(five[0])]
    assert first["before"] == {"path": str(trained.path), "model": trained.record["files"]["model"]["sha256"]}
    assert last["settings"]["changes"] == [f"added zebra from {five[0]}", "removed owl", "renamed cat to lynx"]
    assert [one["class"] for one in last["training"]["per_class"]] == ["ant", "bee", "dog", "fox", "lynx", "zebra"]
    assert mc.load(tmp_path / "c").classes_.tolist() == ["ant", "bee", "dog", "fox", "lynx", "zebra"]
    assert not verify_run(tmp_path / "c", lambda done, total: None)


def test_all_rows_may_be_of_one_name(trained, five, tmp_path):
    np.save(tmp_path / "five.npy", five[1][:5])
    with pytest.raises(ValueError, match="must have labels; it has none; say with `name`"):
        mc.runs.add_classes(trained.path, tmp_path / "five.npy", tmp_path / "new")
    assert mc.runs.add_classes(trained.path, tmp_path / "five.npy", tmp_path / "new", name="emu").changed == ["emu"]


def test_numbers_stay_numbers(five, tmp_path):
    X, y = rows()
    np.savez(tmp_path / "x.npz", X=X, y=y)
    run = mc.runs.train(tmp_path / "x.npz", tmp_path / "run", **QUICK)
    mc.runs.add_classes(run.path, five[0], tmp_path / "a", name="9")
    mc.runs.rename_classes(tmp_path / "a", {"9": "7"}, tmp_path / "b")
    mc.runs.remove_classes(tmp_path / "b", ["0"], tmp_path / "c")
    assert mc.load(tmp_path / "c").classes_.tolist() == [1, 2, 3, 4, 5, 7]
    with pytest.raises(ValueError, match="new names must be whole numbers"):
        mc.runs.rename_classes(tmp_path / "c", {"7": "owl"}, tmp_path / "d")
    mc.runs.rename_classes(tmp_path / "c", dict(zip("123457", "abcdef", strict=True)), tmp_path / "d")
    assert mc.load(tmp_path / "d").classes_.tolist() == list("abcdef")


def test_the_same_again_is_done_already_and_another_is_refused(trained, five, tmp_path):
    said = []
    mc.runs.add_classes(trained.path, five[0], tmp_path / "new")
    before = files(tmp_path / "new")
    mc.runs.add_classes(trained.path, five[0], tmp_path / "new", notify=said.append)
    assert said == [f"{tmp_path / 'new'} is done already"]
    with pytest.raises(ValueError, match="holds a run already"):
        mc.runs.remove_classes(trained.path, ["owl"], tmp_path / "new")
    assert files(tmp_path / "new") == before
    mc.runs.remove_classes(trained.path, ["owl"], tmp_path / "new", overwrite=True)
    assert len(mc.load(tmp_path / "new").classes_) == 5


def test_a_run_is_never_changed_in_its_place(trained, tmp_path):
    with pytest.raises(ValueError, match="must be another folder than the run that is changed"):
        mc.runs.remove_classes(trained.path, ["owl"], trained.path, overwrite=True)


def test_a_model_in_a_file_becomes_one_in_another(trained, five, tmp_path):
    trained.model.save(tmp_path / "model")
    mc.runs.add_classes(tmp_path / "model", five[0], tmp_path / "new")
    assert "zebra" in mc.load(tmp_path / "new").classes_
    assert mc.runs.class_sizes(tmp_path / "new")["zebra"] is None
    with pytest.raises(ValueError, match="is there already"):
        mc.runs.remove_classes(tmp_path / "model", ["owl"], tmp_path / "new")


def test_classes_that_are_not_there_are_named(trained, tmp_path):
    with pytest.raises(ValueError, match="must know the class 'bat'; it knows 6 others"):
        mc.runs.remove_classes(trained.path, ["bat"], tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_rows_of_another_width_are_refused(trained, tmp_path):
    np.savez(tmp_path / "five.npz", X=np.ones((5, 3)), y=np.repeat("zebra", 5))
    with pytest.raises(ValueError, match="must have 8 columns"):
        mc.runs.add_classes(trained.path, tmp_path / "five.npz", tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("objective", ["softmax", "trace", "square"])
def test_every_kind_of_run_learns_a_class(objective, five, tmp_path):
    settings = {"softmax": {"max_epochs": 5, "step": 0.5}, "trace": {"trace": 0.01, "tolerance": 0.01}}.get(
        objective, {}
    )
    run = mc.runs.train(store(tmp_path / "x.store"), tmp_path / "run", objective, **settings)
    mc.runs.add_classes(run.path, five[0], tmp_path / "new")
    assert np.mean(mc.load(tmp_path / "new").predict(five[1]) == "zebra") > 0.8


def test_an_even_prior_stays_even(five, tmp_path):
    run = mc.runs.train(store(tmp_path / "x.store"), tmp_path / "run", prior="uniform", **QUICK)
    mc.runs.remove_classes(run.path, ["owl"], tmp_path / "less")
    mc.runs.add_classes(run.path, five[0], tmp_path / "more")
    assert mc.load(tmp_path / "less").prior_.tolist() == [1 / 5] * 5
    assert mc.load(tmp_path / "more").prior_.tolist() == [1 / 7] * 7
    assert read_whole_run(tmp_path / "more")["model"]["prior"] == "uniform"


def test_a_prior_of_given_shares_stays_in_proportion_and_knows_no_new_class(five, tmp_path):
    shares = {label: 1.0 + place for place, label in enumerate(sorted(CLASSES))}
    run = mc.runs.train(store(tmp_path / "x.store"), tmp_path / "run", prior=shares, **QUICK)
    mc.runs.remove_classes(run.path, ["owl"], tmp_path / "less")
    np.testing.assert_allclose(mc.load(tmp_path / "less").prior_, np.arange(1, 6) / 15)
    told = []
    mc.runs.add_classes(run.path, five[0], tmp_path / "more", warn=told.append)
    assert "has no number for classes that are new" in told[0]
    assert not hasattr(mc.load(tmp_path / "more"), "prior_")
