"""manyclass report, as a user meets it."""

import json
import os
import sys

import pytest
from report.synthetic import write_everything, write_pictures, write_run


def test_a_page_is_written_and_its_place_is_told(run, tmp_path):
    write_everything(tmp_path / "runs")
    outcome = run("report", tmp_path / "runs", "-o", tmp_path / "report.html")
    assert (outcome.code, outcome.err) == (0, "")
    assert "report.html" in outcome.out
    assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")


def test_json_says_what_is_on_the_page(run, tmp_path):
    write_run(tmp_path / "a")
    write_run(tmp_path / "b")
    outcome = run(
        "report", tmp_path / "a", tmp_path / "b", "-o", tmp_path / "x.html", "--title", "Two <runs>", "--json"
    )
    result = json.loads(outcome.out)
    assert result["path"] == str(tmp_path / "x.html")
    assert result["bytes"] == (tmp_path / "x.html").stat().st_size
    assert "Runs compared" in result["sections"]
    assert "<h1>Two &lt;runs&gt;</h1>" in (tmp_path / "x.html").read_text()


def test_images_are_taken_from_the_folder_that_is_given(run, tmp_path):
    write_run(tmp_path / "a")
    write_pictures(tmp_path / "elsewhere")
    out = tmp_path / "x.html"
    run("report", tmp_path / "a", "-o", out)
    without = out.read_text().count("<img")
    run("report", tmp_path / "a", "-o", out, "--images", tmp_path / "elsewhere")
    assert without == 0 < out.read_text().count("<img")


def test_where_pictures_are_from_is_told_if_the_records_say_so(run, tmp_path):
    write_run(tmp_path / "runs" / "a")
    write_pictures(tmp_path / "runs" / "pictures")
    write_pictures(tmp_path / "mine")
    words = ("report", tmp_path / "runs" / "a", "-o", tmp_path / "x.html")
    place = str((tmp_path / "runs" / "pictures").resolve())
    assert json.loads(run(*words, "--json").out)["pictures"] == [place]
    assert "pictures from" in run(*words).out
    assert json.loads(run(*words, "--json", "--images", tmp_path / "mine").out)["pictures"] == []


@pytest.mark.parametrize("wrong", ["missing", "empty", "notes.txt", "damaged"])
def test_what_cannot_be_reported_is_one_sentence_and_exit_one(run, tmp_path, wrong):
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").touch()
    (write_run(tmp_path / "damaged") / "run.json").write_text('{"format": "manyclass run", "version": 1}')
    outcome = run("report", tmp_path / wrong, "-o", tmp_path / "x.html")
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (1, "", 1)
    assert wrong in outcome.err
    assert not (tmp_path / "x.html").exists()


def test_a_folder_of_images_that_is_not_there_is_one_sentence(run, tmp_path):
    write_run(tmp_path / "a")
    outcome = run("report", tmp_path / "a", "-o", tmp_path / "x.html", "--images", "nowhere")
    assert (outcome.code, outcome.err) == (1, "manyclass: images must be a folder; got nowhere\n")


def test_without_matplotlib_a_page_without_figures_is_written_and_the_extra_is_named(run, tmp_path, monkeypatch):
    write_run(tmp_path / "a")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    outcome = run("report", tmp_path / "a", "-o", tmp_path / "x.html")
    assert outcome.code == 0
    assert (
        outcome.err
        == 'manyclass: the page has no figures: figures need the package matplotlib; pip install "manyclass[plot]"\n'
    )
    assert (tmp_path / "x.html").exists()


def test_a_place_that_is_not_there_is_told_as_it_was_given(run, tmp_path):
    write_run(tmp_path / "a")
    out = tmp_path / "nowhere" / "x.html"
    outcome = run("report", tmp_path / "a", "-o", out)
    assert (outcome.code, outcome.err) == (1, f"manyclass: {out}: no such file or directory\n")


def test_a_pipe_is_not_replaced_by_a_page(run, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    outcome = run("report", tmp_path / "missing", "-o", tmp_path / "pipe")
    assert outcome.code == 1
    assert "pipe is a pipe, in whose place no file is put; name a file" in outcome.err
