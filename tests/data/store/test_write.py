"""write_store and append_store."""

import itertools
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyclass as mc
from manyclass._core.errors import StorageError
from manyclass.data.product_quantizer import ProductQuantizer
from manyclass.data.scalar_quantizer import ScalarQuantizer
from manyclass.data.store import manifest, transaction

DTYPES = (np.float16, np.float32, np.float64)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("given_columns", list(itertools.product((False, True), repeat=3)))
def test_a_store_gives_back_what_was_written(tmp_path, rows, columns, dtype, given_columns):
    some = {name: columns[name] for name, wanted in zip(columns, given_columns, strict=True) if wanted}
    X = rows.astype(dtype)
    store = mc.write_store(tmp_path / "a.store", X, **some)
    np.testing.assert_array_equal(np.load(store.path / "X-0.npy", mmap_mode="r"), X, strict=True)
    np.testing.assert_array_equal(store.X.toarray(), X.astype(store.X.dtype), strict=True)
    assert store.shape == X.shape
    words = None if store.y is None else [store.classes[label] for label in store.y]
    assert words == some.get("y")
    assert (store.names if store.names is None else list(store.names)) == some.get("names")
    assert (store.split if store.split is None else store.split.tolist()) == some.get("split")


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(0, 70),
    d=st.integers(1, 20),
    dtype=st.sampled_from(DTYPES),
    block=st.integers(1, 600),
    names=st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=70, max_size=70),
)
def test_any_shape_and_block_size_round_trips_and_verifies(n, d, dtype, block, names):
    X = np.arange(n * d).reshape(n, d).astype(dtype)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest, "BLOCK_BYTES", block)
        patch.setattr(transaction, "BLOCK_BYTES", block)
        store = mc.write_store(Path(folder, "a.store"), X, y=np.arange(n), names=names[:n])
        np.testing.assert_array_equal(store.X.toarray(), X)
        assert (store.y.tolist(), list(store.names)) == (list(range(n)), names[:n])
        assert store.verify() == []


def test_the_same_input_gives_the_same_bytes(tmp_path, rows, columns, contents):
    quantizer = ScalarQuantizer().fit(rows)
    first, second = (
        mc.write_store(tmp_path / name, rows, **columns, quantizer=quantizer, provenance={"b": 1, "a": [0.1, None]})
        for name in ("first.store", "second.store")
    )
    assert contents(first.path) == contents(second.path)


QUANTIZERS = [
    ScalarQuantizer(8),
    ScalarQuantizer(4),
    ProductQuantizer(block=2, n_centroids=16),
    ProductQuantizer(block=2, n_centroids=8, rotation="orthogonal"),
]


@pytest.mark.parametrize("quantizer", QUANTIZERS)
def test_rows_are_encoded_by_the_quantizer_which_comes_back_with_the_store(tmp_path, rows, quantizer):
    quantizer.fit(rows)
    store = mc.write_store(tmp_path / "a.store", rows, quantizer=quantizer)
    encoded = quantizer.encode(rows)
    np.testing.assert_array_equal(np.load(store.path / "codes-0.npy"), encoded.codes)
    np.testing.assert_array_equal(store.X.toarray(), encoded.toarray())
    np.testing.assert_array_equal(store.quantizer.encode(rows).codes, encoded.codes)


@pytest.mark.parametrize("wrap", [lambda X: X, lambda X: mc.ShardedMatrix([X, X])], ids=["whole", "shards"])
def test_codes_are_stored_as_they_are(tmp_path, rows, wrap):
    X = wrap(ScalarQuantizer().fit(rows).encode(rows))
    store = mc.write_store(tmp_path / "a.store", X)
    assert store.quantizer is not None
    np.testing.assert_array_equal(store.X.toarray(), X.toarray())


@pytest.mark.parametrize("quantized", [False, True])
def test_the_rows_of_a_store_can_be_written_to_another_in_the_same_form(tmp_path, rows, contents, quantized):
    quantizer = ScalarQuantizer().fit(rows) if quantized else None
    first = mc.write_store(tmp_path / "first.store", rows.astype(np.float16), quantizer=quantizer)
    second = mc.write_store(tmp_path / "second.store", first.X)
    assert contents(first.path) == contents(second.path)


def test_shards_of_float16_stay_float16(tmp_path, rows):
    half = rows.astype(np.float16)
    store = mc.write_store(tmp_path / "a.store", mc.ShardedMatrix([half[:7], half[7:]]))
    np.testing.assert_array_equal(np.load(store.path / "X-0.npy"), half, strict=True)


def test_codes_of_another_quantizer_are_encoded_again(tmp_path, rows):
    fine, coarse = ScalarQuantizer(8).fit(rows), ScalarQuantizer(4).fit(rows)
    store = mc.write_store(tmp_path / "a.store", fine.encode(rows), quantizer=coarse)
    np.testing.assert_array_equal(store.X.toarray(), coarse.encode(fine.encode(rows).toarray()).toarray())


