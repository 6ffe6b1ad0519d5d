"""manyclass demo, in small."""

import errno
import json
import os
import re
import shutil

import numpy as np
import pytest
from PIL import Image

import manyclass as mc


@pytest.fixture
def small(run, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def call(*options):
        return run("demo", "-o", tmp_path / "demo", "--classes", 12, "--per-class", 8, *options)

    return call


def test_json_is_one_object_and_nothing_else(small):
    outcome = small("--json")
    result = json.loads(outcome.out)
    assert (outcome.code, outcome.err) == (0, "")
    assert (result["rows"], result["dimensions"], result["classes"]) == (96, 640, 12)


def test_both_stores_and_the_picture_are_left_for_the_user(small, tmp_path):
    small("--quiet")
    whole, codes = (mc.open_store(tmp_path / "demo" / name) for name in ("glyphs.store", "small.store"))
    assert whole.shape == codes.shape == (96, 640)
    assert codes.X.nbytes == whole.X.nbytes / 32
    assert whole.y.tolist() == codes.y.tolist()
    with Image.open(tmp_path / "demo" / "glyphs.png") as page:
        assert page.width > 27 * 32


def test_the_flipped_bit_is_found_and_the_stores_are_good(small, run, tmp_path):
    result = json.loads(small("--json").out)
    assert result["good"]
    assert "codes-0.npy block 0" in result["found"]
    assert run("verify", tmp_path / "demo" / "small.store").code == 0


def test_characters_are_recognized_from_numbers_and_from_codes(small):
    result = json.loads(small("--json").out)
    assert result["accuracy"] > 0.7
    assert result["code_accuracy"] > 0.7


def test_the_table_tells_the_story(small):
    outcome = small()
    for words in ("times smaller", "X @ W", "X' R", "threads", "nearest class mean", "a flipped bit"):
        assert words in outcome.out
    assert "drawing 12 x 8 characters" in outcome.err


def test_it_can_be_run_again_over_itself(small):
    small("--quiet")
    assert small("--quiet").code == 0


@pytest.mark.parametrize("name", ["glyphs.store", "small.store"])
@pytest.mark.parametrize("finished", [True, False])
def test_a_store_that_the_demo_did_not_make_is_not_touched(small, tmp_path, name, finished):
    path = tmp_path / "demo" / name
    if name == "small.store":
        small("--quiet")
        shutil.rmtree(path)
    with mc.StoreWriter(path, 2, identity={"whose": "mine"}) as writer:
        writer.append(np.ones((3, 2)))
        if finished:
            writer.commit()
    before = {file.name: file.read_bytes() for file in path.iterdir()}
    outcome = small("--quiet")
    assert outcome.code == 1
    assert outcome.err == f"manyclass: {path} was not made by the demo; choose another folder with --out\n"
    assert {file.name: file.read_bytes() for file in path.iterdir()} == before


def test_a_folder_of_other_things_is_not_touched(small, tmp_path):
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "glyphs.png").write_bytes(b"mine")
    outcome = small("--quiet")
    assert outcome.code == 1
    assert outcome.err == f"manyclass: {tmp_path / 'demo'} has other things in it; choose another folder with --out\n"
    assert [file.read_bytes() for file in (tmp_path / "demo").iterdir()] == [b"mine"]


@pytest.mark.parametrize("name", ["glyphs.store", "small.store"])
def test_an_interrupted_demo_starts_over_with_other_options(small, tmp_path, monkeypatch, name):
    commit = mc.StoreWriter.commit_columns

    def interrupt(writer, *rest):
        if writer.path.name == name:
            raise KeyboardInterrupt
        return commit(writer, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(mc.StoreWriter, "commit_columns", interrupt)
        assert small("--quiet").code == 130
    assert small("--quiet", "--seed", 3, "--per-class", 5).code == 0
    assert mc.open_store(tmp_path / "demo" / "small.store").shape == (60, 640)


def test_a_full_disk_for_temporary_files_is_one_sentence(small, monkeypatch):
    def full(source, target):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(source), None, str(target))

    monkeypatch.setattr(shutil, "copyfile", full)
    outcome = small("--quiet")
    assert outcome.code == 1
    assert re.fullmatch(r"manyclass: \S*/copy\.store/\S+: no space left on device\n", outcome.err)


def test_too_many_classes_are_one_sentence(small, monkeypatch):
    from manyclass.datasets import glyph_alphabet

    monkeypatch.setattr(glyph_alphabet, "_candidates", lambda: list("abc"))
    outcome = small("--quiet")
    assert outcome.code == 1
    assert outcome.err == "manyclass: n_classes must be at most 3, as many as the fonts here draw; got 12\n"
