"""What a writer finds in a folder, and the commit."""

import errno
import os

import numpy as np
import pytest

import manyclass as mc
from manyclass._core.errors import DurabilityWarning, StorageError
from manyclass.data.scalar_quantizer import ScalarQuantizer
from manyclass.data.store import StoreWriter
from manyclass.data.store.columns import StoreColumns

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


X = (np.arange(60, dtype=np.float32) % 5).reshape(15, 4)


def product():
    return mc.ProductQuantizer(block=2, n_centroids=16, random_state=0).fit(X)


def codes_beyond_the_centroids_of_an_append(path):
    with StoreWriter.extending(path) as writer:
        writer.append_codes(np.full((10, 2), 200, np.uint8))
        writer.commit()


def codes_beyond_the_centroids_of_an_overwrite(path):
    with StoreWriter(path, quantizer=product(), overwrite=True) as writer:
        writer.append_codes(np.full((10, 2), 16, np.uint8))
        writer.commit()


def a_step_that_is_infinite(path):
    quantizer = mc.ScalarQuantizer().fit(X)
    quantizer.scale_ = quantizer.scale_ * np.float32(np.inf)
    mc.write_store(path, X, quantizer=quantizer, overwrite=True)


def settings_that_json_cannot_hold(path):
    quantizer = mc.ScalarQuantizer().fit(X)
    quantizer.bits = np.int64(8)
    mc.write_store(path, X, quantizer=quantizer, overwrite=True)


class Liar(mc.ScalarQuantizer):
    """Says that it has more columns than its state has."""

    n_features = 5


def a_quantizer_that_is_not_what_its_state_says(path):
    quantizer = Liar()
    quantizer.scale_, quantizer.zero_ = np.ones(4, np.float32), np.zeros(4, np.uint8)
    with StoreWriter(path, quantizer=quantizer, overwrite=True) as writer:
        writer.commit()


def labels_beyond_the_classes(path):
    with StoreWriter(path, 4, overwrite=True) as writer:
        writer.append(X)
        writer.commit_columns(StoreColumns({"y": np.full(15, 9)}, ["cat"], None))


def names_that_leave_gaps(path):
    with StoreWriter(path, 4, overwrite=True) as writer:
        writer.append(X)
        arrays = {"names": np.zeros(3, np.uint8), "name_offsets": np.zeros(16, np.int64)}
        writer.commit_columns(StoreColumns(arrays, None, None))


REFUSED = [
    codes_beyond_the_centroids_of_an_append,
    codes_beyond_the_centroids_of_an_overwrite,
    a_step_that_is_infinite,
    settings_that_json_cannot_hold,
    a_quantizer_that_is_not_what_its_state_says,
    labels_beyond_the_classes,
    names_that_leave_gaps,
]


@pytest.mark.parametrize("attempt", REFUSED)
def test_after_a_refused_commit_the_old_store_still_opens(tmp_path, attempt):
    path = mc.write_store(tmp_path / "a.store", X, quantizer=product()).path
    with pytest.raises(ValueError):  # noqa: PT011 - each has its own sentence
        attempt(path)
    store = mc.open_store(path)
    np.testing.assert_array_equal(store.X.toarray(), X)
    assert store.verify() == []


@pytest.mark.parametrize("attempt", REFUSED)
def test_after_a_refused_commit_the_next_one_may_begin_afresh(tmp_path, attempt):
    path = mc.write_store(tmp_path / "a.store", X, quantizer=product()).path
    with pytest.raises(ValueError):  # noqa: PT011 - each has its own sentence
        attempt(path)
    np.testing.assert_array_equal(mc.write_store(path, X + 1, overwrite=True, resume=False).X.toarray(), X + 1)


def test_codes_that_stand_for_nothing_are_refused_when_they_come(tmp_path):
    words = "codes must be below the number of centroids, 16; got 16"
    with StoreWriter(tmp_path / "a.store", quantizer=product()) as writer, pytest.raises(ValueError, match=words):
        writer.append_codes(np.full((10, 2), 16, np.uint8))
    assert writer.rows_done == 0


def test_a_quantizer_that_readers_refuse_is_refused_before_the_folder_is_made(tmp_path):
    with pytest.raises(ValueError, match="scale must be finite"):
        a_step_that_is_infinite(tmp_path / "a.store")
    assert not (tmp_path / "a.store").exists()


WRITTEN = ["journal", "manifest.json", "X-1.npy", "y-1.npy", "encoder-1.safetensors"]


@pytest.mark.parametrize("kind", ["symlink", "pipe"])
@pytest.mark.parametrize("name", ["lock", "journal", "X-1.npy.partial", *(f"{name}.tmp" for name in WRITTEN)])
def test_what_is_planted_in_a_folder_is_replaced_or_refused_and_never_written_through(tmp_path, name, kind):
    path, mine = tmp_path / "a.store", tmp_path / "mine"
    mine.write_bytes(b"precious")
    mc.write_store(path, X)
    if kind == "symlink":
        (path / name).symlink_to(mine)
    else:
        os.mkfifo(path / name)
    try:
        mc.write_store(path, X + 1, y=np.zeros(15, int), overwrite=True, attachments={"encoder": b"learned"})
    except StorageError as error:
        refused = str(error)
        (path / name).unlink()
        mc.write_store(path, X + 1, y=np.zeros(15, int), overwrite=True, attachments={"encoder": b"learned"})
        assert "must be a regular file" in refused
    assert mine.read_bytes() == b"precious"
    assert mc.open_store(path).X.rows(0).tolist() == [1, 2, 3, 4]
    assert sorted(file.name.partition("-")[0] for file in path.iterdir()) == ["X", "encoder", "manifest.json", "y"]


def test_what_fails_after_the_commit_is_a_warning(tmp_path, monkeypatch):
    calls = []

    def refuse(path, *more):
        calls.append(path)
        if len(calls) == 2:  # the first comes before anything is written
            raise OSError(errno.EIO, "Input/output error", str(path))

    mc.write_store(tmp_path / "a.store", X)
    monkeypatch.setattr("manyclass.data.store.transaction.remove_leftovers", refuse)
    with pytest.warns(DurabilityWarning, match=r"a\.store is written, but the disk has"):
        mc.write_store(tmp_path / "a.store", X + 1, overwrite=True)
    assert mc.open_store(tmp_path / "a.store").X.rows(0).tolist() == [1, 2, 3, 4]


def test_a_lock_that_a_kill_left_goes_with_the_next_command_even_if_that_is_refused(tmp_path):
    mc.write_store(tmp_path / "a.store", X)
    (tmp_path / "a.store" / "lock").write_text("12345")
    with pytest.raises(StorageError, match="is there already"):
        StoreWriter.unfinished(tmp_path / "a.store", IDENTITY)
    assert sorted(file.name for file in (tmp_path / "a.store").iterdir()) == ["X-0.npy", "manifest.json"]