def test_a_store_is_not_replaced_unless_told(tmp_path, rows):
    mc.write_store(tmp_path / "a.store", rows)
    with pytest.raises(StorageError, match=r"a\.store is there already; pass overwrite=True"):
        mc.write_store(tmp_path / "a.store", rows[:3])
    assert mc.open_store(tmp_path / "a.store").shape == (60, 5)


def test_overwriting_leaves_only_the_new_files(tmp_path, rows, columns):
    mc.write_store(tmp_path / "a.store", rows, **columns)
    store = mc.write_store(tmp_path / "a.store", rows[:3], overwrite=True)
    assert sorted(file.name for file in store.path.iterdir()) == ["X-1.npy", "manifest.json"]


def test_a_reader_of_an_overwritten_store_keeps_its_rows(tmp_path, rows, small_blocks):
    old = mc.write_store(tmp_path / "a.store", rows)
    mc.write_store(tmp_path / "a.store", rows[:3], overwrite=True)
    np.testing.assert_array_equal(old.X.toarray(), rows)


def test_a_store_may_be_overwritten_with_its_own_rows(tmp_path, rows):
    old = mc.write_store(tmp_path / "a.store", rows)
    new = mc.write_store(tmp_path / "a.store", mc.ShardedMatrix([old.X, old.X]), overwrite=True)
    np.testing.assert_array_equal(new.X.toarray(), np.vstack([rows, rows]))


def test_a_damaged_manifest_can_be_overwritten(tmp_path, rows):
    store = mc.write_store(tmp_path / "a.store", rows)
    manifest = store.path / "manifest.json"
    manifest.write_bytes(manifest.read_bytes().replace(b'"serial":0', b'"serial":7'))
    with pytest.raises(StorageError, match="damaged"):
        mc.write_store(store.path, rows)
    assert mc.write_store(store.path, rows[:9], overwrite=True).verify() == []


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("quantized", [False, True])
def test_a_number_that_is_none_is_refused_by_its_row_and_the_old_store_stays(tmp_path, rows, bad, quantized):
    mc.write_store(tmp_path / "a.store", rows)
    X = rows.copy()
    X[41, 2] = bad
    with pytest.raises(ValueError, match=r"X must hold finite numbers; row 41 has"):
        mc.write_store(
            tmp_path / "a.store", X, quantizer=ScalarQuantizer().fit(rows) if quantized else None, overwrite=True
        )
    np.testing.assert_array_equal(mc.open_store(tmp_path / "a.store").X.toarray(), rows)


def test_a_row_that_does_not_fit_the_stored_dtype_is_refused(tmp_path, rows):
    mc.write_store(tmp_path / "a.store", rows.astype(np.float16))
    with pytest.raises(ValueError, match="row 1 has NaN or infinity"):
        mc.append_store(tmp_path / "a.store", [[0.0] * 5, [1e6] * 5])


def test_wrong_labels_are_refused_before_anything_is_written(tmp_path, rows):
    with pytest.raises(ValueError, match=r"labels must be integers in \[0, 2\); got 2 at row 7"):
        mc.write_store(tmp_path / "a.store", rows, y=[0] * 7 + [2] + [1] * 52, classes=["a", "b"])
    assert not (tmp_path / "a.store").exists()


@pytest.mark.parametrize("provenance", [{"x": np.nan}, {"x": object()}, ["x"]])
def test_provenance_must_be_json(tmp_path, rows, provenance):
    with pytest.raises(ValueError, match="provenance must be a dict that JSON can hold"):
        mc.write_store(tmp_path / "a.store", rows, provenance=provenance)


