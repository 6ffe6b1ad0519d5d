"""verify_store: everything wrong with a store, and not only the first thing."""

import os
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from manyclass._core.errors import Damage, StoreCorruptedError
from manyclass._core.files import expand_home
from manyclass.data.store.blocks import block_damage, header_damages, map_blocks, open_recorded, verify_attached
from manyclass.data.store.manifest import FileRecord, Manifest, manifests
from manyclass.data.store.store import Store

_AT_ONCE = 64  # blocks between two words of progress


def verify_store(path: str | os.PathLike[str], progress: Callable[[int, int], None] | None = None) -> list[Damage]:
    """Read all of a store, even one that cannot be opened, and list what is damaged.

    With a damaged manifest nothing else can be checked.

    Parameters
    ----------
    path : str or os.PathLike
        The folder of the store.
    progress : callable, default=None
        It is called with (bytes read, bytes in all).

    Returns
    -------
    list of Damage
        Everything that differs from what was written.

    Raises
    ------
    StorageError
        If there is no store, if a newer version wrote it, or if it may not be read.
    """
    path = expand_home(path)
    found: list[Damage] = []
    try:
        for manifest in manifests(path):
            found = _damaged(path, manifest, progress or (lambda done, total: None)) or _unopened(path, manifest)
            if not found:
                break
    except StoreCorruptedError as error:
        return [error.damage]
    return found


def _damaged(path: Path, manifest: Manifest, progress: Callable[[int, int], None]) -> list[Damage]:
    files = list(manifest.files())
    total, before = sum(manifest.sizes().values()), 0
    found: list[Damage] = []
    for file in files:
        for step in file_damages(path, file):
            if isinstance(step, Damage):
                found.append(step)
            else:
                progress(before + step, total)
        before += file.size
    for attachment in manifest.attachments.values():
        try:
            verify_attached(path, attachment)
        except StoreCorruptedError as error:
            found.append(error.damage)
        before += attachment.size
        progress(before, total)
    return found


def file_damages(path: Path, file: FileRecord) -> Iterator[Damage | int]:
    """What is wrong with a file, and, now and then, how many of its bytes were read."""
    try:
        with open_recorded(path, file) as descriptor:
            yield from header_damages(descriptor, file)
            for first in range(0, file.n_blocks, _AT_ONCE):
                stop = min(file.n_blocks, first + _AT_ONCE)
                yield from filter(None, map_blocks(partial(_damaged_block, descriptor, file), [*range(first, stop)]))
                yield file.span(stop - 1)[1]
    except StoreCorruptedError as error:
        yield error.damage


def _damaged_block(descriptor: int, file: FileRecord, block: int) -> Damage | None:
    start, stop = file.span(block)
    try:
        data = os.pread(descriptor, stop - start, start)
    except OSError as error:
        return Damage(file.name, block, f"cannot be read ({error.strerror})")
    # A block that the file is too short for was named with its size.
    if len(data) < stop - start or zlib.crc32(data) == file.crc32[block]:
        return None
    return block_damage(file, block)


def _unopened(path: Path, manifest: Manifest) -> list[Damage]:
    """What goes wrong when files that were found good are opened; StorageError if they make no store."""
    try:
        Store(path, manifest)
    except StoreCorruptedError as error:
        return [error.damage]
    return []
