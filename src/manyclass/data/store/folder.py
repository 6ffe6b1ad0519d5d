"""The folder of a store: whether it is ours, what is left over in it, and which names are free."""

import os
from collections.abc import Iterable
from pathlib import Path

from manyclass import _atomic
from manyclass.data.store.errors import StorageError
from manyclass.data.store.journal import Journal
from manyclass.data.store.layout import JOURNAL, LOCK, MANIFEST, is_ours, serial_of
from manyclass.data.store.manifest import FORMAT, Manifest


def make_folder(path: Path) -> None:
    """Make the folder of a store, unless it is there and may be written."""
    check_folder(path)
    if not path.is_dir():
        path.mkdir(parents=True)
        _atomic.sync_folder(path.parent)


def check_folder(path: Path) -> None:
    """Refuse what cannot become a store: it must be one, an unfinished one, an empty folder, or nothing yet."""
    if path.is_dir():
        if not _is_store(path):
            raise StorageError(f"{path} is a folder with other content; choose another name")
    elif path.exists():
        raise StorageError(f"{path} is a file, and a store is a folder; choose another name")
    else:
        place = _nearest(path.parent)
        if not place.is_dir():
            raise StorageError(f"{place} is a file, and a store is a folder in a folder; choose another place")


def check_writable(path: Path) -> None:
    """Refuse a folder, or one that is to be made, where this process may not write."""
    place = _nearest(path)
    if not os.access(place, os.W_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids):
        raise StorageError(f"{place} cannot be written; choose another place or change its permissions")


def next_serial(path: Path) -> int:
    """The first number that no file of ours in the folder has, nor any before it."""
    return 1 + max((serial for name in os.listdir(path) if (serial := serial_of(name)) is not None), default=-1)


def tidy(path: Path, manifest: Manifest) -> None:
    """Remove what crashes and earlier commits left beside a committed manifest; the journal goes last, so that until
    then the same command again still knows that its work is done."""
    keep = {MANIFEST, *(file.name for file in manifest.files())}
    _remove(path, (name for name in os.listdir(path) if is_ours(name) and name not in keep))


def discard(path: Path, journal: Journal) -> None:
    """Remove an unfinished write."""
    serial = journal.header["serial"]
    _remove(path, (name for name in os.listdir(path) if serial_of(name) == serial or name == JOURNAL))


def _remove(path: Path, names: Iterable[str]) -> None:
    doomed = sorted(names, key=lambda name: (name == JOURNAL, name))
    for name in doomed:
        (path / name).unlink(missing_ok=True)
    if doomed:
        _atomic.sync_folder(path)


def _nearest(path: Path) -> Path:
    """The path, or the first of those above it that exists."""
    return next((place for place in (path, *path.absolute().parents) if place.exists()), path)


def _is_store(path: Path) -> bool:
    names = set(os.listdir(path))
    if MANIFEST in names:
        return FORMAT.encode() in (path / MANIFEST).read_bytes()
    return names <= {LOCK, JOURNAL + _atomic.TEMPORARY} or Journal.read(path) is not None
