import subprocess
import sys

import numpy as np
import pytest

import manyclass as mc
from manyclass.data.scalar_quantizer import ScalarQuantizer
from manyclass.data.store import StorageError


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


def test_readers_never_see_half_an_append_or_overwrite(tmp_path):
    path = mc.write_store(tmp_path / "a.store", np.zeros((3, 2), np.float32), y=[0] * 3).path
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
