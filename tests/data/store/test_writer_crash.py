"""An encoder that is killed, or whose disk fails, at any moment: nothing is lost, and the end is the same bytes.

Two ways: kills at random moments, and one at the first, the second, the third ... call of each kind that changes the
disk, until there is none left.
"""

import errno
import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import manyclass as mc
from manyclass.data.store import journal
from tests.battery.shim import Action, Call, Fault, Shim
from tests.data.store import child

CHILD = [sys.executable, "-B", child.__file__]
MANY, FEW = 48, 16  # rows: long enough for kills at random, short enough for a kill at each call


@pytest.fixture(scope="module")
def contents_of():
    return lambda path: {file.name: file.read_bytes() for file in Path(path).iterdir()}


@pytest.fixture(scope="module")
def fresh(tmp_path_factory, contents_of):
    """What an uninterrupted write leaves in a new folder."""
    path = tmp_path_factory.mktemp("fresh") / "a.store"
    store = child.write(path, MANY)
    np.testing.assert_array_equal(store.X.toarray(), child.rows(MANY))
    return contents_of(path)


@pytest.fixture(scope="module")
def old_store(tmp_path_factory):
    path = tmp_path_factory.mktemp("old") / "a.store"
    mc.write_store(path, np.ones((9, 3), np.float32), y=np.zeros(9, int))
    return path


@pytest.fixture(scope="module")
def renewed(tmp_path_factory, old_store, contents_of):
    """What an uninterrupted write leaves in the place of the old store."""
    path = tmp_path_factory.mktemp("renewed") / "a.store"
    shutil.copytree(old_store, path)
    child.write(path, FEW)
    return contents_of(path)


def finish(path, n, contents_of, expected):
    """Give the same command again, unless the commit and the tidying were done, and compare."""
    if (path / "manifest.json").exists() and not (path / "journal").exists() and len(mc.open_store(path)) == n:
        (path / "lock").unlink(missing_ok=True)
    else:
        child.write(path, n)
    assert contents_of(path) == expected


def kill_at_random(path, seed):
    """Kill the child once; True if it was not through, and then see that what it called safe is safe."""
    rng = np.random.default_rng(seed)
    process = subprocess.Popen([*CHILD, path, str(MANY), str(rng.integers(1, 7))], stdout=subprocess.PIPE)
    process.stdout.readline()
    told, wanted = 0, rng.integers(MANY)
    while told < wanted:
        told = int(process.stdout.readline())
    time.sleep(rng.uniform(0, 0.002))  # about as long as a block takes
    process.kill()
    told = max([told, *map(int, process.stdout.read().split(b"\n")[:-1])])
    process.stdout.close()
    if process.wait() == 0 or not (path / "journal").exists():
        return False
    with child.opened(path) as writer:
        assert writer.rows_done >= told
    return True


def check_random_kills(folder, contents_of, expected, n_kills, first_seed):
    """So many kills that really interrupted the child, each followed by the same command again."""
    interrupted = 0
    for seed in range(first_seed, first_seed + 4 * n_kills):
        path = folder / f"{seed}.store"
        interrupted += kill_at_random(path, seed)
        finish(path, MANY, contents_of, expected)
        if interrupted == n_kills:
            return
    pytest.fail(f"only {interrupted} of {4 * n_kills} kills came before the end of the child")


def test_killed_at_ten_random_moments_it_goes_on_to_the_same_bytes(disk_path, contents_of, fresh):
    check_random_kills(disk_path, contents_of, fresh, n_kills=10, first_seed=0)


@pytest.mark.slow
def test_killed_at_a_hundred_random_moments_it_goes_on_to_the_same_bytes(disk_path, contents_of, fresh):
    check_random_kills(disk_path, contents_of, fresh, n_kills=100, first_seed=1000)


@pytest.fixture(scope="module")
def run_with_fault(tmp_path_factory):
    """run_with_fault(path, fault) is the exit code of the child, at one of whose calls it happens, and what it said."""
    shim = Shim(tmp_path_factory.mktemp("shim"))
    with subprocess.Popen(CHILD, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=shim.env) as server:

        def run(path, fault):
            shim.arm(path, fault)
            server.stdin.write(json.dumps([str(path), FEW, 4]) + "\n")
            server.stdin.flush()
            code, words = json.loads(server.stdout.readline())
            shim.disarm()
            return code, words

        yield run
        server.stdin.close()


def faults(run_with_fault, tmp_path, old_store, fault, every=1):
    """(path, code, words) for a fault at the first call, the second ... until there are no more calls."""
    for when in range(1, 1000, every):
        path = tmp_path / f"{when}.store"
        shutil.copytree(old_store, path)
        code, words = run_with_fault(path, replace(fault, when=when))
        if code == 0:
            return
        yield path, code, words


