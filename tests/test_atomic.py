import errno
import os

import pytest

from manyclass._core.files import write_bytes


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
