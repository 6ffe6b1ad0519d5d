"""Saving a gallery: only what has changed, and all of it at one instant.

A folder holds segments of images and lists of numbers of images that are gone. To save writes a new segment for what
was added and a list for what was removed, and then the manifest that names all files; that it is renamed to its place
is the instant. So that there are never many files, a new segment takes up the last ones that are no larger than itself,
and a list likewise: over many saves a row is written about as often as the number of rows doubles. When most saved rows
are gone, all is written anew.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.errors import StorageError
from manyclass._core.files import FolderLock, explain_disk_errors, sync_folder
from manyclass._core.sealed import parse_json
from manyclass.data.matrix import spans
from manyclass.retrieval.catalog import Catalog
from manyclass.retrieval.search import FlatIndex
from manyclass.retrieval.storage.segments import (
    GALLERY_MANIFEST,
    Content,
    as_numbers,
    file_record,
    is_gallery,
    names_of,
    only_ours,
    read_gallery_manifest,
    remove_stale_files,
    write_gallery_manifest,
    write_section,
    write_segment,
)
from manyclass.retrieval.vectors import Positions

if TYPE_CHECKING:
    from manyclass.retrieval.gallery import Gallery

SEGMENT_BYTES = 256 << 20  # of embeddings in a segment, so that to write one takes no more memory


@dataclass
class SavedState:
    """The state of a folder that a gallery knows: its manifest, and the numbers of images that are gone, per list."""

    path: Path
    content: Content
    data: bytes
    gone: list[NDArray[np.int64]]


def save_gallery(gallery: "Gallery", path: str | os.PathLike[str] | None, overwrite: bool) -> None:
    """Write what has changed to the gallery's folder, or all of it to another one."""
    if path is None and gallery._saved is None:
        raise ValueError("path must be given, because the gallery was neither saved nor opened before")
    folder = gallery._saved.path if path is None else Path(path).expanduser().absolute()
    with explain_disk_errors(folder):
        _make_folder(folder)
        lock = FolderLock(folder)
        try:
            known = _known(gallery, folder, overwrite)
            gallery._saved = _commit(gallery, folder, known)
            gallery._forgotten = []
            remove_stale_files(folder, names_of(gallery._saved.content))
        finally:
            lock.release()


def _make_folder(folder: Path) -> None:
    if folder.is_dir():
        if not (folder / GALLERY_MANIFEST).exists() and not only_ours(folder):
            raise StorageError(f"{folder} is a folder with other content; choose another name")
    elif folder.exists():
        raise StorageError(f"{folder} is a file, and a gallery is a folder; choose another name")
    else:
        folder.mkdir(parents=True)
        sync_folder(folder.parent)


def _known(gallery: "Gallery", folder: Path, overwrite: bool) -> SavedState | None:
    """The state to go on from; None to write all of it, into a folder that may be written over."""
    if not (folder / GALLERY_MANIFEST).exists():
        return None
    if overwrite:
        if not is_gallery(folder):
            raise StorageError(f"{folder} holds something other than a gallery; choose another name")
        return None
    content, data = read_gallery_manifest(folder)
    saved: SavedState | None = gallery._saved
    if saved is not None and saved.path == folder and saved.data == data:
        return saved
    if saved is not None and saved.path == folder:
        raise StorageError(f"{folder} was changed since it was opened; open it again or pass overwrite=True")
    raise StorageError(f"{folder} holds another gallery of {content.get('images')} images; pass overwrite=True")


