"""verify_store tells damage from everything else that may be in the way. What it finds is in test_verify_damage.py."""

import dataclasses

import numpy as np
import pytest

import manyclass as mc
from manyclass._core.errors import StorageError
from manyclass.data.store import verify_store
from manyclass.data.store.manifest import read_manifest, write_array


def test_a_store_overwritten_while_it_is_checked_is_checked_as_it_is_now(full_store, rows):
    left = [True]

    def overwrite_once(done, total):
        if left:
            left.pop()
            mc.write_store(full_store.path, rows, overwrite=True)

    assert verify_store(full_store.path, overwrite_once) == []


def test_a_store_that_is_overwritten_all_the_time_is_not_called_damaged(full_store, rows):
    def overwrite(done, total):
        mc.write_store(full_store.path, rows, y=[0] * 60, overwrite=True)

    with pytest.raises(StorageError, match="is overwritten faster than it can be read; try again"):
        verify_store(full_store.path, overwrite)


def test_a_file_that_goes_while_its_blocks_are_read_is_missing(full_store, monkeypatch):
    monkeypatch.setattr("manyclass.data.store.verify._AT_ONCE", 1)

    def remove(done, total):
        (full_store.path / "codes-0.npy").unlink(missing_ok=True)

    assert [str(damage) for damage in verify_store(full_store.path, remove)] == ["codes-0.npy is missing"]


def sentence_of(act, path):
    with pytest.raises(StorageError) as refusal:
        act(path)
    return str(refusal.value)


def newer(path):
    from manyclass._core.sealed import seal

    content = read_manifest(path).content() | {"version": 99}
    (path / "manifest.json").write_bytes(seal(content))


def missing(path):
    (path / "manifest.json").unlink()


def undecodable(path):
    """All checksums are right, and yet no reader takes it."""
    manifest = read_manifest(path)
    quantizer = manifest.quantizer
    name = quantizer.arrays["scale"].name
    arrays = quantizer.arrays | {"scale": write_array(path, name, np.zeros(5, np.float32))}
    changed = dataclasses.replace(manifest, quantizer=dataclasses.replace(quantizer, arrays=arrays))
    (path / "manifest.json").write_bytes(changed.to_bytes())


@pytest.mark.parametrize("spoil", [newer, missing, undecodable])
def test_what_is_no_damage_is_the_sentence_with_which_opening_fails(full_store, spoil):
    spoil(full_store.path)
    assert sentence_of(verify_store, full_store.path) == sentence_of(mc.open_store, full_store.path)


@pytest.mark.parametrize("name", ["codes-1.npy", "y-0.npy", "manifest.json"])
@pytest.mark.parametrize("use", [verify_store, mc.open_store])
def test_a_file_that_may_not_be_read_is_not_called_damaged(public_store, as_nobody, name, use):
    (public_store / name).chmod(0)
    with as_nobody():
        told = sentence_of(use, public_store)
    assert told == f"{public_store / name} cannot be read: permission denied; change its permissions"


def test_a_folder_that_may_not_be_entered_is_not_called_damaged(public_store, as_nobody):
    public_store.chmod(0)
    with as_nobody():
        told = sentence_of(verify_store, public_store)
    assert told.endswith("cannot be read: permission denied; change its permissions")
