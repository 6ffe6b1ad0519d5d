"""manifest.json of a folder, as a Manifest."""

import os
from pathlib import Path

from manyclass.data.store.errors import Damage, DamagedStore, StoreError
from manyclass.data.store.layout import JOURNAL, MANIFEST
from manyclass.data.store.manifest import Manifest
from manyclass.data.store.sealed import unseal

_LARGEST = 1 << 28  # bytes; a manifest of a million classes and a terabyte of rows has a tenth of it


def read_manifest(path: Path) -> Manifest:
    """The manifest of the store at `path`; StoreError, in one sentence, for whatever is not one."""
    data = manifest_bytes(path)
    try:
        content = unseal(data)
    except StoreError as error:
        raise DamagedStore(path, Damage(MANIFEST, None, str(error))) from None
    try:
        return Manifest.from_content(content)
    except StoreError as error:
        raise StoreError(f"{path} cannot be read as a store: {error}") from None


def manifest_bytes(path: Path) -> bytes:
    """manifest.json as it is, if `path` is a folder that has one of a sane size."""
    if not path.is_dir():
        kind = "it is a file, and a store is a folder" if path.exists() else "there is no such folder"
        raise StoreError(f"{path} cannot be read as a store: {kind}")
    try:
        size = os.stat(path / MANIFEST).st_size
        if size > _LARGEST:
            raise StoreError(f"{path} cannot be read as a store: its {MANIFEST} has {size} bytes, over {_LARGEST}")
        return (path / MANIFEST).read_bytes()
    except FileNotFoundError:
        raise StoreError(_no_manifest(path)) from None
    except OSError as error:
        raise StoreError(f"{path} cannot be read as a store: {MANIFEST}: {error.strerror}") from error


def _no_manifest(path: Path) -> str:
    if (path / JOURNAL).exists():
        return f"{path} is unfinished: its writing was interrupted, and the same command again goes on"
    return f"{path} cannot be read as a store: it has no {MANIFEST}"
