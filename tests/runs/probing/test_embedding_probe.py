"""probe as a whole: what it finds, what it writes, and which of two embeddings it calls better."""

import json

import numpy as np
import pytest

import manyclass as mc
from manyclass.runs.records import PROBE, read_record

QUICK = {"methods": "means,closed"}


def write(path, spread=1.0, n=600, k=6, d=8, **more):
    """Embeddings of the same rows, the better the less they are spread."""
    y = np.arange(n) % k
    centers = np.random.default_rng(99).normal(size=(k, d))
    noise = np.random.default_rng(round(10 * spread)).normal(size=(n, d))
    np.savez(path, X=(centers[y] + spread * noise).astype(np.float32), y=y, **more)
    return path


@pytest.fixture
def data(tmp_path):
    return write(tmp_path / "x.npz")


def test_all_default_methods_are_judged_on_the_same_rows(data):
    found = mc.runs.probe(data)
    methods = found["embeddings"][0]["methods"]
    assert [one["name"] for one in methods] == ["means", "knn20", "knn", "closed", "ovr", "linear"]
    assert (found["rows"], found["test_rows"], found["classes"]) == (480, 120, 6)
    for one in methods:
        for key in ("top_1", "top_5", "mean_per_class"):
            assert 0 <= one[key]["low"] <= one[key]["value"] <= one[key]["high"] <= 1
        assert one["settings"]
    assert sum(one["against"] is None for one in methods) == 1
    assert found["comparison"] == []
    best = next(one for one in methods if one["against"] is None)
    assert found["verdict"].startswith(f"{best['title']}: ")


def test_accuracies_are_those_of_the_classifier_on_rows_held_out(data):
    found = mc.runs.probe(data, **QUICK, seed=3)["embeddings"][0]["methods"]
    content = np.load(data)
    X, y = content["X"], content["y"]
    test = mc.datasets.draw_splits(y, 0.2, 3) == "test"
    model = mc.SquareLossClassifier().fit(X[~test], y[~test])
    assert found[1]["top_1"]["value"] == pytest.approx(model.score(X[test], y[test]))


def test_the_better_embedding_is_called_better_and_equal_ones_cannot_be_told(tmp_path):
    good, bad = write(tmp_path / "good.npz", 0.9), write(tmp_path / "bad.npz", 2.0)
    found = mc.runs.probe(bad, good, **QUICK)
    assert found["verdict"].startswith("good is better than bad by ")
    assert [one["method"] for one in found["comparison"]] == ["best of each", "class means", "closed form"]
    assert all(one["low"] > 0 for one in found["comparison"])
    again = write(tmp_path / "again.npz", 0.9)
    assert mc.runs.probe(good, again, **QUICK)["verdict"].startswith("good and again cannot be told apart: ")


def test_the_record_is_what_was_found_and_the_same_for_the_same_seed(data, tmp_path):
    first = mc.runs.probe(data, **QUICK, shots=[1, 3], out=tmp_path / "new" / "p.json", arguments=["probe", "x"])
    assert read_record(tmp_path / "new" / "p.json", PROBE) == first
    assert first["arguments"] == ["probe", "x"]
    second = mc.runs.probe(data, **QUICK, shots="3,1")
    timed = ("fit_seconds", "predict_seconds")
    for one, other in zip(first["embeddings"][0]["methods"], second["embeddings"][0]["methods"], strict=True):
        assert {k: v for k, v in one.items() if k not in timed} == {k: v for k, v in other.items() if k not in timed}
    assert first["embeddings"][0]["shots"] == second["embeddings"][0]["shots"]
    assert json.loads(json.dumps(second))["verdict"] == first["verdict"]


def test_a_record_is_not_put_in_the_place_of_a_folder_and_nothing_is_computed(data, tmp_path):
    (tmp_path / "p").mkdir()
    with pytest.raises(mc.StorageError, match="is a folder, in whose place no file is put"):
        mc.runs.probe(data, out=tmp_path / "p")


def test_what_is_done_is_told_and_watched(data, watched):
    said = []
    mc.runs.probe(data, **QUICK, notify=said.append, progress=watched)
    assert said[0].startswith("20 % of every class are held out")
    assert [one[0] for one in watched.seen] == ["x: class means", "x: closed form"]


def test_a_sample_is_said(data):
    found = mc.runs.probe(data, **QUICK, sample=60)
    assert found["sampled"]
    assert found["rows"] == 60
    assert "a sample of at most 60 each" in found["protocol"]


def test_no_file_at_all_is_refused():
    with pytest.raises(ValueError, match="probe needs at least one file of embeddings; got none"):
        mc.runs.probe()
