"""The exceptions of the library, and what can be wrong with files of ours."""

import errno
import os
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Damage:
    """One thing that is wrong with a store, a gallery or a run.

    Parameters
    ----------
    file : str
        The name of the file.
    block : int or None
        The damaged block of the file; None if the damage is not in one block.
    reason : str
        What is wrong.
    """

    file: str
    block: int | None
    reason: str

    def __str__(self) -> str:
        return f"{self.file} {self.reason}" if self.block is None else f"{self.file} block {self.block} {self.reason}"


class SettingsError(ValueError):
    """Settings do not go together, whatever the data; names of arguments stand in backquotes."""


class StorageError(ValueError):
    """A file, a store, a gallery or a checkpoint cannot be read or written; the message says why and what to do."""


class FolderBusyError(StorageError):
    """Another process writes in a folder."""


class FileRefusedError(StorageError):
    """A file is not read: it is no regular file, or larger than files of its kind may be.

    Parameters
    ----------
    path : str, bytes or os.PathLike
        The file.
    reason : str
        The rule and what breaks it.

    Attributes
    ----------
    path : str, bytes or os.PathLike
        The file.
    reason : str
        The rule and what breaks it.
    """

    def __init__(self, path: str | bytes | os.PathLike[Any], reason: str):
        super().__init__(f"{os.fsdecode(path)} {reason}")
        self.path, self.reason = path, reason

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path, self.reason)


class StoreCorruptedError(StorageError):
    """A file of a store, a gallery or a run differs from what was written.

    Parameters
    ----------
    path : str or os.PathLike
        The folder of the store, gallery or run.
    damage : Damage
        The file, the block and the reason.

    Attributes
    ----------
    path : str or os.PathLike
        The folder of the store, gallery or run.
    damage : Damage
        The file, the block and the reason.
    """

    def __init__(self, path: str | os.PathLike[str], damage: Damage):
        super().__init__(f"{os.fspath(path)} is damaged: {damage}; restore that file from a copy or write it again")
        self.path, self.damage = path, damage

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path, self.damage)


class DurabilityWarning(UserWarning):
    """What was asked for is done, but the disk has not confirmed that it lasts, or leftovers could not be removed."""


# Of the machine and of this moment: what a file holds has no part in them, and later it may well be read.
_OF_MACHINE = frozenset(
    {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS, errno.EIO, errno.ESTALE, errno.ETIMEDOUT}
)

_ADVICE = {
    errno.EACCES: "; change its permissions",
    errno.EPERM: "; change its permissions",
    errno.EMFILE: "; raise the limit with ulimit -n",
}


def portable_error(error: Exception) -> Exception:
    """The error, or one that says the same if it cannot go from one process to another.

    >>> portable_error(KeyError("a"))
    KeyError('a')
    """
    from multiprocessing.reduction import ForkingPickler

    try:
        ForkingPickler.loads(ForkingPickler.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def is_of_machine(error: BaseException) -> bool:
    """Whether the machine is in trouble, and not the file: too many open files, no memory, a disk that fails.

    An error that was made of such a one is of the machine too.

    >>> is_of_machine(OSError(errno.EMFILE, "Too many open files")), is_of_machine(FileNotFoundError(errno.ENOENT, ""))
    (True, False)
    """
    one: BaseException | None = error
    while one is not None:
        if isinstance(one, OSError) and one.errno in _OF_MACHINE:
            return True
        one = one.__cause__ or one.__context__
    return False


def unreadable_error(path: str | bytes | os.PathLike[Any], error: OSError) -> StorageError:
    """What to raise where the system refuses to read a file, which says nothing of what is in it."""
    reason = (error.strerror or str(error)).lower()
    return StorageError(f"{os.fsdecode(path)} cannot be read: {reason}{_ADVICE.get(error.errno or 0, '')}")
