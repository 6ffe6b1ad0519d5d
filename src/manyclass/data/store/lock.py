"""FolderLock: one writer at a time."""

import fcntl
import os
from pathlib import Path

from manyclass.data.store.errors import StorageError
from manyclass.data.store.layout import LOCK


class FolderLock:
    """The right to write in a folder, held from the making of this object to `release` or the end of the process.

    The lock is the system's, on a file that tells others the number of our process; so a file that a dead process left
    behind locks nothing.
    """

    def __init__(self, folder: Path):
        self._path = folder / LOCK
        self._descriptor: int | None = _locked(self._path, folder)

    def release(self) -> None:
        """Let others write. A second call does nothing."""
        if self._descriptor is not None:
            self._path.unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = None


def _locked(path: Path, folder: Path) -> int:
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_still(path, descriptor):
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


def _is_still(path: Path, descriptor: int) -> bool:
    # The last holder removes the file; whoever had opened it before then holds a lock on nothing.
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False
