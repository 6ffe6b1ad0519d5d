"""Parts that workers write: stores in a folder beside an output, which is removed once the output is whole.

An attempt that was interrupted leaves them, and the same call goes on with them, whatever it has for workers.
"""

import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from manyclass._core.errors import FolderBusyError, StorageError
from manyclass._core.files import lock_folder
from manyclass._core.shards import Shard

T = TypeVar("T")

LEARNED = "learned"  # what keeps an encoder beside the parts

PARTS_PER_CORE = 4  # so that cores end at about the same time

_PART = re.compile(r"[0-9]+of([0-9]+)\.store")

# Seconds for a worker that was lost to notice it; or, after a power cut, for the file system to let go of its locks:
# 90 by default for NFS 4, and some minutes for others.
_PATIENCE = 600.0


def parts_folder(out: Path) -> Path:
    """Where the parts of an output lie until it is whole.

    >>> parts_folder(Path("photos.store")).name
    'photos.store.parts'
    """
    return out.with_name(out.name + ".parts")


def part_path(folder: Path, shard: Shard) -> Path:
    """The store of a part.

    >>> part_path(Path("parts"), Shard(1, 8)).name
    '1of8.store'
    """
    return folder / f"{shard.number}of{shard.count}.store"


def part_count(folder: Path, wanted: int) -> int:
    """How many parts: as an earlier attempt made, whatever it had for workers, or as many as are wanted."""
    found = {int(name[1]) for entry in os.listdir(folder) if (name := _PART.fullmatch(entry))}
    return found.pop() if len(found) == 1 else wanted


@contextmanager
def holding_parts(folder: Path) -> Iterator[None]:
    """Hold the folder of the parts, which is made, in a block: no other command may write or remove parts meanwhile."""
    lock = lock_folder(folder)
    try:
        yield
    finally:
        lock.release()
        with suppress(OSError):
            folder.rmdir()  # if all parts are gone


def remove_parts(folder: Path) -> None:
    """Remove parts that were made here."""
    for one in sorted(folder.glob("*")) if folder.is_dir() else []:
        if not one.is_symlink() and (one.name == LEARNED or _PART.fullmatch(one.name)):
            # What cannot be removed is of no harm: the output is whole, or its parts are refused by what they say.
            shutil.rmtree(one, ignore_errors=True)


def write_alone(place: Path, write: Callable[[], T]) -> T:
    """What `write` returns, which writes a part; again and again while another process holds the folder.

    That is a worker which is taken for lost, and writes on for a moment after its node has died.
    """
    if not place.parent.is_dir():
        raise StorageError(
            f"{place.parent} is not on this machine, where a part is to be written; give an output on storage that all "
            "nodes share"
        )
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            return write()
        except FolderBusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
