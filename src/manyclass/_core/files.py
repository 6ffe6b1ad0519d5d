"""Writing files so that they are there whole or not at all, even if the power goes, and the lock of a folder.

The order is always the same: write under a temporary name, sync the file, rename it, sync the folder. A reader sees the
old file or the new one, and after a crash so does everybody. The rename is the commit: what fails before it leaves the
old file, and what fails after it is a warning.
"""

import errno
import fcntl
import os
import shutil
import stat
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from manyclass._core.errors import DurabilityWarning, FolderBusyError, StorageError
from manyclass._core.text import format_bytes

Bytes = bytes | bytearray | memoryview

LOCK = "lock"  # the file of a FolderLock

TEMPORARY_SUFFIX = ".tmp"  # leftovers of a crash end so, and readers pass over them


def system_words(error: OSError) -> str:
    """What the system refused, and of which file: of a copy, what could not be written.

    >>> system_words(FileNotFoundError(2, "No such file or directory", "photos.npy"))
    'photos.npy: no such file or directory'
    """
    words = error.strerror or str(error)
    reason, path = words[:1].lower() + words[1:], error.filename2 or error.filename
    # Files are written under another name first, which users never gave.
    return f"{str(path).removesuffix(TEMPORARY_SUFFIX)}: {reason}" if path else reason


def write_bytes(path: str | os.PathLike[str], *pieces: Bytes, part: bool = False) -> None:
    """Make `path` hold these bytes, one piece after the other; on failure it holds what it held before.

    `part` is as for `replace_file`.
    """
    path = Path(path)
    temporary = path.with_name(path.name + TEMPORARY_SUFFIX)
    try:
        _write_new_file(temporary, pieces)
        replace_file(temporary, path, part)
    except BaseException:
        with suppress(OSError):  # what went wrong first is the news
            temporary.unlink(missing_ok=True)
        raise


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[int]:
    """A descriptor of a new file that takes the name `path` when the block is done, and never exists if it fails."""
    check_output(path)
    path = Path(path)
    temporary = path.with_name(path.name + TEMPORARY_SUFFIX)
    descriptor = create_file(temporary)
    try:
        try:
            yield descriptor
            sync_file(descriptor)
        finally:
            os.close(descriptor)
        replace_file(temporary, path)
    except BaseException:
        with suppress(OSError):  # what went wrong first is the news
            temporary.unlink(missing_ok=True)
        raise


def write_output(path: str | os.PathLike[str], *pieces: Bytes) -> None:
    """The same for a file that a user names, which takes the place of a file alone."""
    check_output(path)
    write_bytes(path, *pieces)


def replace_file(source: str | os.PathLike[str], target: str | os.PathLike[str], part: bool = False) -> None:
    """Rename a file that is synced already, over `target` if that exists, and make the new name last.

    After the rename the new file is there, so that nothing may fail any more: where the disk does not confirm the name,
    that is a warning. Not so for a part of something larger that is committed later: it must not name what may vanish.
    """
    os.replace(source, target)
    with after_commit(target, is_commit=not part):
        sync_folder(Path(target).parent)


@contextmanager
def after_commit(path: str | os.PathLike[str], is_commit: bool = True) -> Iterator[None]:
    """What follows a commit: whatever the system refuses here undoes nothing, and is a warning in one sentence."""
    try:
        yield
    except OSError as error:
        if not is_commit:
            raise
        reason = (error.strerror or str(error)).lower()
        words = f"{os.fspath(path)} is written, but the disk has not confirmed that this lasts ({reason})"
        warnings.warn(words, DurabilityWarning, stacklevel=3)


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing, so that they last; on failure none of them is left."""
    absent = [path for path in (folder, *folder.parents) if not path.is_dir()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in absent:
            sync_folder(path.parent)
    except BaseException:
        for path in absent:
            with suppress(OSError):  # others may have put something there
                path.rmdir()
        raise


def write_new_folder(folder: Path, files: Mapping[str, Bytes]) -> None:
    """Make a folder that holds these files, by name; it is there whole or not at all.

    What is there already is never touched: it is a StorageError, unless it is an empty folder.
    """
    check_new_folder(folder)
    temporary = folder.with_name(folder.name + TEMPORARY_SUFFIX)
    foreign = [name for name in _listed(temporary) if name.removesuffix(TEMPORARY_SUFFIX) not in {*files, LOCK}]
    if foreign:
        raise StorageError(f"{temporary} must be free to be written to; it holds {foreign[0]}; choose another name")
    lock = lock_folder(temporary)
    try:
        for name, data in files.items():
            _write_new_file(temporary / name, (data,))
        lock.release()  # its file must not be part of what is committed
        sync_folder(temporary)
        os.rename(temporary, folder)
    except BaseException:
        lock.release()
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    with after_commit(folder):
        sync_folder(folder.parent)


def check_new_folder(folder: Path) -> None:
    """Refuse a folder that is to be made where there is something already."""
    if os.path.lexists(folder) and (folder.is_symlink() or not folder.is_dir() or _listed(folder)):
        raise StorageError(f"{folder} is there already, and nothing is put in its place; choose another name")


def _listed(folder: Path) -> list[str]:
    return sorted(os.listdir(folder)) if folder.is_dir() else []


def expand_home(path: str | os.PathLike[str]) -> Path:
    """The path with ~ replaced by the home folder, which is one of somebody who is known; or else ValueError."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise ValueError(f"{os.fspath(path)} is in a home folder that is not known; write it in full") from None


