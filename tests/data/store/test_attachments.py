"""Files that are committed with the rows of a store."""

import os
import warnings

import numpy as np
import pytest

import manyclass as mc
from manyclass._core.errors import StorageError, StoreCorruptedError
from manyclass.data.store import StoreWriter
from manyclass.data.store.attachments import Attachment, attachment_name
from manyclass.data.store.manifest import read_manifest

X = np.arange(12, dtype=np.float32).reshape(4, 3)


def write(path, content=b"learned", **options):
    return mc.write_store(path, X, attachments={"encoder": content, "skipped": b"{}\n"}, **options)


def names(path):
    return sorted(os.listdir(path))


def test_what_is_attached_comes_back_and_counts(tmp_path):
    store = write(tmp_path / "a.store")
    assert store.attachment("encoder") == b"learned"
    assert mc.open_store(tmp_path / "a.store").attachment("skipped") == b"{}\n"
    assert mc.write_store(tmp_path / "b.store", X).attachment("encoder") is None
    assert store.nbytes == mc.open_store(tmp_path / "b.store").nbytes + 7 + 3
    assert store.summary()["attachments"]["encoder"]["bytes"] == 7
    assert names(store.path) == ["X-0.npy", "encoder-0.safetensors", "manifest.json", "skipped-0.jsonl"]


def test_every_flipped_bit_is_found(tmp_path):
    store = write(tmp_path / "a.store")
    for name in ("encoder-0.safetensors", "skipped-0.jsonl"):
        whole = (store.path / name).read_bytes()
        for bit in range(8 * len(whole)):
            flipped = bytearray(whole)
            flipped[bit // 8] ^= 1 << bit % 8
            (store.path / name).write_bytes(flipped)
            assert [damage.file for damage in store.verify()] == [name]
            with pytest.raises(StoreCorruptedError, match=name):
                store.attachment(name.partition("-")[0])
        (store.path / name).write_bytes(whole)
    assert store.verify() == []


@pytest.mark.parametrize("damage", ["missing", "short", "long", "pipe"])
def test_a_store_without_its_attachment_is_refused_when_it_is_opened(tmp_path, damage):
    file = write(tmp_path / "a.store").path / "encoder-0.safetensors"
    if damage in ("missing", "pipe"):
        file.unlink()
    if damage == "pipe":
        os.mkfifo(file)
    if damage in ("short", "long"):
        file.write_bytes(b"learn" if damage == "short" else b"learned it")
    with pytest.raises(StoreCorruptedError, match="encoder-0"):
        mc.open_store(tmp_path / "a.store")
    assert [damage.file for damage in mc.verify_store(tmp_path / "a.store")] == ["encoder-0.safetensors"]


GOOD = {"name": "encoder-3.safetensors", "size": 7, "sha256": "0" * 64, "about": {}}


@pytest.mark.parametrize(
    "change",
    [
        {"name": "../encoder-3.safetensors"},
        {"name": "skipped-3.jsonl"},
        {"name": "encoder-3.jsonl"},
        {"name": "encoder-03.safetensors"},
        {"name": 3},
        {"size": -1},
        {"size": 7.0},
        {"size": 2**62},
        {"sha256": "0" * 63},
        {"sha256": None},
        {"about": []},
        {"more": 1},
    ],
)
def test_nothing_in_a_record_is_believed(change):
    assert Attachment.from_json("encoder", GOOD).json() == GOOD
    with pytest.raises(StorageError):
        Attachment.from_json("encoder", GOOD | change)
    with pytest.raises(StorageError):
        Attachment.from_json("other", GOOD)


def test_an_overwrite_keeps_nothing_of_what_was_attached(tmp_path):
    write(tmp_path / "a.store")
    store = mc.write_store(tmp_path / "a.store", X, overwrite=True)
    assert store.attachment("encoder") is None
    assert names(store.path) == ["X-1.npy", "manifest.json"]


def test_an_unfinished_write_keeps_what_is_attached_and_the_old_store_its_own(tmp_path):
    write(tmp_path / "a.store", b"old")
    with StoreWriter(tmp_path / "a.store", 3, overwrite=True) as writer:
        writer.attach("encoder", b"ne", b"w")
        writer.append(X)
    assert mc.open_store(tmp_path / "a.store").attachment("encoder") == b"old"
    with StoreWriter(tmp_path / "a.store", 3, overwrite=True) as writer:
        assert writer.rows_done == 4
        assert writer.commit().attachment("encoder") == b"new"
    assert names(tmp_path / "a.store") == ["X-1.npy", "encoder-1.safetensors", "manifest.json"]


def test_a_file_of_an_unfinished_write_that_was_damaged_is_written_anew(tmp_path):
    with StoreWriter(tmp_path / "a.store", 3) as writer:
        writer.attach("encoder", b"learned")
    (tmp_path / "a.store" / "encoder-0.safetensors").write_bytes(b"damaged")
    assert write(tmp_path / "a.store", resume=True).attachment("encoder") == b"learned"


def test_a_store_of_the_first_version_reads_as_before_and_its_append_stays_one(tmp_path, as_first_version):
    path = as_first_version(write(tmp_path / "a.store").path)
    assert mc.open_store(path).summary()["version"] == 1
    assert mc.append_store(path, X).shape == (8, 3)
    assert read_manifest(path).version == 1
    assert mc.verify_store(path) == []
    assert mc.write_store(path, X, overwrite=True).summary()["version"] == 2


@pytest.mark.parametrize("call", ["replace", "fsync", "unlink", "open"])
def test_whichever_call_fails_the_store_is_the_old_or_the_new_with_what_is_attached_to_it(tmp_path, failing_call, call):
    path, hit, when, warned = tmp_path / "a.store", True, 0, 0
    while hit:
        when += 1
        content = b"%d" % when
        write(path, b"old", overwrite=True)
        with (
            failing_call(call, when) as hit,
            warnings.catch_warnings(record=True, action="always") as caught,
        ):
            try:
                write(path, content, overwrite=True)
                told = content
            except StorageError:
                told = b"old"
        assert mc.open_store(path).attachment("encoder") == told
        assert mc.verify_store(path) == []
        assert not (path / "lock").exists() or call == "unlink"
        warned += len(caught)
        assert write(path, content, overwrite=True, resume=False).attachment("encoder") == content
        assert len(names(path)) == 4
    assert when > {"replace": 4, "fsync": 10, "unlink": 5, "open": 10}[call]
    assert warned or call == "replace"  # some come after the commit


def test_names_are_those_of_the_format():
    assert attachment_name("skipped", 12) == "skipped-12.jsonl"
