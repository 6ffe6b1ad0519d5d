"""Interruptions that are exceptions: what is kept, what is refused. Kills are in test_writer_crash.py."""

import contextlib
import errno
import os

import numpy as np
import pytest

import manyclass as mc
from manyclass._core.errors import StorageError
from manyclass._core.files import write_bytes
from manyclass.data.scalar_quantizer import ScalarQuantizer
from manyclass.data.store import StoreWriter
from manyclass.data.store import journal as _journal

IDENTITY = {"images": "photos", "model": "fisher"}


def writer_of(path, quantizer=None, **options):
    return StoreWriter(path, 5, quantizer=quantizer, identity=IDENTITY, block_bytes=100, **options)


@pytest.fixture(params=["features", "codes"])
def quantizer(request, rows):
    return ScalarQuantizer().fit(rows) if request.param == "codes" else None


@pytest.fixture
def reference(tmp_path, rows, columns, quantizer, contents):
    with writer_of(tmp_path / "reference.store", quantizer) as writer:
        writer.append(rows)
        writer.commit(**columns)
    return contents(tmp_path / "reference.store")


@pytest.mark.parametrize("stop", [0, 1, 4, 5, 6, 10, 33, 59, 60])
def test_an_interrupted_write_goes_on_and_ends_with_the_same_bytes(
    tmp_path, rows, columns, quantizer, reference, contents, stop
):
    path = tmp_path / "a.store"
    with contextlib.suppress(KeyboardInterrupt), writer_of(path, quantizer) as writer:
        writer.append(rows[:stop])
        raise KeyboardInterrupt
    with writer_of(path, quantizer) as writer:
        assert writer.rows_done == stop
        writer.append(rows[writer.rows_done :])
        writer.commit(**columns)
    assert contents(path) == reference


def test_rows_may_come_in_any_portions(tmp_path, rows, columns, quantizer, reference, contents):
    with writer_of(tmp_path / "a.store", quantizer) as writer:
        for first, last in zip((0, 0, 1, 8, 33), (0, 1, 8, 33, 60), strict=True):
            writer.append(rows[first:last])
        writer.commit(**columns)
    assert contents(tmp_path / "a.store") == reference


def test_slow_rows_are_made_safe_before_their_block_is_full(tmp_path, rows, monkeypatch):
    monkeypatch.setattr(_journal, "_SECONDS", -1.0)
    with writer_of(tmp_path / "a.store") as writer:
        writer.append(rows[:7])
        marks = [mark.rows for mark in writer._transaction.journal.marks]
    assert marks == [5, 7]


def test_nobody_sees_rows_before_the_commit(tmp_path, rows):
    with writer_of(tmp_path / "a.store") as writer:
        writer.append(rows)
        with pytest.raises(StorageError, match=r"a\.store is unfinished"):
            mc.open_store(tmp_path / "a.store")


@pytest.mark.parametrize(
    ("other", "what"),
    [
        ({"identity": {"images": "others"}}, "identity"),
        ({"identity": {}}, "identity"),
        ({"dtype": np.float64}, "dtype"),
        ({"n_features": 4}, "columns, width"),
    ],
)
def test_a_resume_with_something_else_is_refused_and_keeps_the_work(tmp_path, rows, other, what):
    with writer_of(tmp_path / "a.store") as writer:
        writer.append(rows[:30])
    with pytest.raises(StorageError, match=rf"unfinished write of something else \({what}\); pass resume=False"):
        StoreWriter(tmp_path / "a.store", **{"n_features": 5, "identity": IDENTITY, **other})
    with writer_of(tmp_path / "a.store") as writer:
        assert writer.rows_done == 30


def test_another_quantizer_is_something_else(tmp_path, rows):
    with writer_of(tmp_path / "a.store", ScalarQuantizer().fit(rows)) as writer:
        writer.append(rows[:30])
    with pytest.raises(StorageError, match=r"something else \(quantizer\)"):
        writer_of(tmp_path / "a.store", ScalarQuantizer().fit(2 * rows))


def test_without_resume_the_work_starts_over(tmp_path, rows, contents):
    with writer_of(tmp_path / "a.store", ScalarQuantizer().fit(rows)) as writer:
        writer.append(rows[:30])
    with writer_of(tmp_path / "a.store", resume=False) as writer:
        assert writer.rows_done == 0
        writer.append(rows)
        store = writer.commit()
    assert sorted(contents(store.path)) == ["X-0.npy", "manifest.json"]


def test_an_unfinished_write_without_rows_gives_way(tmp_path, rows):
    with writer_of(tmp_path / "a.store"):
        pass
    with StoreWriter(tmp_path / "a.store", 7) as writer:
        assert writer.rows_done == 0