def _commit(gallery: "Gallery", folder: Path, known: SavedState | None) -> SavedState:
    catalog, stages = gallery._catalog, gallery._stages
    serial = _next_serial(folder, known)
    plan = _Plan.of(catalog, gallery._forgotten, known)
    # The file format has names of its own, so that galleries written before `Gallery` renamed its own still open.
    settings = {"shortlist": gallery.n_candidates, "false_match": gallery.false_match, "index": gallery.index}
    said = {"settings": settings, "provenance": parse_json(gallery.provenance, "provenance")}
    if known is not None and plan.is_empty(known) and said == {key: known.content.get(key, {}) for key in said}:
        return known
    content: Content = {
        "serial": serial,
        "next": catalog.next_number,
        "images": len(catalog),
        **said,
        "widths": [stage.rows.d for stage in stages],
        "models": known.content["models"] if known else _models(gallery, folder, serial),
        "segments": [*plan.segments, *_segments(folder, serial, catalog, stages, plan.new)],
        "gone": list(plan.gone_records),
    }
    gone = list(plan.gone)
    if len(plan.forgotten):
        content["gone"].append(write_section(folder, f"gone-{serial}.safetensors", {}, {"numbers": plan.forgotten}))
        gone.append(plan.forgotten)
    sync_folder(folder)
    return SavedState(folder, content, write_gallery_manifest(folder, content), gone)


@dataclass
class _Plan:
    """Which segments and lists stay, and what is written: images by position, and numbers."""

    segments: list[Content]
    new: Positions
    gone_records: list[Content]
    gone: list[NDArray[np.int64]]
    forgotten: NDArray[np.int64]

    def is_empty(self, known: SavedState) -> bool:
        """Whether there is nothing to write."""
        return not len(self.new) and not len(self.forgotten) and len(self.gone) == len(known.gone)

    @classmethod
    def of(cls, catalog: Catalog, forgotten: list[int], known: SavedState | None) -> "_Plan":
        live = catalog.live()
        if known is None:
            return cls([], live, [], [], as_numbers([]))
        numbers = as_numbers(catalog.numbers)[live]
        segments, first = _staying(known.content["segments"], numbers, known.content["next"])
        dead = np.sort(as_numbers([number for number in forgotten if number < first]))
        records, lists = list(known.content["gone"]), list(known.gone)
        if sum(segment["rows"] for segment in segments) > 2 * int(np.searchsorted(numbers, first)) + 1024:
            return cls([], live, [], [], as_numbers([]))
        while len(dead) and lists and len(lists[-1]) <= len(dead):
            older = lists.pop()
            dead = np.sort(np.concatenate([older[older < first], dead]))
            records.pop()
        return cls(segments, live[numbers >= first], records, lists, dead)


def _staying(segments: list[Content], numbers: NDArray[np.int64], first: int) -> tuple[list[Content], int]:
    """(segments that are not taken up, the number from which images are written)."""
    staying = list(segments)
    while staying:
        new = len(numbers) - int(np.searchsorted(numbers, first))
        if not new or staying[-1]["rows"] > new:
            break
        first = staying.pop()["first"]
    return staying, first


def _segments(folder: Path, serial: int, catalog: Catalog, stages: list[FlatIndex], new: Positions) -> list[Content]:
    height = max(1, SEGMENT_BYTES // (4 * max(1, sum(stage.rows.d for stage in stages))))
    parts = spans(len(new), height)
    return [write_segment(folder, serial + i, catalog, stages, new[at]) for i, at in enumerate(parts)]


def _models(gallery: "Gallery", folder: Path, serial: int) -> dict[str, Any]:
    """The encoders, and the background set where there is none, as parts of their own; they never change."""
    models: dict[str, Any] = {"encoder": None, "second": None, "features": None, "pool": None}
    roles = {"encoder": gallery.encoder, "second": gallery.reranker, "features": gallery.features}
    for role, model in roles.items():
        if model is not None:
            name = f"{role}-{serial}.safetensors"
            model.save(folder / name)
            models[role] = file_record(folder, name)
    if gallery.encoder is None and gallery._stages and len(gallery._stages[0].space.background_):
        background = {"pool": gallery._stages[0].space.background_}
        models["pool"] = write_section(folder, f"pool-{serial}.safetensors", {}, background)
    return models


def _next_serial(folder: Path, known: SavedState | None) -> int:
    """A number above those of all files here, so that no file that a manifest names is written over."""
    found = [
        int(part)
        for name in os.listdir(folder)
        for part in [name.partition("-")[2].partition(".")[0]]
        if part.isdigit()
    ]
    return 1 + max([*found, known.content["serial"] if known else -1])
