"""What the disk may refuse, in sentences."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from manyclass.data.store.errors import StorageError

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
def explained(path: Path) -> Iterator[None]:
    """Whatever the system refuses inside, as a StorageError in one sentence that names the path."""
    try:
        yield
    except OSError as error:
        known = _SENTENCES.get(error.errno or 0)
        reason = (error.strerror or str(error)).lower()
        raise StorageError(known.format(path=path) if known else f"{reason}: {path} cannot be written") from error


def require(path: Path, needed: int) -> None:
    """Refuse to begin what the disk under the folder `path` has no room for."""
    free = shutil.disk_usage(path).free
    if needed > free:
        place = os.path.abspath(path.parent)
        raise StorageError(f"disk full: writing {path.name} needs {_size(needed)} and {place} has {_size(free)} free")


def _size(n_bytes: int) -> str:
    """A size as people say it.

    >>> _size(1_250_000_000), _size(300_000)
    ('1.2 GB', '0.3 MB')
    """
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e8 else f"{n_bytes / 1e6:.1f} MB"
