"""evaluate, from Python: no command line, and nothing printed."""

import os
import threading
from contextlib import contextmanager

import numpy as np
import pytest
from cli.runs import CLASSES, rows, store

import manyclass as mc
from manyclass._core.errors import StorageError
from manyclass._core.files import FolderLock
from manyclass.datasets import Dataset
from manyclass.runs.evaluating.evaluation import evaluate_model
from manyclass.runs.records import read_record

QUICK = {"max_epochs": 4, "step": 0.05, "beta": 3}


@pytest.fixture
def trained(tmp_path):
    return mc.runs.train(store(tmp_path / "x.store"), tmp_path / "run", **QUICK)


def test_the_test_subset_is_judged_and_kept(trained, tmp_path, capsys):
    result = mc.runs.evaluate(trained.path, tmp_path / "x.store")
    assert result.path == tmp_path / "run" / "evaluations" / "x-test.json"
    kept = read_record(result.path, "evaluation")
    assert {**result.record, "data": None}.items() <= {**kept, "data": None}.items()
    X, y = rows()
    test = np.arange(len(y)) % 3 == 2
    assert result.record["top_1"] == pytest.approx(
        np.mean(trained.model.predict(X[test]) == np.array(CLASSES)[y[test]])
    )
    assert capsys.readouterr() == ("", "")


def test_other_features_of_the_same_examples_are_the_same_test(tmp_path):
    X, y = rows()
    names = np.array([f"{i}.png" for i in range(len(y))])
    marks = []
    for scale, given in ((1, names), (2, names), (1, names[::-1])):
        np.savez(tmp_path / "x.npz", X=scale * X, y=np.array(CLASSES)[y], names=given)
        run = mc.runs.train(tmp_path / "x.npz", tmp_path / "run", test_fraction=0.2, overwrite=True, **QUICK)
        marks.append(read_record(mc.runs.evaluate(run.path, tmp_path / "x.npz").path, "evaluation")["fingerprint"])
    assert marks[0] is not None
    assert marks[0] == marks[1] != marks[2]


def test_what_a_killed_evaluation_left_is_tidied_up_and_nothing_else(trained, tmp_path):
    folder = trained.path / "evaluations"
    folder.mkdir()
    for name in ("other-val.json.tmp", "x-test.json.tmp", "notes.txt.tmp", "lock"):
        (folder / name).touch()
    mc.runs.evaluate(trained.path, tmp_path / "x.store")
    assert sorted(os.listdir(folder)) == ["notes.txt.tmp", "x-test.json"]


def test_an_evaluation_is_not_written_through_a_link(trained, tmp_path):
    (tmp_path / "outside").mkdir()
    (trained.path / "evaluations").symlink_to(tmp_path / "outside")
    with pytest.raises(StorageError, match=r"run/evaluations must be a folder of the run; it is a link; remove it"):
        mc.runs.evaluate(trained.path, tmp_path / "x.store")
    assert os.listdir(tmp_path / "outside") == []


def test_a_pipe_is_not_replaced_by_an_evaluation(trained, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StorageError, match="pipe is a pipe"):
        mc.runs.evaluate(trained.path, tmp_path / "x.store", out=tmp_path / "pipe")
    assert (tmp_path / "pipe").is_fifo()


def test_the_names_of_all_folders_that_are_made_last(trained, tmp_path, monkeypatch):
    synced, fsync = set(), os.fsync
    monkeypatch.setattr(os, "fsync", lambda number: synced.add(os.fstat(number).st_ino) or fsync(number))

    def lasts(*folders):
        found = [(tmp_path / folder).stat().st_ino in synced for folder in folders]
        synced.clear()
        return all(found)

    mc.runs.train(tmp_path / "x.store", tmp_path / "new" / "more" / "run", **QUICK)
    assert lasts(".", "new", "new/more")
    mc.runs.evaluate(trained.path, tmp_path / "x.store")
    assert lasts("run", "run/evaluations")
    mc.write_store(tmp_path / "a" / "b" / "c.store", np.eye(4, dtype=np.float32))
    assert lasts(".", "a", "a/b")
    mc.runs.build_gallery(tmp_path / "x.store", tmp_path / "g" / "h" / "gallery", method="lda")
    assert lasts(".", "g", "g/h")


def test_an_evaluation_waits_for_another_that_is_being_written(trained, tmp_path):
    folder = trained.path / "evaluations"
    folder.mkdir()
    (folder / "y-test.json.tmp").touch()
    lock = FolderLock(folder)

    def written():
        seen.append((folder / "y-test.json.tmp").exists())
        (folder / "y-test.json.tmp").unlink()
        lock.release()

    seen = []
    timer = threading.Timer(0.5, written)
    timer.start()
    mc.runs.evaluate(trained.path, tmp_path / "x.store")
    timer.join()
    assert seen == [True]
    assert os.listdir(folder) == ["x-test.json"]


def test_of_a_model_file_nothing_is_written_unless_asked(trained, tmp_path):
    model = trained.path / "model-0.safetensors"
    assert mc.runs.evaluate(model, tmp_path / "x.store").path is None
    result = mc.runs.evaluate(model, tmp_path / "x.store", out=tmp_path / "deep" / "e.json")
    assert read_record(result.path, "evaluation")["rows"] == 60


