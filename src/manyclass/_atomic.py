"""Files that are there whole or not at all, even if the power goes.

The order is always the same: write under a temporary name, sync the file, rename it, sync the folder. A reader sees the
old file or the new one, and after a crash so does everybody.
"""

import fcntl
import os
from pathlib import Path

Bytes = bytes | bytearray | memoryview

TEMPORARY = ".tmp"  # leftovers of a crash end so, and readers pass over them


def write_bytes(path: str | os.PathLike[str], *parts: Bytes) -> None:
    """Make `path` hold these bytes, one part after the other; on failure it holds what it held before."""
    path = Path(path)
    temporary = path.with_name(path.name + TEMPORARY)
    try:
        _write_new(temporary, parts)
        replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def replace(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Rename a file that is synced already, over `target` if that exists, and make the new name last."""
    os.replace(source, target)
    sync_folder(Path(target).parent)


def sync_folder(folder: str | os.PathLike[str]) -> None:
    """Make the names in a folder last: what was created, renamed or removed there stays so."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        sync(descriptor)
    finally:
        os.close(descriptor)


def sync(descriptor: int) -> None:
    """Wait until the disk has what was written to an open file."""
    os.fsync(descriptor)
    # On macOS fsync leaves the bytes in the memory of the disk; only this asks for more.
    full = getattr(fcntl, "F_FULLFSYNC", None)
    if full is not None:
        fcntl.fcntl(descriptor, full)


def write_at(descriptor: int, data: Bytes, offset: int) -> None:
    """Write all of `data` at `offset`: the system may take less than it is given."""
    view = memoryview(data).cast("B")
    while len(view):
        written = os.pwrite(descriptor, view, offset)
        view, offset = view[written:], offset + written


def _write_new(path: Path, parts: tuple[Bytes, ...]) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    try:
        offset = 0
        for part in parts:
            write_at(descriptor, part, offset)
            offset += memoryview(part).nbytes
        sync(descriptor)
    finally:
        os.close(descriptor)
