"""manifest.json of a folder, as a Manifest."""

import os
from collections.abc import Iterator
from pathlib import Path

from manyclass.data.store.errors import Damage, StorageError, StoreCorruptedError, unreadable
from manyclass.data.store.layout import JOURNAL, MANIFEST
from manyclass.data.store.manifest import Manifest
from manyclass.data.store.sealed import unseal

_LARGEST = 1 << 28  # bytes; a manifest of a million classes and a terabyte of rows has a tenth of it
_ATTEMPTS = 20


def manifests(path: Path) -> Iterator[Manifest]:
    """The manifest of the store at `path`; and, when asked again, the next one if it has changed meanwhile.

    Who finds files missing asks again: perhaps the store was overwritten just then, and the new files are there.
    """
    seen = None
    for _ in range(_ATTEMPTS):
        data = manifest_bytes(path)
        if data == seen:
            return
        seen = data
        yield _manifest(path, data)
    raise StorageError(f"{path} is overwritten faster than it can be read; try again later")


def read_manifest(path: Path) -> Manifest:
    """The manifest of the store at `path`; StorageError, in one sentence, for whatever is not one."""
    return _manifest(path, manifest_bytes(path))


def store_bytes(path: Path) -> int:
    """Bytes of all files of the store at `path`, its manifest among them, as that says."""
    manifest = read_manifest(path)
    return len(manifest.to_bytes()) + sum(file.size for file in manifest.files())


def _manifest(path: Path, data: bytes) -> Manifest:
    try:
        content = unseal(data)
    except StorageError as error:
        raise StoreCorruptedError(path, Damage(MANIFEST, None, str(error))) from None
    try:
        return Manifest.from_content(content)
    except StorageError as error:
        raise StorageError(f"{path} cannot be read as a store: {error}") from None


def manifest_bytes(path: Path) -> bytes:
    """manifest.json as it is, if `path` is a folder that has one of a sane size."""
    if not path.is_dir():
        kind = "it is a file, and a store is a folder" if path.exists() else "there is no such folder"
        raise StorageError(f"{path} cannot be read as a store: {kind}")
    try:
        size = os.stat(path / MANIFEST).st_size
        if size > _LARGEST:
            raise StorageError(f"{path} cannot be read as a store: its {MANIFEST} has {size} bytes, over {_LARGEST}")
        return (path / MANIFEST).read_bytes()
    except FileNotFoundError:
        raise StorageError(_no_manifest(path)) from None
    except OSError as error:
        raise unreadable(path / MANIFEST, error) from error


def _no_manifest(path: Path) -> str:
    if (path / JOURNAL).exists():
        return f"{path} is unfinished: its writing was interrupted, and the same command again goes on"
    return f"{path} cannot be read as a store: it has no {MANIFEST}"