def test_progress_is_a_context_that_hears_of_rows(trained, tmp_path):
    heard = []

    @contextmanager
    def progress(what, unit):
        yield lambda done, total: heard.append((what, unit, done, total))

    mc.runs.evaluate(trained.path, tmp_path / "x.store", progress=progress)
    assert heard == [("judging", "rows", 60, 60)]


def test_rows_that_made_the_model_are_a_warning(trained, tmp_path):
    with pytest.warns(UserWarning, match="these rows are what it was trained on: what it reaches on them says little"):
        mc.runs.evaluate(trained.path, tmp_path / "x.store", subset="train")


def test_the_split_that_a_run_drew_is_drawn_again(tmp_path):
    X, y = rows()
    np.savez(tmp_path / "x.npz", X=X, y=y)
    run = mc.runs.train(tmp_path / "x.npz", tmp_path / "run", test_fraction=0.2, seed=2, **QUICK)
    record = mc.runs.evaluate(run.path, tmp_path / "x.npz").record
    assert (record["data"]["part"], record["rows"]) == ("test", 36)


def _judged(X, y, coef):
    """The record of an evaluation by a classifier with these weights (k, d)."""
    model = mc.StochasticClassifier()
    model.classes_, model.coef_ = np.array(list("abc")), np.asarray(coef, np.float32)
    model.intercept_, model.n_features_in_ = np.zeros(3, np.float32), len(coef[0])
    examples = Dataset(mc.DenseMatrix(np.asarray(X, np.float32)), np.array(y))
    return evaluate_model(model, examples, np.array(y), lambda done, total: None)


def test_mistakes_are_kept_by_the_width_of_their_margin():
    X = [[4, 0, 0], [3, 0, 0], [0, 2, 0], [0, 0, 1], [0, 2.5, 0], [0, 0, 5], [0.5, 0, 0]]
    found = _judged(X, list("aabcaac"), np.eye(3))["mistakes"]
    assert [(one["name"], one["class"], one["predicted"]) for one in found] == [
        ("5", "a", "c"),
        ("4", "a", "b"),
        ("6", "c", "a"),
    ]
    assert [one["surer_than"] for one in found] == [1.0, 0.5, 0.0]  # of right rows with margins 4, 3, 2 and 1


@pytest.mark.parametrize("y", ["abc", "bca"])
def test_without_right_rows_or_without_mistakes_none_is_sure(y):
    assert _judged(np.eye(3), list(y), np.eye(3))["mistakes"] == []


def test_margins_are_the_same_however_few_scores_are_held(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 4)), rng.choice(list("abc"), 50)
    coef = rng.standard_normal((3, 4))
    whole = _judged(X, y, coef)
    monkeypatch.setattr("manyclass.runs.evaluating.evaluation._MOST_SCORES", 7)
    assert _judged(X, y, coef) == whole
    assert len(whole["mistakes"]) == 24


def test_a_confused_pair_has_a_row_of_the_second_class_that_is_right_if_there_is_one():
    pairs = _judged([[0, 1, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]], list("abbc"), np.eye(3))["confusions"]
    found = {(pair["class"], pair["predicted"]): pair["representative"] for pair in pairs}
    assert found == {("a", "b"): "2", ("b", "c"): "3", ("c", "a"): "0"}
    absent = _judged([[0, 0, 1]], ["a"], np.eye(3))["confusions"]
    assert [pair["representative"] for pair in absent] == [None]


def test_how_features_were_made_and_which_labels_were_given_is_kept(trained, tmp_path):
    X, y = rows()
    made = {"made by": "manyclass features", "source": "photos", "kind": "fisher", "seed": 3, "test_fraction": 0.5}
    mc.write_store(tmp_path / "p.store", X, y=np.array(CLASSES)[y], provenance=made)
    (tmp_path / "labels.txt").write_text("\n".join(np.array(CLASSES)[y]))
    record = mc.runs.evaluate(trained.path, tmp_path / "p.store", labels=tmp_path / "labels.txt").record
    assert record["features"] == {"source": "photos", "kind": "fisher", "seed": 3, "test_fraction": 0.5}
    assert record["labels"] == str(tmp_path / "labels.txt")
    assert mc.runs.evaluate(trained.path, tmp_path / "x.store").record["features"] is None


@pytest.mark.parametrize("odd", [{"seed": -1}, {"seed": True}, {"test_fraction": 7.0}, {"test_fraction": "x"}])
def test_odd_provenance_of_a_store_is_left_out(trained, tmp_path, odd):
    X, y = rows()
    made = {"made by": "manyclass features", "source": "photos", "kind": "fisher"} | odd
    mc.write_store(tmp_path / "p.store", X, y=np.array(CLASSES)[y], provenance=made)
    kept = mc.runs.evaluate(trained.path, tmp_path / "p.store").record["features"]
    assert kept == {"source": "photos", "kind": "fisher", "seed": None, "test_fraction": None}
