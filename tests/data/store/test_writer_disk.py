"""Full disks, and places where one may not write."""

import errno
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import manyclass as mc
from manyclass._core import files
from manyclass._core.errors import StorageError
from manyclass.data.store import StoreWriter
from tests.data.store import child


def mounted(folder, options):
    return subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True, check=False)


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 256 KB."""
    if shutil.which("mount") is None or mounted(tmp_path, "size=256k").returncode:
        pytest.skip("a file system can be mounted by root only")
    yield tmp_path
    subprocess.run(["umount", "-l", tmp_path], check=True)


X = np.zeros((2000, 64), np.float32)  # 512 KB


def test_a_store_that_does_not_fit_is_refused_before_it_is_begun(small_disk):
    mc.write_store(small_disk / "a.store", X[:100])
    with pytest.raises(
        StorageError, match=rf"disk full: writing a\.store needs 512\.0 kB and {small_disk} has \d+\.\d kB free"
    ):
        mc.write_store(small_disk / "a.store", X, overwrite=True)
    assert mc.open_store(small_disk / "a.store").verify() == []


def test_a_disk_that_fills_up_loses_nothing_and_the_write_goes_on_when_there_is_room(small_disk):
    (small_disk / "ballast").write_bytes(bytes(128 << 10))
    mc.write_store(small_disk / "a.store", X[:4])
    with (
        StoreWriter(small_disk / "a.store", 64, overwrite=True, block_bytes=4096) as writer,
        pytest.raises(StorageError, match=r"disk full: .*a\.store could not be written further; what was written"),
    ):
        writer.append(X[:600])
    assert len(mc.open_store(small_disk / "a.store")) == 4
    (small_disk / "ballast").unlink()
    with StoreWriter(small_disk / "a.store", 64, overwrite=True, block_bytes=4096) as writer:
        assert writer.rows_done > 200
        writer.append(X[writer.rows_done : 600])
        assert writer.commit().verify() == []


def test_a_limit_on_the_size_of_files_is_one_sentence(tmp_path):
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))  # noqa: E731
    process = subprocess.run(
        [sys.executable, "-B", child.__file__, tmp_path / "a.store", "48", "4"],
        preexec_fn=limit,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 3
    assert process.stderr.startswith("file too large: ")
    assert child.write(tmp_path / "a.store", 48).verify() == []


def test_a_folder_without_permission_is_one_sentence(public_store, as_nobody):
    words = r"permission denied: .*a\.store cannot be written; choose another place"
    with as_nobody(), pytest.raises(StorageError, match=words):
        mc.write_store(public_store.parent / "a.store", X[:3])


def test_a_read_only_disk_is_one_sentence_and_can_be_read(small_disk):
    mc.write_store(small_disk / "a.store", X[:3])
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    with pytest.raises(StorageError, match=r"read-only disk: .*a\.store cannot be written"):
        mc.append_store(small_disk / "a.store", X[:3])
    assert mc.open_store(small_disk / "a.store").verify() == []


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS, errno.EACCES])
def test_every_refusal_names_the_path_in_one_sentence(number):
    with pytest.raises(StorageError) as refusal, files.explain_disk_errors(Path("/data/a.store")):
        raise OSError(number, os.strerror(number))
    message = str(refusal.value)
    assert "/data/a.store" in message
    assert message[0].islower()
    assert "\n" not in message


def test_other_refusals_keep_the_words_of_the_system():
    words = r"too many open files: /data/a\.store cannot be written"
    with pytest.raises(StorageError, match=words), files.explain_disk_errors(Path("/data/a.store")):
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