_KINDS = {stat.S_IFLNK: "a link", stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}


def check_output(path: str | os.PathLike[str], way_out: str = "") -> None:
    """Refuse to write a file that a user names where there is something else, whose place the file would take.

    Links are not followed, as elsewhere: the file that one leads to can be named itself.
    """
    try:
        mode = os.lstat(path).st_mode
    except OSError:  # a new name, or one that writing speaks of
        return
    if not stat.S_ISREG(mode):
        kind, advice = _KINDS.get(stat.S_IFMT(mode), "a device"), way_out and f", or {way_out}"
        raise StorageError(f"{os.fspath(path)} is {kind}, in whose place no file is put; name a file{advice}")


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


def create_file(path: str | os.PathLike[str]) -> int:
    """A descriptor of a new file, in place of whatever a crash or a stranger left there.

    A link of that name is removed, and not what it points to; nobody else's file is ever opened.
    """
    with suppress(FileNotFoundError):
        os.unlink(path)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)


def open_own(path: str | os.PathLike[str], flags: int) -> int:
    """A descriptor of a file of ours that is changed in place; StorageError for a link or anything but a file.

    It is never waited for, as a pipe would make us.
    """
    try:
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENXIO, errno.EISDIR):
            raise
        raise _not_ours(path) from None
    if not _is_own(descriptor):
        os.close(descriptor)
        raise _not_ours(path)
    return descriptor


def _is_own(descriptor: int) -> bool:
    """Whether this is a file, and by no other name somebody else's."""
    status = os.fstat(descriptor)
    return stat.S_ISREG(status.st_mode) and status.st_nlink <= 1


def _not_ours(path: str | os.PathLike[str]) -> StorageError:
    return StorageError(f"{os.fspath(path)} must be a regular file; it is a link, a pipe or a folder; remove it")


def _write_new_file(path: Path, pieces: tuple[Bytes, ...]) -> None:
    descriptor = create_file(path)
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
            # A file that stays locks nothing, and the next holder removes it.
            with suppress(OSError):
                self._path.unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = None


def lock_folder(folder: Path) -> FolderLock:
    """The right to write in a folder, which is made if there is none."""
    make_folder(folder)
    return FolderLock(folder)


def remove_stale_lock(folder: Path) -> None:
    """Remove the file that a holder left who was killed; that of one who is alive stays, and so does any other."""
    if os.path.lexists(folder / LOCK):
        with suppress(StorageError, OSError):
            FolderLock(folder).release()


def _acquire_lock(path: Path, folder: Path) -> int:
    while True:
        descriptor = _open_lock(path)
        held = False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            held = _is_same_file(path, descriptor)
            if held:
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, str(os.getpid()).encode(), 0)
                return descriptor
        except BlockingIOError:
            holder = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip()
            os.close(descriptor)
            who = f"process {holder}" if holder.isdigit() else "another process"
            raise FolderBusyError(f"{folder} is being written by {who}; wait for it or stop it") from None
        except BaseException:
            if held:
                with suppress(OSError):
                    path.unlink(missing_ok=True)
            os.close(descriptor)
            raise
        os.close(descriptor)


def _open_lock(path: Path) -> int:
    """The file, in place of a link or a pipe that somebody put there."""
    try:
        return open_own(path, os.O_RDWR | os.O_CREAT)
    except StorageError:
        if path.is_dir() and not path.is_symlink():
            raise
        path.unlink(missing_ok=True)
        return open_own(path, os.O_RDWR | os.O_CREAT)


def _is_same_file(path: Path, descriptor: int) -> bool:
    # The last holder removes the file; whoever had opened it before then holds a lock on nothing.
    try:
        return os.path.samestat(os.lstat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False
