"""Classifiers and searches of the demo, each of them another command."""

import pytest

import manyclass as mc
from manyclass.cli.demo.demo_runs import CLASSIFIERS, Classifier
from manyclass.report.report_data import collect
from manyclass.runs.recipe import ObjectiveName, Tune


def test_all_objectives_and_methods_are_there_and_learn(once):
    _, result = once
    assert [run["name"] for run in result["runs"]] == [one.name for one in CLASSIFIERS]
    assert min(run["top_1"] for run in result["runs"]) > 0.5
    assert {one["name"] for one in result["methods"]} == {"slem", "kernel-slem", "lda", "whitening", "none"}


def test_settings_of_searches_are_chosen_on_other_kinds_than_those_reported(once):
    out, result = once
    record = collect([out]).searches[0].record
    reported = {query["class"] for query in record["queries"]}
    reported |= {found["class"] for query in record["queries"] for found in query["results"]}
    assert len(reported) <= 4 < len(mc.open_store(out / "others.store").classes)
    assert all(one["tried"] for one in result["methods"] if one["name"] in ("slem", "kernel-slem", "whitening"))


@pytest.mark.parametrize("name", ["ovr-unweighted", "trace"])
def test_the_command_on_record_gives_the_same_model(once, run, tmp_path, name):
    out, result = once
    words = next(one["command"] for one in result["runs"] if one["name"] == name)
    assert words[2] == "-o"
    words[3] = str(tmp_path / "again")
    assert run(*words, "--quiet").code == 0
    models = [mc.load(folder) for folder in (out / "runs" / name, tmp_path / "again")]
    assert models[0].coef_.tobytes() == models[1].coef_.tobytes()


def test_a_command_has_its_options_in_the_words_of_the_command_line(tmp_path):
    one = Classifier("x", ObjectiveName.ovr, [Tune.beta, Tune.step], {"max_epochs": 5})
    words = ["--objective", "ovr", "--tune", "beta", "--tune", "step", "--max-epochs", "5"]
    begin = ["train", str(tmp_path / "a"), "-o", str(tmp_path / "b")]
    assert one.words(tmp_path / "a", tmp_path / "b", 0) == [*begin, *words]
    assert one.words(tmp_path / "a", tmp_path / "b", 3) == [*begin, *words, "--seed", "3"]
