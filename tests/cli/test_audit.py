"""manyclass audit, as a user meets it."""

import json

import numpy as np
import pytest

import manyclass as mc


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A store of five classes, of which the label of row 7 is wrong."""
    rows = mc.datasets.low_rank_classes(200, d=16, n_classes=5, noise=0.1, random_state=0)
    X, y = rows.rows(slice(None)), rows.y.copy()
    y[7] = (y[7] + 2) % 5
    path = tmp_path_factory.mktemp("audit") / "x.store"
    split = np.where(np.arange(200) % 4 == 3, "test", "train")
    mc.write_store(path, X, y=y, classes=[f"kind {c}" for c in range(5)], split=split)
    return path


def test_the_most_suspicious_are_printed_and_a_page_can_be_made(run, data, tmp_path):
    done = run("audit", data, "-o", tmp_path / "audit")
    assert done.code == 0
    words = " ".join(done.out.split())
    assert "1 is likely wrong; 1 expected" in words
    assert "most suspicious labels" in words
    assert f"see manyclass report {tmp_path / 'audit'}" in words
    lines = done.out.splitlines()
    suspects = lines[lines.index(next(line for line in lines if line.startswith("most suspicious"))) + 2 :]
    assert suspects[0].split()[0] == "7"
    assert run("report", tmp_path / "audit", "-o", tmp_path / "a.html").code == 0
    assert "Labels that are likely wrong" in (tmp_path / "a.html").read_text()
    said = json.loads(run("info", tmp_path / "audit", "--json").out)
    assert said["counts"]["label_errors"] == 1


def test_json_is_the_record(run, data, tmp_path):
    done = run("audit", data, "-o", tmp_path / "audit", "--json")
    said = json.loads(done.out)
    assert done.err == ""
    assert said["label_errors"][0]["row"] == 7
    assert said["path"] == str(tmp_path / "audit")


def test_checks_can_be_chosen(run, data, tmp_path):
    assert run("audit", data, "-o", tmp_path / "audit", "--check", "outliers", "--check", "duplicates").code == 0
    assert {path.name for path in (tmp_path / "audit").iterdir()} == {"audit.json", "duplicates.csv", "outliers.csv"}


def test_what_is_there_is_never_replaced(run, data, tmp_path):
    (tmp_path / "audit").write_text("mine")
    done = run("audit", data, "-o", tmp_path / "audit")
    assert done.code == 1
    assert "is there already" in done.err
    assert (tmp_path / "audit").read_text() == "mine"


def test_a_wrong_threshold_is_one_sentence(run, data, tmp_path):
    done = run("audit", data, "-o", tmp_path / "audit", "--threshold", "2")
    assert done.code == 1
    assert done.err.strip().endswith("threshold must be a cosine above 0, and at most 1; got 2.0")
    assert not (tmp_path / "audit").exists()
