"""Commands of advice: they name what is there, quote what they name, and work when they are given to a shell."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from cli.runs import CLASSES, rows, store

import manyclass as mc
from manyclass.report.advice import advise
from manyclass.report.commands import judge_run, keep_a_test, learn_by_network, swap_parts, train_again
from manyclass.report.report_data import collect
from tests.commands import give
from tests.report.synthetic import evaluation_record, run_record

NOWHERE = {"labels": None, "features": None}


@pytest.fixture
def trained(tmp_path, monkeypatch):
    """A run in a folder with a blank in its name, trained from there with labels in a file and a split of its own."""
    home = tmp_path / "my photos"
    home.mkdir()
    monkeypatch.chdir(home)
    X, y = rows()
    np.save("x.npy", X)
    Path("names of.txt").write_text("\n".join(np.array(CLASSES)[y]))
    settings = {"labels": "names of.txt", "test_fraction": 0.3, "seed": 5, "max_epochs": 3, "step": 0.05}
    mc.runs.train("x.npy", "a run", **settings)
    mc.runs.evaluate("a run", "x.npy", labels="names of.txt")
    return collect(["a run"]).runs[0]


HEARD = """#!/bin/sh
exec "$PYTHON" -c 'import json, sys; print(json.dumps(sys.argv[1:]))' "$@"
"""


@pytest.fixture
def paste(tmp_path_factory):
    """paste(lines): a shell reads the lines, and the commands that it would run are run here."""
    folder = tmp_path_factory.mktemp("path")
    (folder / "manyclass").write_text(HEARD)
    (folder / "manyclass").chmod(0o755)
    environment = os.environ | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "PYTHON": sys.executable}

    def run(lines):
        script = "\n".join(("set -e", *lines))
        heard = subprocess.run(script, shell=True, env=environment, capture_output=True, text=True, check=True).stdout
        commands = [json.loads(line) for line in heard.splitlines()]
        assert len(commands) == len(lines)
        for words in commands:
            give(*words)

    return run


def test_to_train_again_works_when_pasted_and_is_judged_by_the_same_rows(trained, paste):
    evaluation = trained.evaluations["x-test"]
    paste(train_again(trained.folder, trained.record, evaluation, "square", "square"))
    assert Path("a run-square.html").is_file()
    other = collect(["a run-square"]).runs[0]
    assert other.record["data"] == trained.record["data"]
    assert other.evaluations["x-test"]["data"] == evaluation["data"]


def test_to_tune_works_when_pasted(trained, paste):
    lines = train_again(trained.folder, trained.record, trained.evaluations["x-test"], "t", "ovr", "--tune", "step")
    paste([f"{lines[0]} --max-epochs 2 --quiet"])
    assert collect(["a run-t"]).runs[0].record["settings"]["tune"] == ["step"]


@pytest.fixture
def untested(tmp_path, monkeypatch):
    """A run that learned from all rows of a file, and an evaluation of it by these."""
    monkeypatch.chdir(tmp_path)
    X, y = rows()
    np.savez("x.npz", X=X, y=np.array(CLASSES)[y])
    mc.runs.train("x.npz", "run", max_epochs=3, step=0.05)
    with pytest.warns(UserWarning, match="trained on"):
        mc.runs.evaluate("run", "x.npz")
    return collect(["run"]).runs[0]


def test_to_keep_a_test_works_when_pasted_and_judges_rows_that_were_not_seen(untested, paste):
    paste(keep_a_test(untested.folder, untested.record))
    assert Path("run-tested.html").is_file()
    other = collect(["run-tested"]).runs[0]
    assert other.record["data"][0]["rows"] + other.evaluations["x-test"]["rows"] == untested.record["data"][0]["rows"]
    assert "untested" not in [one.key for one in advise(other.folder, other.record, other.evaluations["x-test"])]


def test_to_judge_a_run_works_when_pasted(parted, trained, paste):
    paste(judge_run(trained.folder, trained.record))
    assert Path("a run.html").is_file()
    assert judge_run(parted.folder, parted.record | {"shard": {"number": 1}}) == ()


def test_data_with_parts_has_a_test_already(trained, parted):
    assert keep_a_test(trained.folder, trained.record) == keep_a_test(parted.folder, parted.record) == ()


@pytest.fixture
def parted(tmp_path, monkeypatch):
    """A run of a store that has parts."""
    monkeypatch.chdir(tmp_path)
    store(tmp_path / "x.store")
    mc.runs.train("x.store", "run", max_epochs=3, step=0.05)
    mc.runs.evaluate("run", "x.store")
    return collect(["run"]).runs[0]


def test_to_swap_the_parts_works_when_pasted_and_judges_the_training_rows(parted, paste):
    paste(swap_parts(parted.folder, parted.record, parted.evaluations["x-test"]))
    swapped = collect(["run-swapped"]).runs[0]
    assert swapped.record["data"][0]["fingerprint"] == parted.evaluations["x-test"]["data"]["fingerprint"]
    assert swapped.evaluations["x-train"]["data"]["fingerprint"] == parted.record["data"][0]["fingerprint"]
    assert Path("run-swapped.html").is_file()


def test_parts_are_swapped_only_where_the_rows_of_the_test_have_every_class(parted, trained):
    evaluation = parted.evaluations["x-test"]
    assert swap_parts(parted.folder, parted.record, evaluation | {"per_class": evaluation["per_class"][1:]}) == ()
    assert swap_parts(parted.folder, parted.record | {"training": None}, evaluation) == ()
    assert swap_parts(trained.folder, trained.record, trained.evaluations["x-test"]) == ()  # a split that was drawn


def test_what_is_there_is_not_written_over(trained):
    again = [trained.folder, trained.record, trained.evaluations["x-test"], "square", "square"]
    Path("a run-square").mkdir()
    Path("a run-square-2.html").touch()
    assert "-o 'a run-square-2' " in train_again(*again)[0]
    assert train_again(*again)[2].endswith("-o 'a run-square-2-2.html'")


@pytest.mark.parametrize("gone", ["x.npy", "names of.txt"])
def test_nothing_is_advised_with_what_is_gone(trained, gone):
    Path(gone).unlink()
    assert train_again(trained.folder, trained.record, trained.evaluations["x-test"], "square", "square") == ()


HOSTILE = "$(touch bad); `touch bad` '\"&"


def test_names_of_strangers_are_words_and_no_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in (HOSTILE, "-x"):
        Path(name).mkdir()
        data = [{"role": "train", "path": name, "part": HOSTILE}]
        settings = {"part": HOSTILE, "validation": HOSTILE, "labels": None}
        record = run_record("ovr", data=data, settings=settings)
        evaluation = evaluation_record(data={"path": name, "part": HOSTILE}, **NOWHERE)
        lines = train_again(Path(name), record, evaluation, "softmax", "softmax")
        words = [shlex.split(line) for line in lines]
        own = name if name == HOSTILE else "./-x"
        assert words[0][:5] == ["manyclass", "train", own, "-o", f"{own}-softmax"]
        assert f"--part={HOSTILE}" in words[0]
        assert words[2] == ["manyclass", "report", own, f"{own}-softmax", "-o", f"{own}-softmax.html"]


@pytest.mark.parametrize("name", ["a\0b", "a\nb", "\ud800", None])
def test_names_that_cannot_be_typed_are_not_advised(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    record = run_record("ovr", data=[{"role": "train", "path": name, "part": "train"}])
    evaluation = evaluation_record(data={"path": name, "part": "test"}, **NOWHERE)
    assert train_again(tmp_path, record, evaluation, "softmax", "softmax") == ()
    training = {"per_class": [{"class": "class 0", "rows": 3}]}
    parted = record | {"training": training, "settings": {"part": "train"}}
    assert swap_parts(tmp_path, parted, evaluation) == ()


def test_the_folder_of_pictures_is_learned_by_a_network(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("my photos").mkdir()
    made = {"source": "my photos", "kind": "vlad", "seed": 7, "test_fraction": 0.25}
    learn = "manyclass learn 'my photos' -o run-network --kind=network --test-fraction=0.25 --seed=7"
    both = learn, "manyclass report run run-network/run -o run-network.html"
    for kind, lines in (("network", both), ("fisher", ('pip install "manyclass[network]"', *both))):
        monkeypatch.setattr("manyclass.report.commands.recommended_kind", lambda kind=kind: kind)
        assert learn_by_network(Path("run"), {"features": made}) == lines
    assert learn_by_network(Path("run"), {"features": made | {"source": "gone"}}) == ()
    assert learn_by_network(Path("run"), {"features": None}) == ()


def test_a_run_that_is_the_current_folder_has_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("x.store").touch()
    evaluation = evaluation_record(**NOWHERE)
    line = train_again(Path(), run_record("ovr"), evaluation, "softmax", "softmax")[0]
    assert f"-o {tmp_path}-softmax" in line
