"""Files that are there whole or not at all, and the lock of a folder."""

import errno
import fcntl
import os
import subprocess
import sys
import threading

import pytest

from manyclass._core.errors import StorageError
from manyclass._core.files import FolderLock, write_bytes


def test_the_parts_are_written_one_after_the_other(tmp_path):
    write_bytes(tmp_path / "a", b"one ", bytearray(b"two "), memoryview(b"three"))
    assert (tmp_path / "a").read_bytes() == b"one two three"


def test_a_system_that_takes_little_at_a_time_gets_it_all(tmp_path, monkeypatch):
    pwrite = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda descriptor, data, offset: pwrite(descriptor, data[:3], offset))
    write_bytes(tmp_path / "a", b"ten bytes!")
    assert (tmp_path / "a").read_bytes() == b"ten bytes!"


@pytest.mark.parametrize("call", ["pwrite", "fsync", "replace"])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, call):
    (tmp_path / "a").write_bytes(b"old")

    def fail(*_):
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(OSError, match="no space"):
        write_bytes(tmp_path / "a", b"new")
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {"a": b"old"}


def test_the_file_is_synced_before_it_has_its_name_and_the_folder_after(tmp_path, monkeypatch):
    log, replace = [], os.replace
    monkeypatch.setattr(os, "fsync", lambda descriptor: log.append(os.fstat(descriptor).st_ino))
    monkeypatch.setattr(os, "replace", lambda source, target: log.append("rename") or replace(source, target))
    write_bytes(tmp_path / "a", b"new")
    assert log == [(tmp_path / "a").stat().st_ino, "rename", tmp_path.stat().st_ino]


_HOLDER = """
import sys, time
from pathlib import Path
from manyclass._core.files import FolderLock
lock = FolderLock(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", _HOLDER, tmp_path], stdout=subprocess.PIPE)
    process.stdout.readline()
    yield process
    process.kill()
    process.communicate()


def test_another_process_is_refused_with_the_number_of_the_holder(tmp_path, holder):
    with pytest.raises(StorageError, match=rf"is being written by process {holder.pid}; wait for it or stop it"):
        FolderLock(tmp_path)


def test_the_lock_dies_with_its_holder(tmp_path, holder):
    holder.kill()
    holder.wait()
    assert (tmp_path / "lock").exists()
    FolderLock(tmp_path).release()
    assert os.listdir(tmp_path) == []


def test_a_lock_can_be_taken_again_after_its_release(tmp_path):
    for _ in range(3):
        lock = FolderLock(tmp_path)
        lock.release()
        lock.release()


def test_a_lock_on_a_file_that_its_last_holder_just_removed_is_not_one(tmp_path, monkeypatch):
    flock, removals = fcntl.flock, [1]

    def flock_too_late(descriptor, how):
        if removals:
            (tmp_path / "lock").unlink()
            removals.pop()
        return flock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", flock_too_late)
    lock = FolderLock(tmp_path)
    with pytest.raises(StorageError, match="is being written"):
        FolderLock(tmp_path)
    lock.release()


def test_of_many_that_come_at_once_one_at_a_time_has_it(tmp_path):
    inside, most, taken = [0], [0], [0]
    guard = threading.Lock()

    def work():
        for _ in range(200):
            try:
                lock = FolderLock(tmp_path)
            except StorageError:
                continue
            with guard:
                inside[0] += 1
                taken[0] += 1
                most[0] = max(most[0], inside[0])
            with guard:
                inside[0] -= 1
            lock.release()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most[0] == 1
    assert taken[0] > 1
