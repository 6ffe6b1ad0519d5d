"""Writing files so that they are there whole or not at all, even if the power goes, and the lock of a folder.

The order is always the same: write under a temporary name, sync the file, rename it, sync the folder. A reader sees the
old file or the new one, and after a crash so does everybody.
"""

import errno
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from manyclass._core.errors import StorageError
from manyclass._core.text import format_bytes

Bytes = bytes | bytearray | memoryview

LOCK = "lock"  # the file of a FolderLock

TEMPORARY_SUFFIX = ".tmp"  # leftovers of a crash end so, and readers pass over them


def write_bytes(path: str | os.PathLike[str], *pieces: Bytes) -> None:
    """Make `path` hold these bytes, one piece after the other; on failure it holds what it held before."""
    path = Path(path)
    temporary = path.with_name(path.name + TEMPORARY_SUFFIX)
    try:
        _write_new_file(temporary, pieces)
        replace_file(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def replace_file(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Rename a file that is synced already, over `target` if that exists, and make the new name last."""
    os.replace(source, target)
    sync_folder(Path(target).parent)


def sync_folder(folder: str | os.PathLike[str]) -> None:
    """Make the names in a folder last: what was created, renamed or removed there stays so."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        sync_file(descriptor)
    finally:
        os.close(descriptor)


def sync_file(descriptor: int) -> None:
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


def _write_new_file(path: Path, pieces: tuple[Bytes, ...]) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    try:
        offset = 0
        for piece in pieces:
            write_at(descriptor, piece, offset)
            offset += memoryview(piece).nbytes
        sync_file(descriptor)
    finally:
        os.close(descriptor)


_KEPT = "; what was written so far is kept, and the same command again goes on"

_SENTENCES = {
    errno.ENOSPC: "disk full: {path} could not be written further" + _KEPT + " when there is room",
    errno.EDQUOT: "disk quota used up: {path} could not be written further" + _KEPT + " when there is room",
    errno.EFBIG: "file too large: {path} is larger than the disk or a limit allows" + _KEPT + " when it is raised",
    errno.EIO: "disk error: {path} could not be written further" + _KEPT,
    errno.EROFS: "read-only disk: {path} cannot be written; choose another place",
    errno.EACCES: "permission denied: {path} cannot be written; choose another place or change its permissions",
    errno.EPERM: "permission denied: {path} cannot be written; choose another place or change its permissions",
}


@contextmanager
def explain_disk_errors(path: Path) -> Iterator[None]:
    """Whatever the system refuses inside, as a StorageError in one sentence that names the path."""
    try:
        yield
    except OSError as error:
        known = _SENTENCES.get(error.errno or 0)
        reason = (error.strerror or str(error)).lower()
        raise StorageError(known.format(path=path) if known else f"{reason}: {path} cannot be written") from error


def check_disk_space(path: Path, needed: int) -> None:
    """Refuse to begin what the disk under the folder `path` has no room for."""
    free = shutil.disk_usage(path).free
    if needed > free:
        place = os.path.abspath(path.parent)
        raise StorageError(
            f"disk full: writing {path.name} needs {format_bytes(needed)} and {place} has {format_bytes(free)} free"
        )


class FolderLock:
    """The right to write in a folder, held from the making of this object to `release` or the end of the process.

    The lock is the system's, on a file that tells others the number of our process; so a file that a dead process left
    behind locks nothing.
    """

    def __init__(self, folder: Path):
        self._path = folder / LOCK
        self._descriptor: int | None = _acquire_lock(self._path, folder)

    def release(self) -> None:
        """Let others write. A second call does nothing."""
        if self._descriptor is not None:
            self._path.unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = None


def _acquire_lock(path: Path, folder: Path) -> int:
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_same_file(path, descriptor):
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, str(os.getpid()).encode(), 0)
                return descriptor
        except BlockingIOError:
            holder = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip()
            os.close(descriptor)
            who = f"process {holder}" if holder.isdigit() else "another process"
            raise StorageError(f"{folder} is being written by {who}; wait for it or stop it") from None
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _is_same_file(path: Path, descriptor: int) -> bool:
    # The last holder removes the file; whoever had opened it before then holds a lock on nothing.
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False
