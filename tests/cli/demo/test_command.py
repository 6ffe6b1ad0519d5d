"""manyclass demo, in small."""

import errno
import json
import os
import re
import shutil

import numpy as np
import pytest

import manyclass as mc
from manyclass.cli.demo.demo_runs import CLASSIFIERS
from manyclass.report.page import make_sections
from manyclass.report.report_data import collect

SECTIONS = [
    "next", "setup", "runs", "accuracy", "confusions", "examples", "calibration", "curves", "tuning", "spectrum",
    "grid", "embedding", "retrieval", "cost",
]  # fmt: skip


@pytest.fixture
def short(monkeypatch):
    """Every step of the demo, but one classifier, which is the last: for tests of what is around the steps."""
    monkeypatch.setattr("manyclass.cli.demo.demo_runs.CLASSIFIERS", CLASSIFIERS[1:2])
    monkeypatch.setattr("manyclass.cli.demo.findings.findings", lambda result: ["short"])


@pytest.fixture
def small(run, tmp_path):
    def call(*options):
        return run("demo", "-o", tmp_path / "demo", "--classes", 12, "--per-class", 8, *options)

    return call


def test_every_section_of_the_report_is_filled(once):
    out, _ = once
    assert [section.key for section in make_sections(collect([out]))] == SECTIONS


def test_the_report_shows_pictures_and_no_plates(once):
    text = (once[0] / "report.html").read_text()
    assert text.count("<img") > 60
    assert 'class="plate"' not in text


def test_numbers_are_those_of_the_records(once):
    out, result = once
    report = collect([out])
    assert {run["name"]: run["top_1"] for run in result["runs"]} == {
        run.name: evaluation["top_1"] for run, evaluation in report.evaluated_runs
    }
    assert result["methods"] == report.searches[0].record["methods"]


def test_other_commands_know_what_the_demo_left(once, run, tmp_path):
    out, _ = once
    assert run("evaluate", out / "runs" / "ovr", out / "glyphs.store", "-o", tmp_path / "e.json", "--quiet").code == 0
    again = json.loads((tmp_path / "e.json").read_text())
    assert again["pictures"]["array"] == str((out / "pictures.npy").resolve())
    assert run("report", out, "-o", tmp_path / "again.html").code == 0
    assert run("verify", out / "gallery").code == run("verify", out / "small.store").code == 0


@pytest.mark.usefixtures("short")
def test_json_is_one_object_and_nothing_else(small):
    outcome = small("--json")
    result = json.loads(outcome.out)
    assert (outcome.code, outcome.err) == (0, "")
    assert (result["compression"]["rows"], result["classes"]) == (96, 12)


@pytest.mark.usefixtures("short")
def test_the_table_and_the_words_tell_the_story(small, tmp_path):
    outcome = small()
    for words in ("learning 12 kinds", "ovr-unweighted", "finding 4 other kinds", "kernel-slem", "mAP", "short"):
        assert words in outcome.out
    assert (tmp_path / "demo" / "report.html").resolve().as_uri() in outcome.out.replace("\n", "")
    assert "drawing 28 x 8 characters" in outcome.err
    assert f"manyclass train {tmp_path}" in outcome.err


@pytest.mark.usefixtures("short")
def test_it_can_be_run_again_over_itself_with_other_options(small, tmp_path):
    small("--quiet")
    assert small("--quiet", "--seed", 3, "--per-class", 5).code == 0
    assert mc.open_store(tmp_path / "demo" / "small.store").shape == (60, 640)
    assert collect([tmp_path / "demo"]).runs[0].record["seed"] == 3


@pytest.mark.parametrize("name", ["glyphs.store", "world.store"])
@pytest.mark.parametrize("finished", [True, False])
def test_a_store_that_the_demo_did_not_make_is_not_touched(small, tmp_path, name, finished):
    path = tmp_path / "demo" / name
    with mc.StoreWriter(path, 2, identity={"whose": "mine"}) as writer:
        writer.append(np.ones((3, 2)))
        if finished:
            writer.commit()
    before = {file.name: file.read_bytes() for file in path.iterdir()}
    outcome = small("--quiet")
    assert outcome.code == 1
    assert outcome.err == f"manyclass: {path} was not made by the demo; choose another folder with --out\n"
    assert {file.name: file.read_bytes() for file in path.iterdir()} == before


def test_a_folder_of_other_things_is_not_touched(small, tmp_path):
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "glyphs.png").write_bytes(b"mine")
    outcome = small("--quiet")
    assert outcome.code == 1
    assert outcome.err == f"manyclass: {tmp_path / 'demo'} has other things in it; choose another folder with --out\n"
    assert [file.read_bytes() for file in (tmp_path / "demo").iterdir()] == [b"mine"]


def test_a_file_in_the_place_of_the_folder_is_one_sentence(small, tmp_path):
    (tmp_path / "demo").write_bytes(b"mine")
    outcome = small("--quiet")
    assert outcome.code == 1
    assert outcome.err.endswith("demo is a file, and the demo writes a folder; choose another name with --out\n")


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("step", ["small.store", "training", "search"])
def test_an_interrupted_demo_says_one_sentence_and_starts_over(small, tmp_path, monkeypatch, step):
    def interrupt(*given, **named):
        raise KeyboardInterrupt

    monkeypatch.setattr("manyclass.cli.demo.command._write_report", lambda out, console: None)
    commit = mc.StoreWriter.commit_columns
    with monkeypatch.context() as patched:
        if step.endswith(".store"):
            patched.setattr(
                mc.StoreWriter,
                "commit_columns",
                lambda writer, *rest: interrupt() if writer.path.name == step else commit(writer, *rest),
            )
        else:
            target = {
                "training": "manyclass.runs.training.fit_recipe",
                "search": "manyclass.runs.galleries.encoder_comparison.fit_method",
            }[step]
            patched.setattr(target, interrupt)
        outcome = small("--quiet")
    assert outcome.code == 130
    assert outcome.err == "manyclass: interrupted; give the same command again to start over\n"
    assert small("--quiet", "--seed", 3, "--per-class", 5).code == 0
    assert mc.open_store(tmp_path / "demo" / "small.store").shape == (60, 640)


def test_a_full_disk_for_temporary_files_is_one_sentence(small, monkeypatch):
    def full(source, target):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(source), None, str(target))

    monkeypatch.setattr(shutil, "copyfile", full)
    outcome = small("--quiet")
    assert outcome.code == 1
    assert re.fullmatch(r"manyclass: \S*/copy\.store/\S+: no space left on device\n", outcome.err)


def test_too_many_classes_are_one_sentence(small, monkeypatch, tmp_path):
    from manyclass.datasets.glyph_images import alphabet

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    monkeypatch.setattr(alphabet, "_candidates", lambda: list("abc"))
    outcome = small("--quiet")
    assert outcome.code == 1
    assert outcome.err == "manyclass: n_classes must be at most 3, all that the fonts here draw; got 28\n"
