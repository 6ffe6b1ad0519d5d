"""manyclass probe, as a user meets it."""

import json

import numpy as np
import pytest
from cli.runs import rows, store

from manyclass.runs.records import PROBE, read_record

QUICK = ("--methods", "means,closed", "--quiet")


@pytest.fixture
def data(tmp_path):
    return store(tmp_path / "x.store")


def test_a_table_shows_every_method_with_intervals_costs_and_the_verdict(run, data):
    done = run("probe", data, "--methods", "means,knn20,closed", "--shots", "1,5")
    assert done.code == 0
    for words in ("class means", "20 neighbors", "closed form", "mean per class", "metric ", "regularization ", "kB"):
        assert words in done.out
    assert "the split of the data, judged by its part test; 120 rows to learn from and 60 to judge by" in done.err
    assert "examples of a class" in done.out
    assert " % [" in done.out.splitlines()[-1]


def test_two_files_are_compared_row_by_row(run, data, tmp_path):
    noise = np.random.default_rng(0).standard_normal((180, 8), np.float32)
    np.savez(tmp_path / "noise.npz", X=noise, y=np.repeat(["owl", "cat", "dog", "bee", "ant", "fox"], 30))
    done = run("probe", tmp_path / "noise.npz", data, *QUICK)
    assert done.code == 0
    assert "x less noise: top-1 in points, on the same rows" in done.out
    assert done.out.splitlines()[-1].startswith("x is better than noise by ")


def test_json_is_one_object_and_the_record_is_written(run, data, tmp_path):
    done = run("probe", data, *QUICK, "--json", "-o", tmp_path / "p.json")
    found = json.loads(done.out)
    assert found.pop("path") == str(tmp_path / "p.json")
    assert found == read_record(tmp_path / "p.json", PROBE)
    assert found["arguments"][0] == "probe"


def test_a_report_has_a_section_for_it(run, data, tmp_path):
    run("probe", data, *QUICK, "--shots", "1,2", "-o", tmp_path / "p.json")
    done = run("report", tmp_path / "p.json", "-o", tmp_path / "page.html", "--json")
    assert "How good the embeddings are" in json.loads(done.out)["sections"]
    text = (tmp_path / "page.html").read_text()
    assert "class means" in text
    assert "top-1 accuracy by the number of examples of a class" in text


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--methods", "svm"), 2, "--methods must be some of means, knn20, "),
        (("--shots", "0"), 2, "--shots must be whole numbers from 1 on"),
        (("--sample", "3"), 2, "--sample must be at least 6, a row of every class"),
        (("--test-fraction", "0.5"), 1, "--test-fraction is for data without parts"),
        (("-o", "."), 1, "is a folder, in whose place no file is put"),
    ],
)
def test_wrong_options_end_in_one_sentence(run, data, options, code, said):
    done = run("probe", data, *QUICK, *options)
    assert done.code == code
    assert said in " ".join(done.err.replace("│", " ").split())
    assert done.out == ""


def test_data_without_labels_and_other_rows_are_refused(run, data, tmp_path):
    np.save(tmp_path / "x.npy", rows()[0])
    done = run("probe", tmp_path / "x.npy", *QUICK)
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "must have labels; it has none; give a file of them with --labels" in done.err
    np.savez(tmp_path / "y.npz", X=rows()[0][::-1], y=rows()[1][::-1])
    done = run("probe", data, tmp_path / "y.npz", *QUICK)
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "in the same order to be compared with it; row 0 has the label 'owl' there and '5' here" in done.err
