import json

import numpy as np
import pytest

import manyclass as mc
from manyclass._core.errors import StorageError
from manyclass.data.scalar_quantizer import ScalarQuantizer


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: None, "there is no such folder"),
        (lambda path: path.touch(), "it is a file, and a store is a folder"),
        (lambda path: path.mkdir(), r"it has no manifest\.json"),
    ],
)
def test_what_is_no_store_is_refused_with_the_reason(tmp_path, make, message):
    make(tmp_path / "a.store")
    with pytest.raises(StorageError, match=message):
        mc.open_store(tmp_path / "a.store")


def test_the_summary_is_json_and_says_what_there_is(tmp_path, rows, columns):
    quantizer = ScalarQuantizer(bits=4).fit(rows)
    store = mc.write_store(tmp_path / "a.store", rows, **columns, quantizer=quantizer, provenance={"by": "hand"})
    summary = json.loads(json.dumps(store.summary()))
    assert summary["rows"] == 60
    assert summary["columns"] == 5
    assert summary["stored_as"] == "codes"
    assert summary["dtype"] == "uint8"
    assert summary["classes"] == 3
    assert summary["split"] == {"test": 10, "train": 50}
    assert summary["quantizer"]["kind"] == "scalar"
    assert summary["provenance"] == {"by": "hand"}


def test_nbytes_are_those_of_all_files_but_the_manifest(full_store):
    files = [file for file in full_store.path.iterdir() if file.name != "manifest.json"]
    assert full_store.nbytes == sum(file.stat().st_size for file in files)


def test_a_store_is_a_matrix_to_as_matrix(tmp_path, rows):
    store = mc.write_store(tmp_path / "a.store", rows)
    np.testing.assert_array_equal(mc.as_matrix(store.path).toarray(), rows)


def test_what_is_read_cannot_be_written_to(tmp_path, rows):
    store = mc.write_store(tmp_path / "a.store", rows, y=np.arange(60))
    assert not store.y.flags.writeable
    assert not store.X.rows(slice(0, 5)).flags.writeable


def test_a_store_without_labels_names_and_parts_has_none(tmp_path, rows):
    store = mc.write_store(tmp_path / "a.store", rows)
    assert (store.y, store.classes, store.names, store.split, store.quantizer, store.provenance) == (*[None] * 5, {})


def test_a_store_overwritten_while_it_is_opened_is_opened_as_it_is_now(tmp_path, rows, monkeypatch):
    from manyclass.data.store import store as _store

    path = mc.write_store(tmp_path / "a.store", rows).path
    block_file, left = _store.BlockFile, [True]

    def lose_and_open(path, record):
        if left:
            left.pop()
            mc.write_store(path, rows[:3], overwrite=True)
        return block_file(path, record)

    monkeypatch.setattr(_store, "BlockFile", lose_and_open)
    assert len(mc.open_store(path)) == 3


def test_the_columns_of_a_store_make_the_same_store(tmp_path, rows, columns):
    store = mc.write_store(tmp_path / "a.store", rows, **columns)
    mc.append_store(tmp_path / "a.store", rows[:2], **{key: columns[key][:2] for key in ("y", "names", "split")})
    store = mc.open_store(tmp_path / "a.store")
    with mc.StoreWriter(tmp_path / "b.store", rows.shape[1], rows.dtype) as writer:
        writer.append(store.X.rows(slice(None)))
        again = writer.commit_columns(store.columns())
    assert (again.y.tolist(), again.names[:], again.split.tolist()) == (
        store.y.tolist(), store.names[:], store.split.tolist()
    )  # fmt: skip
    assert again.classes == store.classes
