"""An audit of files: tables with the rows of the source, a record, and nothing changed."""

import csv
import json

import numpy as np
import pytest

import manyclass as mc
from manyclass.runs import auditing
from manyclass.runs.records import read_record

N = 240


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A file of eight classes: label 10 is wrong, row 239 (test) is a copy of row 0 (train), row 30 is of no class."""
    rng = np.random.default_rng(0)
    y = np.arange(N) % 8
    X = (2 * rng.normal(size=(8, 16))[y] + 0.4 * rng.normal(size=(N, 16))).astype(np.float32)
    y[10] = (y[10] + 3) % 8
    X[239], y[239] = X[0], y[0]
    X[30] = -2 * X[y != y[30]].mean(axis=0) + 3 * rng.normal(size=16)
    names = np.array([f"{i}.jpg" for i in range(N)])
    split = np.where(np.arange(N) % 5 == 4, "test", "train")
    path = tmp_path_factory.mktemp("audit") / "x.npz"
    classes = np.array([f"kind {c}" for c in range(8)])
    np.savez(path, X=X, y=y, names=names, split=split, classes=classes)
    return path


def table(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_everything_is_found_and_the_data_is_as_it_was(data, tmp_path):
    before = data.read_bytes()
    found = mc.runs.audit(data, tmp_path / "audit")
    assert data.read_bytes() == before
    names = {"audit.json", "classes.csv", "duplicates.csv", "label_errors.csv", "outliers.csv"}
    assert {path.name for path in found.path.iterdir()} == names
    first = table(found.path / "label_errors.csv")[0]
    assert list(first) == ["row", "name", "given", "proposed", "probability", "score"]
    assert (first["row"], first["name"], first["given"], first["proposed"]) == ("10", "10.jpg", "kind 5", "kind 2")
    assert float(first["probability"]) > 0.9
    pair = table(found.path / "duplicates.csv")[0]
    assert (pair["row"], pair["other"], pair["part"], pair["other_part"]) == ("0", "239", "train", "test")
    assert table(found.path / "outliers.csv")[0]["row"] == "30"
    parts = [one["part"] != one["other_part"] for one in table(found.path / "duplicates.csv")]
    assert found.record["counts"]["leaks"] == sum(parts) >= 1
    assert read_record(found.path / "audit.json", "audit") == found.record
    assert found.record["data"]["rows"] == N


def test_rows_of_a_part_have_the_numbers_of_the_whole(data, tmp_path):
    found = mc.runs.audit(data, tmp_path / "audit", subset="train", checks=["labels"])
    assert table(found.path / "label_errors.csv")[0]["row"] == "10"
    assert {path.name for path in found.path.iterdir()} == {"audit.json", "label_errors.csv"}
    assert found.record["data"]["rows"] < N


def test_without_labels_duplicates_and_outliers_are_looked_for(data, tmp_path):
    X = np.load(data)["X"]
    np.save(tmp_path / "x.npy", X)
    told = []
    found = mc.runs.audit(tmp_path / "x.npy", tmp_path / "audit", warn=told.append)
    assert {path.name for path in found.path.iterdir()} == {"audit.json", "duplicates.csv", "outliers.csv"}
    assert told == ["there are no labels, so that only duplicates and outliers were looked for"]
    assert found.record["duplicates"][0]["other_class"] is None


def test_too_many_duplicates_are_a_note_and_the_rest_is_there(tmp_path, monkeypatch):
    from functools import partial

    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    np.savez(tmp_path / "x.npz", X=np.eye(3)[y] + 0.01 * rng.normal(size=(60, 3)), y=y)
    monkeypatch.setattr(auditing, "duplicates", partial(mc.audit.duplicates, limit=10))
    told = []
    found = mc.runs.audit(tmp_path / "x.npz", tmp_path / "audit", warn=told.append)
    assert "duplicates were left out: threshold must be higher, as more than 10 pairs" in told[0]
    assert "duplicates" not in found.record["counts"]
    assert (tmp_path / "audit" / "label_errors.csv").exists()


def test_a_folder_that_is_there_is_refused_before_anything_is_done(data, tmp_path):
    (tmp_path / "audit").mkdir()
    (tmp_path / "audit" / "mine.txt").write_text("mine")
    with pytest.raises(ValueError, match="is there already, and nothing is put in its place"):
        mc.runs.audit(data, tmp_path / "audit")
    assert [path.name for path in (tmp_path / "audit").iterdir()] == ["mine.txt"]


def test_without_a_folder_nothing_is_written(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = mc.runs.audit(data, checks=["outliers"])
    assert found.path is None
    assert list(tmp_path.iterdir()) == []
    json.dumps(found.record)


def test_an_unknown_check_is_one_sentence(data):
    with pytest.raises(ValueError, match="checks must be one of labels, duplicates, outliers, classes; got 'x'"):
        mc.runs.audit(data, checks=["x"])


def spoiled(data, path, **changes):
    """The same file with some of its arrays changed."""
    kept = {name: array for name, array in np.load(data).items() if name != "classes"}
    np.savez(path, **kept | changes)
    return path


def test_rows_without_a_label_leak_too(data, tmp_path):
    arrays = np.load(data)
    y = np.where(arrays["split"] == "test", "", arrays["classes"][arrays["y"]])
    told = []
    found = mc.runs.audit(spoiled(data, tmp_path / "x.npz", y=y), tmp_path / "audit", warn=told.append)
    assert told == ["48 rows without a label took part in duplicates alone"]
    assert found.record["counts"]["leaks"] >= 1
    pair = table(found.path / "duplicates.csv")[0]
    assert (pair["row"], pair["other"]) == ("0", "239")
    assert found.record["counts"]["labels"] == N - 48
    assert table(found.path / "label_errors.csv")[0]["row"] == "10"
    outlier = table(found.path / "outliers.csv")[0]
    assert (outlier["row"], outlier["class"]) == ("30", "kind 6")


def test_labels_of_one_class_leave_duplicates_and_outliers(data, tmp_path):
    told = []
    one = spoiled(data, tmp_path / "x.npz", y=np.zeros(N, int))
    found = mc.runs.audit(one, tmp_path / "audit", warn=told.append)
    assert told == ["labels are not of two classes, so that only duplicates and outliers were looked for"]
    assert {path.name for path in found.path.iterdir()} == {"audit.json", "duplicates.csv", "outliers.csv"}
    with pytest.raises(ValueError, match="must have labels of two classes or more to look for labels and classes"):
        mc.runs.audit(one, checks=["labels", "classes"])


def test_a_threshold_is_refused_before_anything_is_read(tmp_path):
    with pytest.raises(ValueError, match="threshold must be a cosine above 0"):
        mc.runs.audit(tmp_path / "missing.npz", threshold=2)
