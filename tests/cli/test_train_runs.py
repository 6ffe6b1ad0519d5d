"""What becomes of the folder of a run: replaced, interrupted, killed, gone on with."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from cli.runs import OBJECTIVES, QUICK, bits, rows, store

import manyclass as mc
from manyclass.runs import trained_run
from manyclass.runs.records import read_record


@pytest.fixture
def data(tmp_path):
    return store(tmp_path / "x.store")


def test_a_run_that_is_there_is_kept_unless_it_may_be_replaced(run, data, tmp_path):
    assert run("train", data, "-o", tmp_path / "run", *QUICK).code == 0
    before = (tmp_path / "run" / "run.json").read_bytes()
    refused = run("train", data, "-o", tmp_path / "run", *QUICK)
    assert refused.code == 1
    assert refused.err == (
        f"manyclass: {tmp_path / 'run'} holds a run already; add --overwrite to replace it, or choose another name\n"
    )
    assert (tmp_path / "run" / "run.json").read_bytes() == before
    assert run("train", data, "-o", tmp_path / "run", "--seed", 3, "--overwrite", *QUICK).code == 0
    assert read_record(tmp_path / "run" / "run.json", "run")["seed"] == 3


def test_a_run_that_is_done_needs_nothing_to_go_on(run, data, tmp_path):
    run("train", data, "-o", tmp_path / "run", *QUICK)
    before = (tmp_path / "run" / "run.json").read_bytes()
    again = run("train", data, "-o", tmp_path / "run", "--resume", *QUICK)
    assert again.code == 0
    assert "is done already" in again.err
    assert (tmp_path / "run" / "run.json").read_bytes() == before


def interrupt(monkeypatch, epoch):
    def call(self, record):
        if record["epoch"] == epoch:
            raise KeyboardInterrupt

    monkeypatch.setattr(mc.Progress, "__call__", call)


def test_ctrl_c_says_how_to_go_on_and_the_same_command_does(run, data, tmp_path, monkeypatch):
    run("train", data, "-o", tmp_path / "whole", *QUICK)
    with monkeypatch.context() as patched:
        interrupt(patched, 3)
        stopped = run("train", data, "-o", tmp_path / "run", *QUICK)
    assert stopped.code == 130
    assert stopped.err.endswith("give the same command with --resume to go on from what was kept\n")
    refused = run("train", data, "-o", tmp_path / "run", *QUICK)
    assert refused.code == 1
    assert "holds a run that is unfinished; add --resume to go on with it" in refused.err
    other = run("train", data, "-o", tmp_path / "run", "--resume", *QUICK[:-1], 4)
    assert other.code == 1
    assert "was begun with other settings, which differ in beta; give the same command" in other.err
    assert run("train", data, "-o", tmp_path / "run", "--resume", *QUICK).code == 0
    assert bits(tmp_path / "run") == bits(tmp_path / "whole")


@pytest.mark.parametrize("options", [OBJECTIVES["trace"], OBJECTIVES["path"]], ids=["trace", "path"])
def test_ctrl_c_ends_batch_solvers_too(run, data, tmp_path, monkeypatch, options):
    from manyclass.solvers.batch.solution import SolverRun

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(SolverRun, "certify", interrupted)
        stopped = run("train", data, "-o", tmp_path / "run", *options)
    assert stopped.code == 130
    assert run("train", data, "-o", tmp_path / "run", "--resume", *options).code == 0


def test_other_data_do_not_go_on_with_a_run(run, data, tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        interrupt(patched, 3)
        run("train", data, "-o", tmp_path / "run", *QUICK)
    mc.write_store(data, *rows(seed=5), overwrite=True)
    outcome = run("train", data, "-o", tmp_path / "run", "--resume", "--part", "all", *QUICK)
    assert outcome.code == 1
    assert "differ in part, the data" in outcome.err


@pytest.fixture(scope="module")
def killable():
    """killable(words, die) is the exit code of a command in a process of its own, or minus the signal that ended it."""
    tests = Path(__file__).parents[1]
    command = [sys.executable, "-B", str(tests / "cli" / "command_child.py")]
    path = os.pathsep.join([str(tests), str(tests.parent)])
    env = {**os.environ, "PYTHONPATH": path}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env) as process:

        def call(words, die=None):
            process.stdin.write(json.dumps({"words": [str(word) for word in words], "die": die}) + "\n")
            process.stdin.flush()
            return int(process.stdout.readline())

        yield call
        process.stdin.close()


KILLS = {
    "train": (("--max-epochs", 6), (1, 2, 3, 6, 12, 15, 16)),
    "tune": (("--max-epochs", 3, "--tune", "beta", "--step", 0.05), (2, 4, 9, 14, 25)),
    "path": (OBJECTIVES["path"], (2, 3, 5, 7, 8)),
}


@pytest.mark.parametrize(("options", "moments"), KILLS.values(), ids=KILLS)
def test_killed_at_any_write_it_goes_on_to_the_same_model(killable, data, tmp_path, options, moments):
    assert killable(("train", data, "-o", tmp_path / "whole", *options)) == 0
    for moment in moments:
        words = ("train", data, "-o", tmp_path / str(moment), *options)
        assert killable(words, die=("replace", moment)) == -signal.SIGKILL
        if (tmp_path / str(moment) / "run.json").exists():
            assert killable(words) == 1  # it is unfinished, and nobody said to go on
        assert killable((*words, "--resume")) == 0
        assert bits(tmp_path / str(moment)) == bits(tmp_path / "whole")
        assert not (tmp_path / str(moment) / "checkpoint").exists()


@pytest.mark.parametrize("call", ["replace", pytest.param("fsync", marks=pytest.mark.slow)])
def test_killed_at_any_moment_a_run_that_is_replaced_is_the_old_or_the_new(killable, data, tmp_path, call):
    seeds = {seed: ("--max-epochs", 2, "--step", 0.05, "--beta", 3, "--seed", seed) for seed in (0, 1)}
    for seed, options in seeds.items():
        assert killable(("train", data, "-o", tmp_path / f"seed-{seed}", *options)) == 0
    expected = [bits(tmp_path / f"seed-{seed}") for seed in seeds]
    states, ended = [], -signal.SIGKILL
    path, words = tmp_path / "run", ("train", data, "-o", tmp_path / "run", *seeds[1], "--overwrite")
    while ended == -signal.SIGKILL:
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(tmp_path / "seed-0", path)
        ended = killable(words, die=(call, len(states) + 1))
        states.append(expected.index(bits(path)))
        assert killable(("verify", path)) == 0
        assert killable((*words, "--resume")) == 0
        assert bits(path) == expected[1]
        assert len(list(path.iterdir())) == 2
    assert ended == 0
    assert states == sorted(states)
    assert set(states) == {0, 1}
    assert len(states) > 5


@pytest.mark.parametrize(
    "options",
    [
        ("--loss", "hinges"),
        ("--max-epochs", 0),
        ("--objective", "trace", "--solver", "magic"),
        ("--objective", "trace", "--trace", -1),
        ("--objective", "trace", "--traces", 0),
    ],
    ids=str,
)
def test_a_setting_that_is_none_leaves_the_run_that_is_there(run, data, tmp_path, options):
    assert run("train", data, "-o", tmp_path / "run", *QUICK).code == 0
    before = bits(tmp_path / "run")
    outcome = run("train", data, "-o", tmp_path / "run", "--overwrite", *options)
    assert outcome.code == 1
    assert f"{options[-2].strip('-').replace('-', '_')} must be" in outcome.err
    assert bits(tmp_path / "run") == before
    assert read_record(tmp_path / "run" / "run.json", "run")["status"] == "done"


@pytest.mark.parametrize("labels", ["one class", "a bad row"])
def test_data_that_cannot_be_learned_takes_no_folder(run, tmp_path, labels):
    X, y = rows()
    if labels == "a bad row":
        X[5] = np.nan
    np.savez(tmp_path / "x.npz", features=X, labels=np.zeros_like(y) if labels == "one class" else y)
    for _ in range(2):
        outcome = run("train", tmp_path / "x.npz", "-o", tmp_path / "run", *QUICK)
        assert outcome.code == 1
        assert "holds a run" not in outcome.err
    assert not (tmp_path / "run").exists()


def test_a_full_disk_is_one_sentence_and_the_run_that_is_to_be_replaced_stays(run, tmp_path, monkeypatch):
    data = store(tmp_path / "x.store")
    assert run("train", data, "-o", tmp_path / "run", *QUICK).code == 0
    before = bits(tmp_path / "run")

    def full(self, path):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(trained_run, "save_model", full)
    outcome = run("train", data, "-o", tmp_path / "run", *QUICK, "--overwrite", "--seed", 1)
    assert outcome.code == 1
    assert outcome.err.splitlines()[-1] == "manyclass: the disk is full; make room and give the same command again"
    assert bits(tmp_path / "run") == before
    assert json.loads((tmp_path / "run" / "run.json").read_text())["seed"] == 0