def test_write_store_refuses_to_go_on_with_other_rows_of_the_same_shape(tmp_path, rows, quantizer, monkeypatch):
    changed = rows.copy()
    changed[2, 2] += 1
    with pytest.raises(KeyboardInterrupt):
        mc.write_store(tmp_path / "a.store", rows, quantizer=quantizer, progress=_interrupt)
    with pytest.raises(StorageError, match=r"begun with other rows \(0 to 60 differ\); pass resume=False"):
        mc.write_store(tmp_path / "a.store", changed, quantizer=quantizer)
    store = mc.write_store(tmp_path / "a.store", changed, quantizer=quantizer, resume=False)
    np.testing.assert_allclose(store.X.toarray(), changed, atol=0.05)


def test_write_store_goes_on_where_it_stopped(tmp_path, rows, quantizer, monkeypatch, contents):
    whole = mc.write_store(tmp_path / "whole.store", rows, quantizer=quantizer)
    monkeypatch.setattr("manyclass.data.store.write.PIECE_BYTES", 100)
    with pytest.raises(KeyboardInterrupt):
        mc.write_store(tmp_path / "a.store", rows, quantizer=quantizer, progress=_interrupt)
    seen = []
    mc.write_store(
        tmp_path / "a.store", rows, quantizer=quantizer, progress=lambda done, total: seen.append((done, total))
    )
    assert seen[0][0] == 10
    assert contents(tmp_path / "a.store") == contents(whole.path)


def _interrupt(done, total):
    raise KeyboardInterrupt


def _write_and_stop(path, *data):
    """Write the manifest, and go no further."""
    write_bytes(path, *data)
    raise KeyboardInterrupt


def test_rows_corrected_after_a_refusal_are_taken(tmp_path, rows, monkeypatch):
    monkeypatch.setattr("manyclass.data.store.write.PIECE_BYTES", 100)
    wrong = rows.copy()
    wrong[50] = np.nan
    with pytest.raises(ValueError, match="row 50"):
        mc.write_store(tmp_path / "a.store", wrong)
    np.testing.assert_array_equal(mc.write_store(tmp_path / "a.store", rows).X.toarray(), rows)


@pytest.mark.parametrize("damage", ["cut", "flip", "remove"])
def test_rows_that_are_not_what_the_journal_says_are_written_again(
    tmp_path, rows, columns, contents, reference, damage, quantizer
):
    path = tmp_path / "a.store"
    with writer_of(path, quantizer) as writer:
        writer.append(rows[:52])
    (unfinished,) = path.glob("*.partial")
    data = bytearray(unfinished.read_bytes())
    if damage == "remove":
        unfinished.unlink()
    elif damage == "cut":
        unfinished.write_bytes(data[:-1])
    else:
        data[-1] ^= 4
        unfinished.write_bytes(data)
    with writer_of(path, quantizer) as writer:
        assert writer.rows_done < 52
        writer.append(rows[writer.rows_done :])
        writer.commit(**columns)
    assert contents(path) == reference


def test_what_a_crash_left_beyond_the_last_mark_is_cut_off(tmp_path, rows):
    path = tmp_path / "a.store"
    with writer_of(path) as writer:
        writer.append(rows[:30])
    with open(path / "X-0.npy.partial", "ab") as file:
        file.write(bytes(1000))
    with writer_of(path) as writer:
        np.testing.assert_array_equal(writer.commit().X.toarray(), rows[:30])


def test_after_a_failed_sync_the_writer_stops_and_does_not_call_its_rows_safe(tmp_path, rows, monkeypatch):
    with writer_of(tmp_path / "a.store") as writer:
        with monkeypatch.context() as patch:
            patch.setattr(_journal, "sync_file", _broken_disk)
            with pytest.raises(StorageError, match="disk error"):
                writer.append(rows[:5])
        with pytest.raises(StorageError, match="is closed"):
            writer.append(rows[5:])
    with writer_of(tmp_path / "a.store") as writer:
        assert writer.rows_done == 0


def _broken_disk(descriptor):
    raise OSError(errno.EIO, "input/output error")


def test_a_torn_line_in_the_journal_is_passed_over(tmp_path, rows, contents):
    path = tmp_path / "a.store"
    with writer_of(path) as writer:
        writer.append(rows[:30])
    journal = path / "journal"
    whole = journal.read_bytes()
    journal.write_bytes(whole[:-4])
    with writer_of(path) as writer:
        assert writer.rows_done == 25
        writer.append(rows[25:30])
    assert journal.read_bytes() == whole


def test_an_interrupted_append_goes_on(tmp_path, rows):
    path = mc.write_store(tmp_path / "a.store", rows).path
    with StoreWriter.extending(path, identity=IDENTITY) as writer:
        writer.append(rows[:30])
    assert len(mc.open_store(path)) == 60
    with StoreWriter.extending(path, identity=IDENTITY) as writer:
        assert writer.rows_done == 30
        writer.append(rows[30:])
        np.testing.assert_array_equal(writer.commit().X.toarray(), np.vstack([rows, rows]))


