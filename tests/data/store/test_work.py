"""StoreWriter.unfinished: what a writer would go on with or refuse, told before any work, without a trace."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.data.scalar_quantizer import ScalarQuantizer
from manyclass.data.store import StorageError, StoreWriter

IDENTITY = {"images": "photos"}


def begin(path, rows, n=30, **options):
    with StoreWriter(path, quantizer=ScalarQuantizer().fit(rows), identity=IDENTITY, **options) as writer:
        writer.append(rows[:n])


def test_where_nothing_is_there_is_nothing_to_go_on_with(tmp_path):
    found = StoreWriter.unfinished(tmp_path / "deep" / "a.store", IDENTITY)
    assert (found.rows, found.quantizer) == (0, None)
    assert not (tmp_path / "deep").exists()


def test_an_unfinished_write_has_rows_and_a_quantizer_that_need_not_be_fitted_again(tmp_path, rows):
    begin(tmp_path / "a.store", rows)
    found = StoreWriter.unfinished(tmp_path / "a.store", IDENTITY)
    assert found.rows == 30
    with StoreWriter(tmp_path / "a.store", quantizer=found.quantizer, identity=IDENTITY) as writer:
        assert writer.rows_done == 30
        writer.append(rows[30:])
        store = writer.commit()
    np.testing.assert_array_equal(store.X.toarray(), ScalarQuantizer().fit(rows).encode(rows).toarray())


def test_a_write_that_was_committed_and_not_tidied_is_still_known(tmp_path, rows, monkeypatch):
    monkeypatch.setattr("manyclass.data.store.transaction.remove_leftovers", lambda *_: None)
    quantizer = ScalarQuantizer().fit(rows)
    mc.write_store(tmp_path / "a.store", rows, quantizer=quantizer, identity=IDENTITY)
    found = StoreWriter.unfinished(tmp_path / "a.store", IDENTITY)
    assert found.rows == 60
    np.testing.assert_array_equal(found.quantizer.scale_, quantizer.scale_)


@pytest.mark.parametrize("identity", [IDENTITY, {"other": 1}])
def test_without_resume_there_is_nothing_to_go_on_with(tmp_path, rows, identity):
    begin(tmp_path / "a.store", rows)
    found = StoreWriter.unfinished(tmp_path / "a.store", identity, resume=False)
    assert (found.rows, found.quantizer) == (0, None)


def a_file(path, rows):
    path.write_bytes(b"mine")
    return "is a file, and a store is a folder; choose another name"


def in_a_file(path, rows):
    path.parent.rmdir()
    path.parent.write_bytes(b"mine")
    return "is a file, and a store is a folder in a folder; choose another place"


def other_things(path, rows):
    path.mkdir()
    (path / "notes.txt").write_bytes(b"mine")
    return "is a folder with other content; choose another name"


def a_store(path, rows):
    mc.write_store(path, rows)
    return "is there already; pass overwrite=True to replace it, or choose another name"


def other_work(path, rows):
    begin(path, rows)
    with StoreWriter(path, 5, identity={"other": 1}, resume=False) as writer:
        writer.append(rows)
    return r"holds an unfinished write of something else \(identity\); pass resume=False to drop it"


@pytest.mark.parametrize("make", [a_file, in_a_file, other_things, a_store, other_work])
def test_what_the_writer_would_refuse_is_refused_and_left_as_it_is(tmp_path, rows, contents, make):
    path = tmp_path / "place" / "a.store"
    path.parent.mkdir()
    words = make(path, rows)
    before = contents(path) if path.is_dir() else None
    with pytest.raises(StorageError, match=words):
        StoreWriter.unfinished(path, IDENTITY)
    assert before is None or contents(path) == before
    with pytest.raises(StorageError):
        StoreWriter(path, 5, identity=IDENTITY)


@pytest.mark.parametrize("name", ["full.store", "a.store", "deep/a.store"])
def test_a_place_where_one_may_not_write_is_refused(public_store, as_nobody, name):
    path = public_store.parent / name
    with as_nobody(), pytest.raises(StorageError, match=r"cannot be written; choose another place or change its perm"):
        StoreWriter.unfinished(path, IDENTITY, overwrite=True)
