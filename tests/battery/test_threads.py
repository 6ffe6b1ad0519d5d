"""Writers that are threads of one process, and processes that a writer forks."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import manyclass as mc

FORKS = """
import os, sys
from pathlib import Path
from manyclass._core.errors import StorageError
from manyclass._core.files import FolderLock
lock = FolderLock(Path(sys.argv[1]))
child = os.fork()
if child == 0:
    os._exit(0)
os.waitpid(child, 0)
try:
    FolderLock(Path(sys.argv[1]))
except StorageError as error:
    print(error)
lock.release()
FolderLock(Path(sys.argv[1])).release()
"""


def test_of_threads_that_write_one_store_each_wins_or_is_told_and_readers_see_whole_stores(tmp_path):
    path = tmp_path / "a.store"
    mc.write_store(path, np.zeros((30, 4), np.float32))

    def write(value):
        try:
            mc.write_store(path, np.full((30, 4), value, np.float32), overwrite=True)
        except mc.StorageError as error:
            return str(error)
        return ""

    with ThreadPoolExecutor(4) as pool:
        writes = [pool.submit(write, value) for value in range(1, 25)]
        while not all(one.done() for one in writes):
            assert len(np.unique(mc.open_store(path).X.toarray())) == 1
    said = {one.result() for one in writes}
    assert "" in said
    assert all("is being written by" in words for words in said - {""})
    assert mc.open_store(path).verify() == []
    assert not [file.name for file in path.iterdir() if file.suffix not in (".npy", ".json")]


def test_the_end_of_a_forked_process_does_not_give_up_the_lock_of_its_parent(tmp_path):
    command = [sys.executable, "-c", FORKS, tmp_path]
    process = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "is being written by process" in process.stdout
