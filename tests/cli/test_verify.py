"""manyclass verify, as a user meets it."""

import json

import numpy as np
import pytest

import manyclass as mc


@pytest.fixture
def store(tmp_path):
    X = np.random.default_rng(0).standard_normal((100, 8), dtype=np.float32)
    return mc.write_store(tmp_path / "x.store", X, y=np.arange(100) % 5).path


def flip(path, where):
    content = bytearray(path.read_bytes())
    content[where] ^= 1
    path.write_bytes(content)


def test_a_good_store_is_exit_zero(run, store):
    outcome = run("verify", store)
    assert outcome.code == 0
    assert "none" in outcome.out


def test_json_of_a_good_store_names_no_damage(run, store):
    result = json.loads(run("verify", store, "--json").out)
    assert (result["good"], result["damage"]) == (True, [])
    assert result["bytes"] == sum(file.stat().st_size for file in store.iterdir())


@pytest.mark.parametrize(("name", "where", "block"), [("X-0.npy", 1000, 0), ("y-0.npy", -1, 0), ("X-0.npy", 3, None)])
def test_a_flipped_bit_is_named_by_file_and_block(run, store, name, where, block):
    flip(store / name, where)
    outcome = run("verify", store, "--json")
    (damage,) = json.loads(outcome.out)["damage"]
    assert outcome.code == 1
    assert (damage["file"], damage["block"]) == (name, block)
    assert damage["reason"]


def test_every_damage_is_in_the_table(run, store):
    flip(store / "X-0.npy", 1000)
    (store / "y-0.npy").unlink()
    outcome = run("verify", store)
    assert outcome.code == 1
    assert "X-0.npy" in outcome.out
    assert "block 0" in outcome.out
    assert "y-0.npy" in outcome.out


def test_a_link_to_nothing_beside_the_files_is_no_concern(run, store):
    (store / "elsewhere").symlink_to("nowhere")
    outcome = run("verify", store)
    assert (outcome.code, outcome.err) == (0, "")


def test_a_newer_version_is_one_sentence_and_not_damage(run, store):
    from manyclass._core.sealed import seal
    from manyclass.data.store.manifest import read_manifest

    (store / "manifest.json").write_bytes(seal(read_manifest(store).content() | {"version": 3}))
    verified, described = run("verify", store), run("info", store)
    assert (verified.code, verified.out) == (1, "")
    assert verified.err == described.err
    assert "it has format version 3" in verified.err


def test_a_damaged_manifest_is_damage(run, store):
    flip(store / "manifest.json", 50)
    outcome = run("verify", store, "--json")
    assert outcome.code == 1
    assert [damage["file"] for damage in json.loads(outcome.out)["damage"]] == ["manifest.json"]


@pytest.mark.parametrize("name", ["missing", "empty_folder", "file"])
def test_what_is_no_store_is_one_sentence_and_exit_one(run, tmp_path, name):
    (tmp_path / "empty_folder").mkdir()
    (tmp_path / "file").touch()
    outcome = run("verify", tmp_path / name)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("manyclass: ")
    assert outcome.err.count("\n") == 1
