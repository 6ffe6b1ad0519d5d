"""A run that is to take the place of another, and fails or is killed: there is all of the old, or all of the new."""

import errno
import os
import threading
from functools import partial

import pytest
from cli.runs import bits, rows, store

import manyclass as mc
from manyclass.cli.verify import check
from manyclass.report.report_data import collect
from manyclass.runs.folder import RunFolder, last_unfinished

QUICK = {"max_epochs": 2, "step": 0.05, "beta": 3}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Features, of which an encoder is known."""
    folder = tmp_path_factory.mktemp("data")
    mc.WhitenedPCA(2).fit(rows()[0]).save(folder / "encoder")
    return store(folder / "x.store", attachments={"encoder": (folder / "encoder").read_bytes()})


@pytest.fixture(scope="module")
def expected(data, tmp_path_factory):
    """What models of seed 0 and of seed 1 predict by."""
    runs = [mc.runs.train(data, tmp_path_factory.mktemp("runs") / str(seed), seed=seed, **QUICK) for seed in (0, 1)]
    return [bits(run.path) for run in runs]


def failing(monkeypatch, name, number):
    """Let the call of this number of a function of `os` fail, and count."""
    calls, real = [], getattr(os, name)

    def call(*args, **kwargs):
        if name != "open" or args[1] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            calls.append(args)
            failed = len(calls) == number
        else:
            failed = False
        if failed:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(*args, **kwargs)

    monkeypatch.setattr(os, name, call)
    return calls


@pytest.mark.filterwarnings("ignore::manyclass._core.errors.DurabilityWarning")
@pytest.mark.parametrize("name", ["replace", "fsync", "open", "mkdir", "unlink"])
def test_at_every_call_that_fails_there_is_the_old_run_or_the_new(data, expected, tmp_path, monkeypatch, name):
    number, states = 0, set()
    while True:
        number += 1
        path = tmp_path / str(number)
        mc.runs.train(data, path, **QUICK)
        mc.runs.evaluate(path, data)
        with monkeypatch.context() as patched:
            calls = failing(patched, name, number)
            try:
                mc.runs.train(data, path, seed=1, overwrite=True, **QUICK)
                failed = False
            except (OSError, mc.StorageError):
                failed = True
        state = expected.index(bits(path))
        assert check(path)["good"]
        assert state == 1 or failed
        assert bool(collect([path], warn=str).runs[0].evaluations) == (state == 0)
        states.add((failed, state))
        mc.runs.train(data, path, seed=1, overwrite=True, resume=True, **QUICK)
        assert bits(path) == expected[1]
        kinds = sorted(file.name.partition("-")[0] for file in path.iterdir() if file.name != "evaluations")
        assert kinds == ["encoder", "model", "run.json"]
        if len(calls) < number:
            break
    assert (False, 1) in states
    assert number > 2


@pytest.mark.parametrize("repeat", [1, 3])
def test_a_killed_run_leaves_the_old_one_and_goes_on(data, expected, tmp_path, repeat):
    class Killed(BaseException):
        """As with a kill, nobody cleans up."""

    def die(record):
        raise Killed

    path = tmp_path / "run"
    mc.runs.train(data, path, **QUICK)
    for _ in range(repeat):
        with pytest.raises(Killed):
            mc.runs.train(data, path, seed=1, overwrite=True, callbacks=[die], **QUICK)
        assert bits(path) == expected[0]
    with pytest.raises(ValueError, match="holds a run that is unfinished; pass `resume=True`"):
        mc.runs.train(data, path, seed=1, **QUICK)
    mc.runs.train(data, path, seed=1, resume=True, **QUICK)
    assert bits(path) == expected[1]
    assert len(list(path.iterdir())) == 3


def test_who_comes_late_does_not_replace_what_another_finished_meanwhile(data, expected, tmp_path, monkeypatch):
    path, real = tmp_path / "run", RunFolder.check
    first = partial(mc.runs.train, data, path, **QUICK)
    came_late = []

    def check_slowly(folder, resume, overwrite):
        real(folder, resume, overwrite)
        if not came_late:
            came_late.append(True)
            thread = threading.Thread(target=first)
            thread.start()
            thread.join()

    monkeypatch.setattr(RunFolder, "check", check_slowly)
    with pytest.raises(ValueError, match="holds a run already; pass `overwrite=True` to replace it"):
        mc.runs.train(data, path, seed=1, **QUICK)
    assert bits(path) == expected[0]
    assert last_unfinished(path) is None


def test_the_encoder_belongs_to_the_run(data, tmp_path):
    run = mc.runs.train(data, tmp_path / "run", **QUICK)
    assert run.record["files"]["encoder"]["name"] == "encoder-0.safetensors"
    mc.runs.train(data, tmp_path / "run", overwrite=True, **QUICK)
    assert sorted(file.name for file in run.path.iterdir()) == [
        "encoder-1.safetensors",
        "model-1.safetensors",
        "run.json",
    ]
