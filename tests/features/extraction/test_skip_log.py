"""The images of a run without a row: which rows are of which images, and what a store has of them."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.features.extraction.skip_log import SkipLog, SkippedImage, read_skipped


def log_with(path, positions):
    log = SkipLog.open(path, "run", 0)
    log.append([SkippedImage(position, f"{position}\udcff\n.jpg", "is bad") for position in positions])
    return log


@pytest.mark.parametrize(("rows", "position"), [(1, 2), (2, 3), (3, 6), (4, 7), (9, 12)])
def test_the_next_picture_is_told_by_the_rows_and_those_passed_over(tmp_path, rows, position):
    # The rows are of the pictures 1, 2, 5, 6, 7 ...; what was passed over after the last of them is looked at again.
    assert log_with(tmp_path / "log", [0, 3, 4]).position_after(rows) == position


def test_a_log_comes_back_as_it_was_up_to_the_rows_that_are_safe(tmp_path):
    log_with(tmp_path / "log", [0, 3, 4])
    again = SkipLog.open(tmp_path / "log", "run", 2)
    assert [entry.position for entry in again.entries] == [0]
    assert again.entries[0].name == "0\udcff\n.jpg"
    assert (tmp_path / "log").read_bytes() == again.content()


def test_the_log_of_another_run_is_refused(tmp_path):
    log_with(tmp_path / "log", [0])
    with pytest.raises(mc.StorageError, match="belongs to another run"):
        SkipLog.open(tmp_path / "log", "other run", 2)


def test_a_link_that_somebody_put_there_is_neither_read_nor_written_through(tmp_path):
    (tmp_path / "mine").write_bytes(b"precious")
    (tmp_path / "log").symlink_to(tmp_path / "mine")
    with pytest.raises(mc.StorageError, match="must be a regular file"):
        SkipLog.open(tmp_path / "log", "run", 2)
    log = SkipLog.open(tmp_path / "log", "run", 0)
    (tmp_path / "log").unlink()
    (tmp_path / "log").symlink_to(tmp_path / "mine")
    with pytest.raises(mc.StorageError, match="must be a regular file"):
        log.append([SkippedImage(0, "a", "is bad")])
    assert (tmp_path / "mine").read_bytes() == b"precious"


def test_a_store_of_rows_alone_skipped_nothing(tmp_path):
    mc.write_store(tmp_path / "a.store", np.ones((2, 2)))
    (tmp_path / "a.store.skipped.jsonl").write_bytes(log_with(tmp_path / "log", [1]).content())
    assert read_skipped(tmp_path / "a.store") == []
    assert read_skipped(tmp_path / "nothing.store") == []


def test_the_list_beside_a_store_of_the_first_version_is_still_read(tmp_path, as_first_version):
    log = log_with(tmp_path / "log", [1])
    store = as_first_version(mc.write_store(tmp_path / "a.store", np.ones((2, 2))).path)
    (tmp_path / "a.store.skipped.jsonl").write_bytes(log.content())
    assert read_skipped(store) == log.entries


def test_the_log_of_a_part_has_positions_among_all_images(tmp_path):
    log = SkipLog.open(tmp_path / "log", "run", 0, start=10)
    assert [log.position_after(rows) for rows in (0, 3)] == [10, 13]
    log.append([SkippedImage(10, "a", "bad"), SkippedImage(12, "b", "bad")])
    assert [log.position_after(rows) for rows in (0, 1, 2)] == [10, 12, 14]
    again = SkipLog.open(tmp_path / "log", "run", 1, start=10)
    assert again.entries == log.entries[:1]  # the second is looked at again


def test_the_log_tells_of_names_that_no_terminal_can_show(tmp_path, caplog):
    log = SkipLog.open(tmp_path / "skipped.jsonl", "run", 0)
    log.append([SkippedImage(0, "b\udcffd.jpg", "is not an image\x1b[2J")])
    (record,) = caplog.records
    assert record.getMessage() == "b\ufffdd.jpg was skipped: it is not an image\ufffd[2J"