@pytest.mark.parametrize("mode", ["write", "append"])
def test_a_command_that_was_committed_and_not_tidied_is_known_to_be_done(tmp_path, rows, monkeypatch, contents, mode):
    path = mc.write_store(tmp_path / "a.store", rows).path

    def again():
        if mode == "append":
            return mc.append_store(path, rows[:7])
        return mc.write_store(path, rows[:7], overwrite=True)

    with monkeypatch.context() as patch:
        patch.setattr("manyclass.data.store.transaction.write_bytes", _write_and_stop)
        with pytest.raises(KeyboardInterrupt):
            again()
    assert (path / "journal").exists()
    assert len(again()) == (67 if mode == "append" else 7)
    assert not (path / "journal").exists()


@pytest.mark.parametrize("resume", [True, False])
def test_other_work_that_begins_after_that_and_stops_leaves_the_commit_whole(tmp_path, rows, monkeypatch, resume):
    with monkeypatch.context() as patch:
        patch.setattr("manyclass.data.store.transaction.write_bytes", _write_and_stop)
        with pytest.raises(KeyboardInterrupt):
            mc.write_store(tmp_path / "a.store", rows)
    with writer_of(tmp_path / "a.store", overwrite=True, resume=resume) as writer:
        assert writer.rows_done == 0
    np.testing.assert_array_equal(mc.open_store(tmp_path / "a.store").X.toarray(), rows)


def test_a_commit_with_other_labels_after_that_is_refused(tmp_path, rows, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("manyclass.data.store.transaction.write_bytes", _write_and_stop)
        with pytest.raises(KeyboardInterrupt):
            mc.write_store(tmp_path / "a.store", rows, y=np.zeros(60, int))
    with pytest.raises(StorageError, match="committed with other labels"):
        mc.write_store(tmp_path / "a.store", rows, y=np.ones(60, int))
    assert not mc.open_store(tmp_path / "a.store").y.any()


def test_leftovers_of_a_crash_disturb_neither_readers_nor_writers(tmp_path, rows, contents):
    path = mc.write_store(tmp_path / "a.store", rows).path
    for name in ("X-1.npy.partial", "y-1.npy.tmp", "manifest.json.tmp", "X-7.npy", "journal", "lock", "journal.tmp"):
        (path / name).write_bytes(b"half a thing")
    np.testing.assert_array_equal(mc.open_store(path).X.toarray(), rows)
    assert mc.append_store(path, rows).shape == (120, 5)
    assert sorted(contents(path)) == ["X-0.npy", "X-1.npy", "manifest.json"]


def test_a_second_writer_is_refused_with_the_number_of_the_first(tmp_path, rows):
    with writer_of(tmp_path / "a.store") as writer:
        with pytest.raises(StorageError, match=rf"a\.store is being written by process {os.getpid()}; wait"):
            writer_of(tmp_path / "a.store")
        writer.append(rows)
        writer.commit()
    with StoreWriter.extending(tmp_path / "a.store"), pytest.raises(StorageError, match="is being written"):
        mc.append_store(tmp_path / "a.store", rows)


def test_a_closed_writer_takes_no_rows(tmp_path, rows):
    writer = writer_of(tmp_path / "a.store")
    writer.close()
    with pytest.raises(StorageError, match="is closed"):
        writer.append(rows)
    with pytest.raises(StorageError, match="is closed"):
        writer.commit()


@pytest.mark.parametrize("bad", [np.zeros(5), np.zeros((2, 4)), np.zeros((2, 5), complex), [["a"] * 5]])
def test_rows_of_another_shape_or_kind_are_refused(tmp_path, bad):
    with writer_of(tmp_path / "a.store") as writer, pytest.raises(ValueError, match=r"rows must be numbers of shape"):
        writer.append(bad)


class Columnless(ScalarQuantizer):
    """What a quantizer of rows without numbers would be."""

    n_features = code_size = 0


def test_a_quantizer_of_no_columns_is_refused(tmp_path):
    quantizer = Columnless().fit([[1.0]])
    with pytest.raises(ValueError, match="n_features must be a whole number, at least 1; got 0"):
        StoreWriter(tmp_path / "a.store", quantizer=quantizer)
    assert not (tmp_path / "a.store").exists()


@pytest.mark.parametrize("options", [{"n_features": 0}, {"n_features": None}, {"n_features": 3, "dtype": np.int32}])
def test_a_writer_needs_columns_and_a_float_dtype(tmp_path, options):
    with pytest.raises(ValueError, match=r"n_features must be|dtype must be"):
        StoreWriter(tmp_path / "a.store", **options)
    assert not (tmp_path / "a.store").exists()


def test_codes_need_a_quantizer_and_must_be_bytes(tmp_path, rows):
    with writer_of(tmp_path / "a.store") as writer, pytest.raises(ValueError, match="codes need a quantizer"):
        writer.append_codes(np.zeros((2, 5), np.uint8))
    writer = writer_of(tmp_path / "b.store", ScalarQuantizer().fit(rows))
    with writer, pytest.raises(ValueError, match="codes must be bytes"):
        writer.append_codes(np.zeros((2, 5), np.int32))
