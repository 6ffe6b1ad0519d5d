"""Interrupted and killed, a run goes on to the same bytes."""

import errno
import os
import subprocess
import sys
import time

import pytest

import manyclass as mc
from manyclass.features.extraction.run_identity import images_digest
from manyclass.features.extraction.skip_log import read_skipped
from manyclass.features.images import decoding
from tests.features import child
from tests.features.child import Means, Pairs
from tests.features.extraction.written import contents_of, many_images, skip_file


def stop_after(n):
    def progress(done, total):
        if done >= n:
            raise KeyboardInterrupt

    return progress


@pytest.mark.parametrize("stop", [1, 9, 13, 14, 15, 16, 25, 60])
def test_an_interrupted_run_goes_on_to_the_same_bytes(tmp_path, folder, stop):
    whole, cut = tmp_path / "whole.store", tmp_path / "cut.store"
    child.write(whole, folder)
    with pytest.raises(KeyboardInterrupt):
        child.write(cut, folder, progress=stop_after(stop))
    run = child.write(cut, folder)
    assert run.resumed_after > 0 or stop < 14  # a dozen are for the quantizer, before any is written
    assert contents_of(cut) == contents_of(whole)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_a_machine_without_room_for_open_files_stops_a_run_that_goes_on_later(tmp_path, folder, n_threads, monkeypatch):
    whole, cut, open_file = tmp_path / "whole.store", tmp_path / "cut.store", decoding.open_file
    child.write(whole, folder)

    def fail_once(path, kind):
        if path.endswith("44.png") and not os.path.exists(tmp_path / "failed"):  # which processes can see
            (tmp_path / "failed").touch()
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), path)
        return open_file(path, kind)

    monkeypatch.setattr(decoding, "open_file", fail_once)
    with (
        mc.threads(n_threads),
        pytest.raises(mc.StorageError, match=r"44\.png cannot be read: too many open files; raise the limit"),
    ):
        child.write(cut, folder)
    child.write(cut, folder)
    assert contents_of(cut) == contents_of(whole)


@pytest.mark.parametrize("code", [errno.EIO, errno.ENOMEM])
def test_a_picture_whose_size_the_disk_does_not_tell_is_no_other_picture(monkeypatch, code):
    def fail(path, *args, **kwargs):
        raise OSError(code, os.strerror(code), path)

    with monkeypatch.context() as patch:
        patch.setattr("manyclass.features.extraction.write_features.os.stat", fail)
        with pytest.raises(mc.StorageError, match=r"^x\.png cannot be read"):
            images_digest(["x.png"])


@pytest.mark.parametrize("change", ["encoder", "images", "pixels", "seed", "names"])
def test_another_run_is_not_taken_for_the_interrupted_one(tmp_path, change):
    settings = {"images": many_images(), "encoder": Means(), "names": [f"{i}" for i in range(40)]}
    with pytest.raises(KeyboardInterrupt):
        mc.write_features(tmp_path / "a.store", **settings, progress=stop_after(9))
    other = {
        "encoder": {"encoder": Pairs()},
        "images": {"images": many_images()[::-1]},
        "pixels": {"max_pixels": 50},
        "seed": {"seed": 1},
        "names": {"names": [f"x{i}" for i in range(40)]},
    }[change]
    with pytest.raises(mc.StorageError, match="unfinished write of something else"):
        mc.write_features(tmp_path / "a.store", **{**settings, **other})
    assert len(mc.write_features(tmp_path / "a.store", **{**settings, **other}, resume=False).store) == 40


def test_without_the_list_of_skipped_images_a_run_is_not_gone_on_with(tmp_path, folder):
    with pytest.raises(KeyboardInterrupt):
        child.write(tmp_path / "a.store", folder, progress=stop_after(20))
    skip_file(tmp_path / "a.store").unlink()
    with pytest.raises(mc.StorageError, match="resume=False"):
        child.write(tmp_path / "a.store", folder)


def test_a_line_that_a_crash_cut_short_is_forgotten(tmp_path, folder):
    child.write(tmp_path / "whole.store", folder)
    with pytest.raises(KeyboardInterrupt):
        child.write(tmp_path / "a.store", folder, progress=stop_after(20))
    with open(skip_file(tmp_path / "a.store"), "ab") as file:
        file.write(b'{"position":21,"na')
    child.write(tmp_path / "a.store", folder)
    assert contents_of(tmp_path / "a.store") == contents_of(tmp_path / "whole.store")


def test_a_store_that_is_written_anew_has_a_list_of_its_own(tmp_path, folder):
    child.write(tmp_path / "a.store", folder)
    assert len(read_skipped(tmp_path / "a.store")) == 9
    mc.write_features(tmp_path / "a.store", many_images(), Means(), overwrite=True)
    assert read_skipped(tmp_path / "a.store") == []


def kill_at(store, folder, done):
    """Kill a writer once it tells of so many pictures; whether it was not through."""
    process = subprocess.Popen([sys.executable, "-B", child.__file__, store, folder], stdout=subprocess.PIPE)
    for line in process.stdout:
        if int(line) >= done:
            break
    time.sleep(0.0007 * (done % 5))
    process.kill()
    process.stdout.close()
    return process.wait() != 0


def test_killed_six_times_it_goes_on_to_the_same_bytes(disk_path, folder):
    whole, path = disk_path / "whole.store", disk_path / "a.store"
    child.write(whole, folder)
    # Each goes on where the one before was killed, which may be some pictures earlier than it told.
    killed = sum(kill_at(path, folder, done) for done in (2, 14, 20, 32, 44, 56))
    assert killed >= 5
    child.write(path, folder)
    assert contents_of(path) == contents_of(whole)
