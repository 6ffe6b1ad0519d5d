"""Settings from a TOML file, for every command."""

import json
import subprocess
import sys

import pytest
from cli.runs import store

import manyclass as mc
from manyclass.cli._app import app
from manyclass.runs.records import read_record


@pytest.fixture
def toml(tmp_path):
    """toml(text) writes a file of settings."""

    def write(text):
        (tmp_path / "settings.toml").write_text(text)
        return tmp_path / "settings.toml"

    return write


def test_every_command_takes_a_file_of_settings(run):
    names = [command.name or command.callback.__name__ for command in app.registered_commands]
    assert {"train", "compress", "info", "predict"} <= set(names)
    for name in names:
        assert "--config" in run(name, "--help").out


def test_a_table_of_the_command_counts_more_than_the_top_and_other_tables_do_not_count(run, features, tmp_path, toml):
    file = toml('seed = 1\nblock = 2\n[compress]\nblock = 4\n[train]\nobjective = "warp"\n')
    assert run("compress", features, "-o", tmp_path / "x.store", "--config", file).code == 0
    assert mc.open_store(tmp_path / "x.store").quantizer.block == 4
    assert mc.open_store(tmp_path / "x.store").provenance["seed"] == 1


def test_a_file_of_settings_in_the_home_of_nobody_is_one_sentence(run, features, tmp_path):
    outcome = run("compress", features, "-o", tmp_path / "x.store", "--config", "~no_such_user/c.toml")
    assert (outcome.code, outcome.out) == (1, "")
    assert "~no_such_user/c.toml is in a home folder that is not known; write it in full" in outcome.err


def test_the_command_line_wins(run, features, tmp_path, toml):
    run("compress", features, "-o", tmp_path / "x.store", "--config", toml("block = 4"), "--block", 2)
    assert mc.open_store(tmp_path / "x.store").quantizer.block == 2


def test_options_of_every_kind_can_be_given(run, tmp_path, toml):
    text = f"""
        out = "{tmp_path / "run"}"
        objective = "trace"
        tune = ["path"]
        traces = [0.1, 0.05]
        ridges = 1
        fit-intercept = false
        no-refit = true
        max_iter = 50
        tolerance = 1e-2
        quiet = true
        """
    outcome = run("train", store(tmp_path / "x.store"), "--config", toml(text))
    assert outcome.code == 0, outcome.err
    settings = read_record(tmp_path / "run" / "run.json", "run")["settings"]
    expected = {"traces": [0.1, 0.05], "ridges": 1, "fit_intercept": False, "refit": False, "max_iter": 50}
    assert expected.items() <= settings.items()
    assert outcome.err == ""


def test_an_argument_can_be_in_the_file_too(run, features, toml):
    outcome = run("info", "--json", "--config", toml(f'source = "{features}"'))
    assert json.loads(outcome.out)["rows"] == 300


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("blok = 4", 2, "must hold options of manyclass compress; got 'blok'; see --help"),
        ("[compress]\nblok = 4", 2, "got 'blok'"),
        ("[compres]\nblock = 4", 2, "must have tables that are called like commands; got [compres]"),
        ("config = 'x'", 2, "got 'config'"),
        ("quiet = 1", 2, "must have true or false for quiet; got 1"),
        ("block = true", 2, "must have a word or a number for block; got True"),
        ("block = ", 1, "must be a TOML file; invalid value"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_sentence(run, features, tmp_path, toml, text, code, words):
    outcome = run("compress", features, "-o", tmp_path / "x.store", "--config", toml(text))
    assert (outcome.code, outcome.out) == (code, "")
    assert words in outcome.err
    assert outcome.err.startswith("manyclass: ")
    assert outcome.err.count("\n") == 1


def test_a_file_that_is_not_there_is_one_sentence_and_exit_one(run, features, tmp_path):
    outcome = run("compress", features, "-o", tmp_path / "x.store", "--config", tmp_path / "no.toml")
    assert (outcome.code, outcome.err) == (1, f"manyclass: {tmp_path / 'no.toml'}: no such file or directory\n")


def test_a_value_that_the_option_refuses_is_wrong_usage(run, features, tmp_path, toml):
    outcome = run("compress", features, "-o", tmp_path / "x.store", "--config", toml("block = 'wide'"))
    assert outcome.code == 2
    assert "--block" in outcome.err


def test_shells_can_complete_commands_and_options():
    code = "from manyclass.cli.main import main; main()"
    words = {"_MANYCLASS_COMPLETE": "complete_bash", "COMP_WORDS": "manyclass tra", "COMP_CWORD": "1", "PATH": "/bin"}
    done = subprocess.run([sys.executable, "-c", code], env=words, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["train"]


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * 20_000 + "]" * 20_000,
        "x = " + "{a=" * 20_000,
        ".".join("a" * 20_000) + " = 1",
        ".".join("a" * 500) + " = 1",
    ],
)
def test_a_file_nested_too_deeply_is_one_sentence(run, toml, text):
    done = run("train", "--config", toml(text))
    assert done.code == 1
    assert "nested too deeply" in done.err
    assert len(done.err.strip().splitlines()) == 1