@pytest.mark.parametrize(
    "call", [Call.WRITE, Call.SYNC, Call.RENAME, Call.UNLINK, Call.TRUNCATE], ids=lambda call: call.name
)
def test_killed_at_each_call_that_changes_the_disk_the_store_is_old_or_new_and_goes_on(
    run_with_fault, tmp_path, old_store, renewed, contents_of, call
):
    hit = 0
    for path, code, _ in faults(run_with_fault, tmp_path, old_store, Fault(Action.KILL, kinds=call)):
        hit += 1
        assert code == -9
        store = mc.open_store(path)
        store.X.check()
        assert store.shape in ((9, 3), (FEW, child.D))
        finish(path, FEW, contents_of, renewed)
    assert hit >= 2


def check_errors(run_with_fault, folder, old_store, renewed, contents_of, call, error, every):
    hit = 0
    for path, code, words in faults(
        run_with_fault, folder, old_store, Fault(Action.FAIL, kinds=call, error=error), every
    ):
        hit += 1
        assert code == 3, words
        assert words.startswith("disk full: " if error == errno.ENOSPC else "disk error: ")
        assert str(path) in words
        assert words.count("\n") == 1
        mc.open_store(path).X.check()
        finish(path, FEW, contents_of, renewed)
    return hit


@pytest.mark.parametrize(("call", "error"), [(Call.WRITE, errno.ENOSPC), (Call.SYNC, errno.EIO)])
def test_an_error_of_the_disk_is_one_sentence_and_the_write_goes_on(
    run_with_fault, tmp_path, old_store, renewed, contents_of, call, error
):
    assert check_errors(run_with_fault, tmp_path, old_store, renewed, contents_of, call, error, every=3) >= 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "error"),
    [(Call.WRITE, errno.ENOSPC), (Call.WRITE, errno.EIO), (Call.SYNC, errno.EIO), (Call.SYNC, errno.ENOSPC)],
)
def test_an_error_of_the_disk_at_each_call_without_a_gap(
    run_with_fault, tmp_path, old_store, renewed, contents_of, call, error
):
    assert check_errors(run_with_fault, tmp_path, old_store, renewed, contents_of, call, error, every=1) >= 15


def test_a_disk_that_stays_broken_gives_one_sentence_too(run_with_fault, tmp_path, old_store, contents_of, renewed):
    path = tmp_path / "a.store"
    shutil.copytree(old_store, path)
    code, words = run_with_fault(path, Fault(Action.FAIL, 9, Call.WRITE, errno.EIO, lasting=True))
    assert (code, words.count("\n")) == (3, 1)
    assert len(mc.open_store(path)) == 9
    finish(path, FEW, contents_of, renewed)


def name_of(descriptor):
    return os.readlink(f"/proc/self/fd/{descriptor}")


has_proc = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="/proc tells which file is synced")


@has_proc
def test_every_name_is_given_after_the_sync_of_its_file_and_before_the_sync_of_its_folder(tmp_path, monkeypatch):
    log, fsync, pwrite, replace = [], os.fsync, os.pwrite, os.replace
    monkeypatch.setattr(os, "pwrite", lambda fd, *rest: log.append(("write", name_of(fd))) or pwrite(fd, *rest))
    monkeypatch.setattr(os, "fsync", lambda fd: log.append(("sync", name_of(fd))) or fsync(fd))
    monkeypatch.setattr(os, "replace", lambda a, b: log.append(("rename", str(a), str(b))) or replace(a, b))
    path = tmp_path / "a.store"
    child.write(path, FEW)
    renames = [i for i, entry in enumerate(log) if entry[0] == "rename"]
    renamed = {os.path.basename(log[i][2]) for i in renames}
    arrays = {"codes-0.npy", "quantizer_codebooks-0.npy", "y-0.npy", "names-0.npy", "name_offsets-0.npy"}
    assert renamed == {"journal", *arrays, "manifest.json"}
    for i in renames:
        source = log[i][1]
        touched = [entry[0] for entry in log[:i] if entry[1] == source]
        assert touched[-1] == "sync"
        assert log[i + 1] == ("sync", str(path))
    assert log.index(("rename", f"{path}/manifest.json.tmp", f"{path}/manifest.json")) == renames[-1]


@has_proc
def test_each_mark_in_the_journal_comes_after_the_sync_of_its_rows(tmp_path, monkeypatch):
    log = []
    monkeypatch.setattr(journal, "sync_file", lambda descriptor: log.append(name_of(descriptor)))
    with child.opened(tmp_path / "a.store") as writer:
        log.clear()
        writer.append(child.rows(12))
    assert [os.path.basename(name) for name in log] == ["codes-0.npy.partial", "journal"] * 3
