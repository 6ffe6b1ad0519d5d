"""What a command says where it has done all that was asked, and the disk has not confirmed it."""

import os

import numpy as np
import pytest

import manyclass as mc
from tests.cli.gallery_data import labeled

SENTENCE = "is written, but the disk has not confirmed that this lasts"


@pytest.fixture
def gallery(tmp_path):
    """A gallery whose images have numbers, and rows to add."""
    np.save(tmp_path / "x.npy", labeled()[0])
    np.save(tmp_path / "more.npy", labeled(16, seed=5)[0])
    mc.runs.build_gallery(tmp_path / "x.npy", tmp_path / "g", method="none")
    return tmp_path / "g"


@pytest.fixture
def lasting_nowhere(monkeypatch):
    """From the rename of a manifest on, no folder can be synced and no file removed."""
    replace = os.replace

    def refuse(*arguments, **more):
        raise OSError(5, "Input/output error")

    def commit(source, target):
        replace(source, target)
        if os.fspath(target).endswith("manifest.json"):
            monkeypatch.setattr(os, "fsync", refuse)
            monkeypatch.setattr(os, "unlink", refuse)

    monkeypatch.setattr(os, "replace", commit)


@pytest.mark.filterwarnings("default")
def test_a_disk_that_fails_after_the_commit_is_one_line_and_success(run, gallery, tmp_path, lasting_nowhere):
    outcome = run("encode", tmp_path / "more.npy", "-o", gallery, "--add", "--quiet")
    assert outcome.code == 0, outcome.err
    first, *more = outcome.err.splitlines()
    assert first == f"manyclass: {gallery / 'manifest.json'} {SENTENCE} (input/output error)"
    assert more == [f"manyclass: {gallery} {SENTENCE} (input/output error)"]  # what could not be removed
    assert len(mc.Gallery.open(gallery)) == 112


@pytest.mark.filterwarnings("default")
def test_a_store_is_no_different(run, gallery, tmp_path, lasting_nowhere):
    outcome = run("compress", tmp_path / "x.npy", "-o", tmp_path / "a.store", "--quiet", "--kind", "scalar")
    assert outcome.code == 0, outcome.err
    lines = outcome.err.splitlines()
    assert [SENTENCE in line and line.startswith("manyclass: ") for line in lines] == [True] * len(lines)
    assert len(lines) == 2  # the name of the manifest, and what could not be removed
    assert mc.verify_store(tmp_path / "a.store") == []


def test_to_add_the_same_again_is_one_line_and_success(run, gallery, tmp_path):
    for words in ("", f"manyclass: {tmp_path / 'more.npy'} was added to {gallery} already, and is not added again\n"):
        outcome = run("encode", tmp_path / "more.npy", "-o", gallery, "--add", "--quiet")
        assert (outcome.code, outcome.err) == (0, words)
    assert len(mc.Gallery.open(gallery)) == 112


@pytest.mark.parametrize("arguments", [("info",), ("verify",), ("search", "--id", "3")])
def test_commands_that_read_leave_the_folder_as_it_is(run, gallery, arguments):
    before = sorted(os.listdir(gallery))
    os.chmod(gallery, 0o555)
    assert run(arguments[0], gallery, *arguments[1:]).code == 0
    os.chmod(gallery, 0o755)
    assert sorted(os.listdir(gallery)) == before
