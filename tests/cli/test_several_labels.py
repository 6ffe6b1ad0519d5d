"""manyclass train, evaluate and predict on rows with several labels."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from manyclass.cli._app import app


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place, rng = tmp_path_factory.mktemp("tags"), np.random.default_rng(0)
    Y = rng.random((200, 4)) < [0.5, 0.4, 0.3, 0.2]
    np.save(place / "x.npy", (2 * Y @ rng.normal(size=(4, 10)) + rng.normal(size=(200, 10))).astype(np.float32))
    words = np.array(["red", "green", "blue", "gray"])
    with (place / "x_labels.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["name", "label"], *([f"{i}", "|".join(words[row])] for i, row in enumerate(Y))])
    given = ["train", str(place / "x.npy"), "-o", str(place / "run"), "--objective", "square", "--label-separator", "|"]
    assert CliRunner().invoke(app, [*given, "--test-fraction", "0.3", "--quiet"]).exit_code == 0
    return place


def run(*words):
    found = CliRunner().invoke(app, list(map(str, words)))
    assert found.exit_code == 0, found.output
    return found.stdout


def test_an_evaluation_tells_f1_and_precision(folder):
    told = run("evaluate", folder / "run", folder / "x.npy", "--quiet")
    for words in ("F1, micro", "F1, macro", "mean average precision", "precision at 3", "propensity-scored"):
        assert words in told
    record = json.loads(run("evaluate", folder / "run", folder / "x.npy", "--json"))
    assert record["multilabel"]["micro_f1"] > 0.8


def test_all_labels_above_their_thresholds_are_told(folder):
    lines = [json.loads(line) for line in run("predict", folder / "run", folder / "x.npy", "--json").splitlines()]
    counts = {len(one["classes"]) for one in lines}
    assert {0, 1, 2} <= counts
    assert all(one["probabilities"] == sorted(one["probabilities"], reverse=True) for one in lines)
    assert "unsure" not in lines[0]
    assert "no label" in run("predict", folder / "run", folder / "x.npy")
    run("predict", folder / "run", folder / "x.npy", "-o", folder / "out.csv")
    with (folder / "out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["labels"] for row in rows] == [";".join(one["classes"]) for one in lines]
    assert list(rows[0]) == ["name", "labels", "probabilities"]


def test_a_report_shows_them(folder):
    run("evaluate", folder / "run", folder / "x.npy", "--quiet")
    run("report", folder / "run", "-o", folder / "report.html")
    text = (folder / "report.html").read_text()
    assert "Several labels per row" in text
    assert "micro F1" in text


@pytest.mark.parametrize(
    ("command", "option", "value"),
    [
        ("predict", "coverage", "0.1"),
        ("predict", "unknown", "0.1"),
        ("predict", "taxonomy", "tree.csv"),
        ("predict", "prior", "uniform"),
        ("evaluate", "prior", "uniform"),
    ],
)
def test_what_is_for_one_label_is_refused_in_a_sentence(folder, monkeypatch, command, option, value):
    monkeypatch.chdir(folder)
    (folder / "tree.csv").write_text("child,parent\nred,warm\ngreen,all\nblue,all\ngray,all\nwarm,all\n")
    found = CliRunner().invoke(app, [command, "run", "x.npy", f"--{option}", value])
    assert found.exit_code == 1
    assert f"--{option} is for one label per row" in found.stderr


def test_a_head_of_them_is_refused_and_not_written(folder):
    found = CliRunner().invoke(app, ["compress", str(folder / "run"), "-o", str(folder / "head")])
    assert found.exit_code == 1
    assert "one label per row" in found.stderr
    assert not (folder / "head").exists()


def test_rows_without_any_label_are_nothing_to_judge_by(folder):
    (folder / "none.csv").write_text("name,label\n" + "".join(f"{i},\n" for i in range(200)))
    given = ["evaluate", str(folder / "run"), str(folder / "x.npy"), "--labels", str(folder / "none.csv")]
    found = CliRunner().invoke(app, given)
    assert found.exit_code == 1
    assert "no row has any" in found.stderr
