"""An encoder that is killed, or whose disk fails, at any moment: nothing is lost, and the end is the same bytes.

Two ways: kills at random moments, and, with strace, one at the first, the second, the third ... call of each kind that
changes the disk, until there is none left.
"""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import manyclass as mc
from manyclass.data.store import journal
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


def test_killed_at_twenty_random_moments_it_goes_on_to_the_same_bytes(tmp_path, contents_of, fresh):
    check_random_kills(tmp_path, contents_of, fresh, n_kills=20, first_seed=0)


@pytest.mark.slow
def test_killed_at_a_hundred_random_moments_it_goes_on_to_the_same_bytes(tmp_path, contents_of, fresh):
    check_random_kills(tmp_path, contents_of, fresh, n_kills=100, first_seed=1000)


def can_trace():
    if shutil.which("strace") is None:
        return False
    return (
        subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], capture_output=True, check=False).returncode == 0
    )


traced = pytest.mark.skipif(not can_trace(), reason="strace is missing or may not trace")


def run_with_fault(path, call, fault, when):
    """Run the child with a fault at its when-th call of a kind."""
    inject = f"inject={call}:{fault}:when={when}"
    # The filter makes Python start faster, and does not go with signals.
    faster = [] if "signal" in fault else ["--seccomp-bpf"]
    trace = ["strace", "-f", *faster, "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", inject]
    return subprocess.run([*trace, *CHILD, path, str(FEW), "4"], capture_output=True, text=True, check=False)


def faults(tmp_path, old_store, call, fault, every=1):
    """(path, process) for a fault at the first call, the second ... until there are no more calls."""
    for when in range(1, 1000, every):
        path = tmp_path / f"{when}.store"
        shutil.copytree(old_store, path)
        process = run_with_fault(path, call, fault, when)
        if process.returncode == 0:
            return
        yield path, process


@traced
@pytest.mark.parametrize("call", ["pwrite64", "fsync", "rename", "unlink", "ftruncate"])
def test_killed_at_each_call_that_changes_the_disk_the_store_is_old_or_new_and_goes_on(
    tmp_path, old_store, renewed, contents_of, call
):
    hit = 0
    for path, process in faults(tmp_path, old_store, call, "signal=KILL"):
        hit += 1
        assert process.returncode == -9
        store = mc.open_store(path)
        store.X.check()
        assert store.shape in ((9, 3), (FEW, child.D))
        finish(path, FEW, contents_of, renewed)
    assert hit >= 2


def check_errors(folder, old_store, renewed, contents_of, call, error, every):
    hit = 0
    for path, process in faults(folder, old_store, call, f"error={error}", every):
        hit += 1
        assert process.returncode == 3, process.stderr
        assert process.stderr.startswith("disk full: " if error == "ENOSPC" else "disk error: ")
        assert str(path) in process.stderr
        assert process.stderr.count("\n") == 1
        mc.open_store(path).X.check()
        finish(path, FEW, contents_of, renewed)
    return hit


@traced
@pytest.mark.parametrize(("call", "error"), [("pwrite64", "ENOSPC"), ("fsync", "EIO")])
def test_an_error_of_the_disk_is_one_sentence_and_the_write_goes_on(
    tmp_path, old_store, renewed, contents_of, call, error
):
    assert check_errors(tmp_path, old_store, renewed, contents_of, call, error, every=3) >= 5


@traced
@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "error"), [("pwrite64", "ENOSPC"), ("pwrite64", "EIO"), ("fsync", "EIO"), ("fsync", "ENOSPC")]
)
def test_an_error_of_the_disk_at_each_call_without_a_gap(tmp_path, old_store, renewed, contents_of, call, error):
    assert check_errors(tmp_path, old_store, renewed, contents_of, call, error, every=1) >= 15


@traced
def test_a_disk_that_stays_broken_gives_one_sentence_too(tmp_path, old_store, contents_of, renewed):
    path = tmp_path / "a.store"
    shutil.copytree(old_store, path)
    process = run_with_fault(path, "pwrite64", "error=EIO", "9+")
    assert (process.returncode, process.stderr.count("\n")) == (3, 1)
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
