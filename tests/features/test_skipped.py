import pytest

import manyclass as mc
from manyclass.features.extraction.write_features import SkipLog, Skipped, log_path, read_skipped


def log_with(store, positions):
    log = SkipLog.beside(store, "run", 0)
    for position in positions:
        log.add(Skipped(position, f"{position}\udcff\n.jpg", "is bad"))
    log.sync()
    return log


@pytest.mark.parametrize(("rows", "position"), [(1, 2), (2, 3), (3, 6), (4, 7), (9, 12)])
def test_the_next_picture_is_told_by_the_rows_and_those_passed_over(tmp_path, rows, position):
    # The rows are of the pictures 1, 2, 5, 6, 7 ...; what was passed over after the last of them is looked at again.
    assert log_with(tmp_path / "a.store", [0, 3, 4]).position_after(rows) == position


def test_a_log_comes_back_as_it_was_up_to_the_rows_that_are_safe(tmp_path):
    log_with(tmp_path / "a.store", [0, 3, 4])
    again = SkipLog.beside(tmp_path / "a.store", "run", 2)
    assert [entry.position for entry in again.entries] == [0]
    assert again.entries[0].name == "0\udcff\n.jpg"
    assert read_skipped(tmp_path / "a.store") == again.entries


def test_the_log_of_another_run_is_refused(tmp_path):
    log_with(tmp_path / "a.store", [0])
    with pytest.raises(mc.StorageError, match="belongs to another run"):
        SkipLog.beside(tmp_path / "a.store", "other run", 2)


def test_a_log_of_nothing_goes_and_one_of_something_stays(tmp_path):
    log_with(tmp_path / "a.store", []).close()
    log_with(tmp_path / "b.store", [1]).close()
    assert not log_path(tmp_path / "a.store").exists()
    assert len(read_skipped(tmp_path / "b.store")) == 1
    assert read_skipped(tmp_path / "nothing.store") == []