def test_progress_counts_rows_to_the_last(tmp_path, rows):
    seen = []
    mc.write_store(tmp_path / "a.store", rows, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (60, 60)


def test_a_path_that_is_a_file_is_refused(tmp_path, rows):
    (tmp_path / "a.store").write_text("mine")
    with pytest.raises(StorageError, match="is a file"):
        mc.write_store(tmp_path / "a.store", rows)
    assert (tmp_path / "a.store").read_text() == "mine"


@pytest.mark.parametrize("name", ["notes.txt", "manifest.json", "journal", "X-0.npy"])
@pytest.mark.parametrize("overwrite", [False, True])
def test_a_folder_of_other_things_is_not_touched(tmp_path, rows, contents, name, overwrite):
    (tmp_path / name).write_text("mine")
    with pytest.raises(StorageError, match="with other content"):
        mc.write_store(tmp_path, rows, overwrite=overwrite)
    assert contents(tmp_path) == {name: b"mine"}


def test_files_of_others_in_the_folder_survive_an_overwrite(tmp_path, rows):
    store = mc.write_store(tmp_path / "a.store", rows)
    (store.path / "README").write_text("mine")
    mc.write_store(store.path, rows, overwrite=True)
    assert (store.path / "README").read_text() == "mine"


@pytest.mark.parametrize("quantized", [False, True])
def test_appended_rows_come_after_the_old_ones(tmp_path, rows, columns, quantized):
    quantizer = ScalarQuantizer().fit(rows) if quantized else None
    mc.write_store(tmp_path / "a.store", rows, **columns, quantizer=quantizer)
    store = mc.append_store(tmp_path / "a.store", rows[:7], **{name: values[:7] for name, values in columns.items()})
    expected = quantizer.encode(rows).toarray() if quantized else rows
    np.testing.assert_array_equal(store.X.toarray(), np.vstack([expected, expected[:7]]))
    np.testing.assert_allclose(store.X @ np.ones(5), np.r_[expected, expected[:7]].sum(axis=1), rtol=1e-5, atol=1e-5)
    assert [store.classes[label] for label in store.y] == columns["y"] + columns["y"][:7]
    assert list(store.names) == columns["names"] + columns["names"][:7]
    assert store.split.tolist() == columns["split"] + columns["split"][:7]
    assert store.verify() == []


def test_an_append_changes_no_file_that_is_there_but_the_manifest(tmp_path, rows, contents):
    path = mc.write_store(tmp_path / "a.store", rows).path
    before = contents(path)
    mc.append_store(path, rows)
    after = contents(path)
    assert {name for name in after if after[name] != before.get(name)} == {"X-1.npy", "manifest.json"}


def test_codes_of_the_same_quantizer_are_appended_as_they_are(tmp_path, rows):
    quantizer = ScalarQuantizer().fit(rows)
    codes = quantizer.encode(rows)
    store = mc.append_store(mc.write_store(tmp_path / "a.store", codes).path, codes)
    np.testing.assert_array_equal(np.load(store.path / "codes-1.npy"), codes.codes)


def test_new_words_become_classes_and_parts_after_the_old(tmp_path, rows):
    mc.write_store(tmp_path / "a.store", rows[:2], y=["dog", "bat"], split=["train", "test"])
    store = mc.append_store(tmp_path / "a.store", rows[:3], y=["eel", "ant", "dog"], split=["val", "test", "train"])
    assert store.classes == ["bat", "dog", "ant", "eel"]
    assert store.y.tolist() == [1, 0, 3, 2, 1]
    assert store.split.tolist() == ["train", "test", "val", "test", "train"]


def test_the_provenance_stays(tmp_path, rows):
    mc.write_store(tmp_path / "a.store", rows, provenance={"from": "here"})
    assert mc.append_store(tmp_path / "a.store", rows).provenance == {"from": "here"}


def test_an_empty_store_can_be_appended_to(tmp_path, rows):
    mc.write_store(tmp_path / "a.store", rows[:0])
    np.testing.assert_array_equal(mc.append_store(tmp_path / "a.store", rows).X.toarray(), rows)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "y must be given"),
        ({"y": ["dog"] * 3, "names": ["a"] * 3}, "names must be left out"),
        ({"y": ["dog"] * 2}, r"one entry per row of X \(3\); got 2"),
        ({"y": [0, 1, 9]}, r"labels must be integers in \[0, 2\); got 9 at row 2"),
    ],
)
def test_columns_that_do_not_fit_are_refused_and_the_store_stays(tmp_path, rows, given, message):
    mc.write_store(tmp_path / "a.store", rows[:2], y=["dog", "bat"])
    with pytest.raises(ValueError, match=message):
        mc.append_store(tmp_path / "a.store", rows[:3], **given)
    assert mc.open_store(tmp_path / "a.store").shape == (2, 5)


def test_rows_of_another_width_are_refused(tmp_path, rows):
    mc.write_store(tmp_path / "a.store", rows)
    with pytest.raises(ValueError, match="X must have 5 columns"):
        mc.append_store(tmp_path / "a.store", rows[:, :4])


def test_there_must_be_a_store(tmp_path, rows):
    with pytest.raises(StorageError, match="there is no such folder"):
        mc.append_store(tmp_path / "a.store", rows)
    assert not (tmp_path / "a.store").exists()


def test_a_refused_append_can_be_replaced_by_a_right_one(tmp_path, rows):
    mc.write_store(tmp_path / "a.store", rows)
    with pytest.raises(ValueError, match="row 3"):
        mc.append_store(tmp_path / "a.store", np.where(np.arange(8)[:, None] == 3, np.nan, rows[:8]))
    assert mc.append_store(tmp_path / "a.store", rows[:4]).shape == (64, 5)


_APPENDER = """
import sys
import numpy as np
from manyclass.data.store import append_store, write_store
for i in range(1, 41):
    append_store(sys.argv[1], np.full((3, 2), i, np.float32), y=[i] * 3)
write_store(sys.argv[1], np.zeros((3, 2), np.float32), y=[0] * 3, overwrite=True)
"""


def test_readers_never_see_half_an_append_or_overwrite(disk_path):
    path = mc.write_store(disk_path / "a.store", np.zeros((3, 2), np.float32), y=[0] * 3).path
    child = subprocess.Popen([sys.executable, "-c", _APPENDER, path])
    seen = set()
    while child.poll() is None:
        store = mc.open_store(path)
        n = len(store)
        seen.add(n)
        np.testing.assert_array_equal(store.y, np.repeat(np.arange(n // 3), 3))
        np.testing.assert_array_equal(store.X.toarray()[:, 0], store.y)
    assert child.returncode == 0
    assert len(seen) > 1
