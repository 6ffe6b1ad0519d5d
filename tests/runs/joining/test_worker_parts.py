"""Parts that workers write: how many, by whom, and what is removed."""

from threading import Timer

import pytest

from manyclass._core.errors import FolderBusyError, StorageError
from manyclass._core.files import FolderLock
from manyclass._core.shards import Shard
from manyclass.runs.joining import worker_parts
from manyclass.runs.joining.worker_parts import holding_parts, part_count, part_path, remove_parts, write_alone


def test_there_are_as_many_parts_as_an_earlier_attempt_made(tmp_path):
    assert part_count(tmp_path, 5) == 5
    part_path(tmp_path, Shard(2, 8)).mkdir()
    assert part_count(tmp_path, 5) == 8
    part_path(tmp_path, Shard(1, 3)).mkdir()
    assert part_count(tmp_path, 5) == 5


def locked(place):
    """Write as a worker does."""
    lock = FolderLock(place)
    lock.release()
    return "written"


def test_a_worker_waits_for_one_that_was_taken_for_lost(tmp_path, monkeypatch):
    lock = FolderLock(tmp_path)
    Timer(0.3, lock.release).start()
    assert write_alone(tmp_path, lambda: locked(tmp_path)) == "written"
    lock = FolderLock(tmp_path)
    monkeypatch.setattr(worker_parts, "_PATIENCE", 0.2)
    with pytest.raises(StorageError, match="is being written by process"):
        write_alone(tmp_path, lambda: locked(tmp_path))
    lock.release()


def test_a_folder_that_another_node_does_not_see_is_one_sentence(tmp_path):
    with pytest.raises(StorageError, match=r"none is not on this machine, where a part is to be written; give"):
        write_alone(tmp_path / "none" / "1of8.store", str)


def test_nothing_but_parts_is_removed(tmp_path):
    folder = tmp_path / "x.store.parts"
    for name in ("1of2.store", "learned", "mine.store"):
        (folder / name).mkdir(parents=True)
        (folder / name / "rows.npy").write_bytes(b"rows")
    (folder / "2of2.store").symlink_to(folder / "mine.store")
    remove_parts(folder)
    assert sorted(path.name for path in folder.iterdir()) == ["2of2.store", "mine.store"]
    assert (folder / "mine.store" / "rows.npy").exists()
    remove_parts(tmp_path / "none")


def test_two_commands_cannot_have_the_same_parts(tmp_path):
    folder = tmp_path / "out.parts"
    with holding_parts(folder):
        with pytest.raises(FolderBusyError), holding_parts(folder):
            pass
        (folder / "1of2.store").mkdir()
    assert [one.name for one in folder.iterdir()] == ["1of2.store"]
    with holding_parts(folder):
        remove_parts(folder)
    assert not folder.exists()
