"""Files that are there whole or not at all, and the lock of a folder."""

import errno
import fcntl
import os
import subprocess
import sys
import threading

import pytest

from manyclass._core.errors import DurabilityWarning, StorageError
from manyclass._core.files import (
    FolderLock,
    check_output,
    expand_home,
    make_folder,
    open_own,
    remove_stale_lock,
    replace_file,
    replacing,
    write_at,
    write_bytes,
    write_new_folder,
)


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


def test_what_fails_after_the_rename_is_a_warning_since_the_new_file_is_there(tmp_path, failing_call):
    (tmp_path / "a").write_bytes(b"old")
    with (
        failing_call("fsync", 2),
        pytest.warns(DurabilityWarning, match=r"a is written, but the disk has not confirmed"),
    ):
        write_bytes(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"new"


def test_the_name_of_a_part_must_last_before_anything_speaks_of_it(tmp_path, failing_call):
    with failing_call("fsync", 2), pytest.raises(OSError, match="Input"):
        write_bytes(tmp_path / "a", b"new", part=True)
    with failing_call("fsync", 1), pytest.raises(OSError, match="Input"):
        replace_file(tmp_path / "a", tmp_path / "b", part=True)


PLANTED = {
    "symlink": lambda path, mine: path.symlink_to(mine),
    "dangling": lambda path, mine: path.symlink_to(mine.with_name("elsewhere")),
    "link": lambda path, mine: path.hardlink_to(mine),
    "pipe": lambda path, mine: os.mkfifo(path),
}


@pytest.fixture(params=PLANTED)
def plant(request, tmp_path):
    """A function that puts something at a path of ours that leads elsewhere, or hangs whoever opens it."""
    mine = tmp_path / "mine"
    mine.write_bytes(b"precious")
    yield lambda path: PLANTED[request.param](path, mine)
    assert mine.read_bytes() == b"precious"
    assert not (tmp_path / "elsewhere").exists()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "folder").mkdir()
    return tmp_path / "folder"


def test_what_is_planted_at_a_temporary_name_is_replaced_and_never_written_through(folder, plant):
    plant(folder / "a.tmp")
    write_bytes(folder / "a", b"new")
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == {"a": b"new"}


def test_what_is_planted_at_the_lock_is_replaced_and_never_written_through(folder, plant):
    plant(folder / "lock")
    lock = FolderLock(folder)
    assert (folder / "lock").read_bytes() == str(os.getpid()).encode()
    lock.release()
    assert os.listdir(folder) == []


def test_what_is_planted_at_a_file_that_is_changed_in_place_is_refused(folder, plant):
    plant(folder / "journal")
    for flags in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_RDWR | os.O_CREAT):
        with pytest.raises(StorageError, match=r"journal must be a regular file; it is a link, a pipe or a folder"):
            os.close(open_own(folder / "journal", flags))


def test_a_folder_at_the_lock_is_one_sentence(folder):
    (folder / "lock").mkdir()
    with pytest.raises(StorageError, match="lock must be a regular file"):
        FolderLock(folder)


@pytest.mark.parametrize("call", ["pwrite", "ftruncate"])
def test_a_lock_that_cannot_be_had_leaves_no_file(folder, failing_call, call):
    with failing_call(call, 1), pytest.raises(OSError, match="Input"):
        FolderLock(folder)
    assert os.listdir(folder) == []


def test_a_lock_whose_file_cannot_be_removed_is_released_all_the_same(folder, failing_call):
    lock = FolderLock(folder)
    with failing_call("unlink", 1):
        lock.release()
    remove_stale_lock(folder)
    assert os.listdir(folder) == []


def test_the_lock_of_one_who_is_alive_is_not_stale(tmp_path, holder):
    remove_stale_lock(tmp_path)
    assert (tmp_path / "lock").read_bytes() == str(holder.pid).encode()


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


def test_every_folder_that_is_made_has_its_name_synced_in_the_one_above(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_ino))
    make_folder(tmp_path / "a" / "b" / "c")
    assert synced == [path.stat().st_ino for path in (tmp_path / "a" / "b", tmp_path / "a", tmp_path)]
    make_folder(tmp_path / "a" / "b" / "c")
    assert len(synced) == 3  # what was there is as it was


def test_folders_whose_names_do_not_last_are_not_left(tmp_path, failing_call):
    with failing_call("fsync", 2), pytest.raises(OSError, match="Input"):
        make_folder(tmp_path / "a" / "b")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path, file: os.mkfifo(path), "is a pipe"),
        (lambda path, file: path.symlink_to(file), "is a link"),
        (lambda path, file: path.symlink_to("nowhere"), "is a link"),
        (lambda path, file: path.mkdir(), "is a folder"),
    ],
    ids=["pipe", "link", "dangling", "folder"],
)
def test_what_is_no_file_is_not_replaced_by_one(tmp_path, make, words):
    file, path = tmp_path / "file", tmp_path / "out"
    file.write_text("mine")
    check_output(file)
    check_output(path)  # a new name
    make(path, file)
    with pytest.raises(StorageError, match=words) as raised:
        check_output(path, "print it")
    assert str(path) in str(raised.value)
    assert "print it" in str(raised.value)


def test_a_home_folder_that_nobody_has_is_one_sentence(monkeypatch):
    monkeypatch.setenv("HOME", "/here")
    assert str(expand_home("~/x")) == "/here/x"
    with pytest.raises(ValueError, match=r"~no_such_user/x is in a home folder that is not known; write it in full"):
        expand_home("~no_such_user/x")


def test_a_folder_is_made_whole(tmp_path):
    write_new_folder(tmp_path / "new" / "out", {"a.csv": b"1", "b.json": b"2"})
    assert {path.name: path.read_bytes() for path in (tmp_path / "new" / "out").iterdir()} == {
        "a.csv": b"1",
        "b.json": b"2",
    }
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["out"]


def test_a_folder_that_cannot_be_finished_is_not_left(tmp_path, failing_call):
    with failing_call("rename", 1) as hit, pytest.raises(OSError, match="Input/output error"):
        write_new_folder(tmp_path / "out", {"a.csv": b"1"})
    assert hit
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_replaced_and_what_others_left_is_not(tmp_path):
    (tmp_path / "out.tmp").mkdir()
    (tmp_path / "out.tmp" / "a.csv").write_bytes(b"half")
    write_new_folder(tmp_path / "out", {"a.csv": b"1"})
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    (tmp_path / "other.tmp").mkdir()
    (tmp_path / "other.tmp" / "mine.txt").write_bytes(b"mine")
    with pytest.raises(StorageError, match=r"it holds mine\.txt; choose another name"):
        write_new_folder(tmp_path / "other", {"a.csv": b"1"})
    assert (tmp_path / "other.tmp" / "mine.txt").read_bytes() == b"mine"


def test_a_new_file_takes_its_name_when_it_is_done(tmp_path):
    (tmp_path / "a").write_bytes(b"old")
    with replacing(tmp_path / "a") as descriptor:
        write_at(descriptor, b"new", 0)
        assert (tmp_path / "a").read_bytes() == b"old"
    assert (tmp_path / "a").read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["a"]


def test_a_new_file_that_fails_was_never_there(tmp_path):
    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(OSError, match="Invalid"), replacing(tmp_path / "a") as descriptor:
        write_at(descriptor, b"new", -1)
    assert (tmp_path / "a").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_a_new_file_takes_the_place_of_a_file_alone(tmp_path):
    with pytest.raises(StorageError, match="is a folder"), replacing(tmp_path):
        pytest.fail("a folder was opened")
