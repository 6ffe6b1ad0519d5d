"""verify_gallery: everything wrong with a saved gallery, and not only the first thing."""

import os
from collections.abc import Iterator
from pathlib import Path

from manyclass._core.errors import Damage, StoreCorruptedError
from manyclass._core.files import expand_home
from manyclass._core.typing import Report
from manyclass.data.store.verify import file_damages
from manyclass.retrieval.gallery import Gallery
from manyclass.retrieval.storage.segments import (
    GALLERY_MANIFEST,
    Content,
    embeddings_record,
    names_of,
    read_gallery_manifest,
    section_path,
    whole_parts,
)


def verify_gallery(path: str | os.PathLike[str], progress: Report | None = None) -> list[Damage]:
    """Read all of a gallery, also one that cannot be opened, and list what is not as it was written.

    With a damaged manifest nothing else can be checked. What keeps a gallery from being opened and is no damage is a
    StorageError. progress gets (bytes read, bytes in all). If the gallery is saved anew meanwhile, the new one counts.
    """
    folder = expand_home(path).absolute()
    try:
        content, data = read_gallery_manifest(folder)
        while found := _damaged(folder, content, progress or (lambda done, total: None)) or _unopened(folder):
            content, now = read_gallery_manifest(folder)
            if now == data:
                return found
            data = now
    except StoreCorruptedError as error:
        return [error.damage]
    return []


def gallery_bytes(path: str | os.PathLike[str]) -> int:
    """Bytes of all files that belong to a gallery, its manifest among them; those that are missing are not counted."""
    folder = expand_home(path)
    files = (folder / name for name in names_of(read_gallery_manifest(folder)[0]))
    return sum(file.stat().st_size for file in files if file.exists())


def _damaged(folder: Path, content: Content, progress: Report) -> list[Damage]:
    try:
        sizes = {name: _size(folder / name) for name in names_of(content) - {GALLERY_MANIFEST}}
        total, done = sum(sizes.values()), 0
        found: list[Damage] = []
        for name, damages in _files(folder, content):
            for step in damages:
                if isinstance(step, Damage):
                    found.append(step)
                else:
                    progress(done + step, total)
            done += sizes[name]
            progress(done, total)
    except (KeyError, TypeError, AttributeError) as error:
        return [Damage(GALLERY_MANIFEST, None, f"cannot be understood ({error})")]
    return found


def _files(folder: Path, content: Content) -> Iterator[tuple[str, Iterator[Damage | int]]]:
    """Every file by its name, with what is wrong with it and how far its check is."""
    for record in whole_parts(content) + content["gone"]:
        yield record["name"], _section_damages(folder, record)
    for segment in content["segments"]:
        yield segment["labels"]["name"], _section_damages(folder, segment["labels"])
        for file in segment["codes"]:
            yield file["name"], file_damages(folder, embeddings_record(folder, file))


def _section_damages(folder: Path, record: Content) -> Iterator[Damage | int]:
    try:
        section_path(folder, record)
    except StoreCorruptedError as error:
        yield error.damage


def _unopened(folder: Path) -> list[Damage]:
    """What goes wrong when files that were found good are opened."""
    try:
        Gallery.open(folder)
    except StoreCorruptedError as error:
        return [error.damage]
    return []


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
