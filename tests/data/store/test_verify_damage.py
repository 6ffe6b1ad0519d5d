"""One wrong bit, one missing byte, one strange file: each is found, and the file and block are named."""

import os
import shutil
import zlib

import numpy as np
import pytest

import manyclass as mc
from manyclass._core.errors import StorageError, StoreCorruptedError
from manyclass.data.scalar_quantizer import ScalarQuantizer
from manyclass.data.store import verify_store
from manyclass.data.store.blocks import BlockFile
from manyclass.data.store.manifest import read_manifest


def flip(path, bit):
    with open(path, "r+b", buffering=0) as file:
        byte = os.pread(file.fileno(), 1, bit // 8)[0]
        os.pwrite(file.fileno(), bytes([byte ^ 1 << bit % 8]), bit // 8)


def files_of(path):
    return {record.name: record for record in read_manifest(path).files()}


def block_at(record, byte):
    return None if byte < record.header_bytes else (byte - record.header_bytes) // record.block_bytes


def use_all(path):
    mc.open_store(path).X.check()


@pytest.mark.parametrize("flips", [2000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_every_one_of_thousands_of_flipped_bits_is_found_in_its_file_and_block(full_store, flips):
    path, rng = full_store.path, np.random.default_rng(0)
    records = files_of(path)
    sizes = {name: (path / name).stat().st_size for name in ("manifest.json", *records)}
    # Every file gets its share, and no file, however small, goes without.
    names = rng.choice(list(sizes), flips, p=[0.5 / len(sizes) + 0.5 * s / sum(sizes.values()) for s in sizes.values()])
    for name in names.tolist():
        bit = int(rng.integers(8 * sizes[name]))
        flip(path / name, bit)
        with pytest.raises(StoreCorruptedError) as found:
            BlockFile(path, records[name]).check() if name in records else read_manifest(path)
        flip(path / name, bit)
        expected = block_at(records[name], bit // 8) if name in records else None
        assert (found.value.damage.file, found.value.damage.block) == (name, expected)
    assert verify_store(path) == []


@pytest.mark.parametrize("seed", range(30))
def test_a_flipped_bit_is_found_by_use_and_by_verify(full_store, seed):
    path, rng = full_store.path, np.random.default_rng(seed)
    records = files_of(path)
    name = rng.choice(["manifest.json", *records])
    bit = int(rng.integers(8 * (path / name).stat().st_size))
    flip(path / name, bit)
    with pytest.raises(StoreCorruptedError, match=rf"full\.store is damaged: {name} "):
        use_all(path)
    block = block_at(records[name], bit // 8) if name in records else None
    assert [(damage.file, damage.block) for damage in full_store.verify()] == [(name, block)]


def test_damage_names_the_file_the_block_and_its_bytes(full_store):
    record = files_of(full_store.path)["codes-1.npy"]
    flip(full_store.path / "codes-1.npy", 8 * (record.span(2)[0] + 5))
    start, stop = record.span(2)
    with pytest.raises(StoreCorruptedError, match=rf"codes-1\.npy block 2 \(bytes {start} to {stop}\) does not match"):
        use_all(full_store.path)


def test_verify_reports_all_damage_and_not_only_the_first(full_store):
    path, records = full_store.path, files_of(full_store.path)
    for block in (0, 3):
        flip(path / "codes-0.npy", 8 * records["codes-0.npy"].span(block)[0])
    flip(path / "y-1.npy", 100)
    (path / "names-0.npy").unlink()
    with open(path / "split-0.npy", "ab") as file:
        file.write(b"x")
    found = {(damage.file, damage.block, damage.reason.split()[0]) for damage in verify_store(path)}
    assert found == {
        ("codes-0.npy", 0, "(bytes"),
        ("codes-0.npy", 3, "(bytes"),
        ("y-1.npy", None, "has"),
        ("names-0.npy", None, "is"),
        ("split-0.npy", None, "has"),
    }


def test_every_file_cut_at_every_boundary_is_refused(full_store):
    path = full_store.path
    for name, record in files_of(path).items():
        whole = (path / name).read_bytes()
        ends = {record.header_bytes, *(stop for block in range(record.n_blocks) for stop in record.span(block))}
        for cut in sorted({0, 1, *(end + step for end in ends for step in (-1, 0, 1)), len(whole) + 1} - {len(whole)}):
            (path / name).write_bytes((whole + b"\0\0")[:cut])
            with pytest.raises(StoreCorruptedError, match=rf"{name} has {cut} bytes and not {len(whole)}"):
                use_all(path)
            assert (name, None) in {(damage.file, damage.block) for damage in verify_store(path)}
        (path / name).write_bytes(whole)


def test_a_manifest_of_any_other_length_is_refused(full_store):
    manifest = full_store.path / "manifest.json"
    whole = manifest.read_bytes()
    for cut in [*range(0, len(whole), 7), len(whole) - 1]:
        manifest.write_bytes(whole[:cut])
        with pytest.raises(StoreCorruptedError, match=r"manifest\.json does not match its own checksum"):
            mc.open_store(full_store.path)
    for more in (b" ", b"\n", b"\0"):
        manifest.write_bytes(whole + more)
        with pytest.raises(StoreCorruptedError, match=r"manifest\.json does not match its own checksum"):
            mc.open_store(full_store.path)


def test_each_missing_file_is_named(full_store):
    for name in files_of(full_store.path):
        shutil.move(full_store.path / name, full_store.path / "elsewhere")
        with pytest.raises(StoreCorruptedError, match=f"{name} is missing"):
            mc.open_store(full_store.path)
        shutil.move(full_store.path / "elsewhere", full_store.path / name)


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_what_is_not_a_file_is_refused_without_waiting_for_it(full_store, make):
    (full_store.path / "codes-0.npy").unlink()
    make(full_store.path / "codes-0.npy")
    with pytest.raises(StoreCorruptedError, match=r"codes-0\.npy must be a regular file; it is a (folder|FIFO)"):
        mc.open_store(full_store.path)
    reason = verify_store(full_store.path)[0].reason
    assert reason.startswith("must be a regular file; it is a ")


def test_a_file_of_another_store_is_found(tmp_path, rows):
    quantizers = [ScalarQuantizer().fit(X) for X in (rows, 2 * rows)]
    first, second = (
        mc.write_store(tmp_path / f"{i}.store", rows + i, y=np.full(60, i), quantizer=quantizer)
        for i, quantizer in enumerate(quantizers)
    )
    for name in sorted(file.name for file in first.path.iterdir() if file.suffix == ".npy"):
        if (first.path / name).read_bytes() == (second.path / name).read_bytes():
            continue
        kept = (first.path / name).read_bytes()
        shutil.copy(second.path / name, first.path / name)
        with pytest.raises(StoreCorruptedError, match=f"{name} block 0"):
            use_all(first.path)
        (first.path / name).write_bytes(kept)


def test_a_file_that_shrinks_while_it_is_open_is_an_error_and_not_a_crash(tmp_path, rows):
    store = mc.write_store(tmp_path / "a.store", rows)
    os.truncate(store.path / "X-0.npy", 200)
    with pytest.raises(StoreCorruptedError, match="has 200 bytes"):
        store.X.rows(59)


@pytest.mark.parametrize("use", [lambda X: X.rows(59), lambda X: X @ np.ones(5), lambda X: X.stored(0, 60)])
def test_a_file_that_shrinks_after_its_blocks_were_checked_is_an_error_too(tmp_path, rows, use):
    store = mc.write_store(tmp_path / "a.store", rows)
    store.X.check()
    os.truncate(store.path / "X-0.npy", 200)
    for _ in range(2):
        with pytest.raises(StoreCorruptedError, match="has 200 bytes"):
            use(store.X)


def test_codes_that_no_quantizer_gives_are_damage_if_they_are_not_what_was_written(tmp_path, rows):
    store = mc.write_store(tmp_path / "a.store", rows, quantizer=mc.ProductQuantizer(block=5, n_centroids=4).fit(rows))
    flip(store.path / "codes-0.npy", 8 * 130 + 7)
    with pytest.raises(StoreCorruptedError, match=r"codes-0\.npy block 0"):
        mc.open_store(store.path)


def test_progress_of_verify_ends_with_all_bytes(full_store):
    seen = []
    full_store.verify(lambda done, total: seen.append((done, total)))
    assert seen[-1] == (full_store.nbytes, full_store.nbytes)


def test_checksums_are_those_of_zlib_over_the_blocks_that_the_manifest_describes(full_store):
    for name, record in files_of(full_store.path).items():
        data = (full_store.path / name).read_bytes()
        assert zlib.crc32(data[: record.header_bytes]) == record.header_crc32
        blocks = [data[slice(*record.span(block))] for block in range(record.n_blocks)]
        assert b"".join(blocks) == data[record.header_bytes :]
        assert [zlib.crc32(block) for block in blocks] == list(record.crc32)


def test_errors_of_the_store_are_value_errors():
    assert issubclass(StoreCorruptedError, StorageError)
    assert issubclass(StorageError, ValueError)
