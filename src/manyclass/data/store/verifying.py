"""verify_store: everything wrong with a store, and not only the first thing."""

import os
import zlib
from collections.abc import Callable
from pathlib import Path

from manyclass.data.store.blocks import damaged_outside, in_threads, wrong_block
from manyclass.data.store.errors import Damage, DamagedStore, StoreError
from manyclass.data.store.layout import MANIFEST
from manyclass.data.store.manifest_file import read_manifest
from manyclass.data.store.record import FileRecord

_AT_ONCE = 64  # blocks between two words of progress


def verify_store(path: str | os.PathLike[str], progress: Callable[[int, int], None] | None = None) -> list[Damage]:
    """Read all of a store, also one that cannot be opened, and list what is not as it was written.

    Without a manifest nothing else can be checked. progress gets (bytes read, bytes in all).
    """
    path = Path(path).expanduser()
    try:
        manifest = read_manifest(path)
    except DamagedStore as error:
        return [error.damage]
    except StoreError as error:
        return [Damage(MANIFEST, None, f"is of no use: {error}")]
    files = list(manifest.files())
    total, before = sum(file.size for file in files), 0
    found: list[Damage] = []
    for file in files:
        found += damaged_outside(path, file)
        for first in range(0, file.n_blocks, _AT_ONCE):
            stop = min(file.n_blocks, first + _AT_ONCE)
            found += _damaged_blocks(path, file, range(first, stop))
            if progress:
                progress(before + file.span(stop - 1)[1], total)
        before += file.size
    return found


def _damaged_blocks(path: Path, file: FileRecord, blocks: range) -> list[Damage]:
    try:
        descriptor = os.open(path / file.name, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return []  # said already
    try:
        checked = in_threads(lambda block: _damaged_block(descriptor, file, block), list(blocks))
        return [damage for damage in checked if damage]
    finally:
        os.close(descriptor)


def _damaged_block(descriptor: int, file: FileRecord, block: int) -> Damage | None:
    start, stop = file.span(block)
    try:
        data = os.pread(descriptor, stop - start, start)
    except OSError as error:
        return Damage(file.name, block, f"cannot be read ({error.strerror})")
    # A block that the file is too short for was named with its size.
    if len(data) < stop - start or zlib.crc32(data) == file.crc32[block]:
        return None
    return wrong_block(file, block)
