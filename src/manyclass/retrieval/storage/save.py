"""Saving a gallery: only what has changed, and all of it at one instant.

A folder holds segments of images and lists of numbers of images that are gone. To save writes a new segment for what
was added and a list for what was removed, and then the manifest that names all files; that it is renamed to its place
is the instant. So that there are never many files, a new segment takes up the last ones that are no larger than itself,
and a list likewise: over many saves a row is written about as often as the number of rows doubles. When most saved rows
are gone, all is written anew.
"""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.errors import StorageError
from manyclass._core.files import LOCK, FolderLock, expand_home, explain_disk_errors, make_folder, sync_folder
from manyclass._core.sealed import parse_json
from manyclass.data.matrix import spans
from manyclass.retrieval.catalog import Catalog
from manyclass.retrieval.neighbors import fewest_things, is_judged
from manyclass.retrieval.search import FlatIndex
from manyclass.retrieval.storage.saved_index import write_index
from manyclass.retrieval.storage.segments import (
    GALLERY_MANIFEST,
    Content,
    GalleryState,
    SavedState,
    as_numbers,
    file_record,
    is_gallery,
    only_ours,
    read_gallery_manifest,
    remove_stale_files,
    stale_files,
    write_gallery_manifest,
    write_section,
    write_segment,
)
from manyclass.retrieval.vectors import Positions

if TYPE_CHECKING:
    from manyclass.retrieval.gallery import Gallery

SEGMENT_BYTES = 256 << 20  # of embeddings in a segment, so that to write one takes no more memory


def save_gallery(
    gallery: "Gallery",
    path: str | os.PathLike[str] | None,
    overwrite: bool,
    write_retrieval: Callable[[Path], Any] | None = None,
) -> None:
    """Write what has changed to the gallery's folder, or all of it to another one.

    `write_retrieval` writes a record of how well its images find their class, which becomes part of a new gallery.
    """
    state = gallery.state()
    if path is not None:
        folder = expand_home(path).absolute()
    elif state.saved is not None:
        folder = state.saved.path
    else:
        raise ValueError("path must be given, because the gallery was neither saved nor opened before")
    with explain_disk_errors(folder):
        _make_folder(folder)
        lock = FolderLock(folder)
        try:
            state.saved = _commit(gallery, folder, _base(state.saved, folder, overwrite), write_retrieval)
            state.removed = []
            remove_stale_files(folder, state.saved.content)
        finally:
            lock.release()


def tidy_gallery(folder: Path) -> None:
    """Remove what a save that was killed left in the folder of a gallery, unless another is at work there."""
    if not stale_files(folder, read_gallery_manifest(folder)[0]) and not os.path.lexists(folder / LOCK):
        return
    with suppress(StorageError, OSError):
        lock = FolderLock(folder)
        try:
            remove_stale_files(folder, read_gallery_manifest(folder)[0])
        finally:
            lock.release()


def _make_folder(folder: Path) -> None:
    if folder.is_dir():
        if not (folder / GALLERY_MANIFEST).exists() and not only_ours(folder):
            raise StorageError(f"{folder} is a folder with other content; choose another name")
    elif folder.exists():
        raise StorageError(f"{folder} is a file, and a gallery is a folder; choose another name")
    else:
        make_folder(folder)


def _base(saved: SavedState | None, folder: Path, overwrite: bool) -> SavedState | None:
    """The state to go on from; None to write all of it, into a folder that may be written over."""
    if not (folder / GALLERY_MANIFEST).exists():
        return None
    if overwrite:
        if not is_gallery(folder):
            raise StorageError(f"{folder} holds something other than a gallery; choose another name")
        return None
    content, data = read_gallery_manifest(folder)
    if saved is not None and saved.path == folder and saved.data == data:
        return saved
    if saved is not None and saved.path == folder:
        raise StorageError(f"{folder} was changed since it was opened; open it again or pass overwrite=True")
    raise StorageError(f"{folder} holds another gallery of {content.get('images')} images; pass overwrite=True")


def _commit(
    gallery: "Gallery", folder: Path, known: SavedState | None, write_retrieval: Callable[[Path], Any] | None
) -> SavedState:
    state = gallery.state()
    catalog, indexes = state.catalog, state.indexes
    serial = _next_serial(folder, known)
    plan = _SavePlan.of(catalog, state.removed, known)
    # The file format has names of its own, so that galleries written before `Gallery` renamed its own still open.
    settings = {"shortlist": gallery.n_candidates, "false_match": gallery.false_match, "index": gallery.index}
    settings |= {"own_background": gallery.own_background}
    said = {"settings": settings, "provenance": parse_json(gallery.provenance, "provenance")}
    if state.approximate is not None and indexes:
        state.approximate.update(indexes[0], catalog)
    same_index = known is not None and _saved_index(state) == known.content.get("index")
    if known is not None and same_index and plan.is_empty(known) and said == _said(known.content, said):
        return known
    content: Content = {
        "serial": serial,
        "next": catalog.next_number,
        "images": len(catalog),
        **said,
        "widths": [index.embeddings.d for index in indexes],
        "models": known.content["models"] if known else _write_models(gallery, folder, serial),
        "segments": [*plan.segments, *_write_segments(folder, serial, catalog, indexes, plan.new)],
        "gone": list(plan.gone_records),
    }
    content["null"] = _write_null(gallery, folder, serial)
    content["index"] = known.content.get("index") if known and same_index else _write_index(state, folder, serial)
    if known is None or "retrieval" in known.content:
        content["retrieval"] = known.content["retrieval"] if known else _write_record(folder, serial, write_retrieval)
    gone = list(plan.gone)
    if len(plan.removed):
        content["gone"].append(write_section(folder, f"gone-{serial}.safetensors", {}, {"numbers": plan.removed}))
        gone.append(plan.removed)
    sync_folder(folder)
    return SavedState(folder, content, write_gallery_manifest(folder, content), gone)


@dataclass
class _SavePlan:
    """Which segments and lists stay, and what is written: images by position, and numbers."""

    segments: list[Content]
    new: Positions
    gone_records: list[Content]
    gone: list[NDArray[np.int64]]
    removed: NDArray[np.int64]

    def is_empty(self, known: SavedState) -> bool:
        """Whether there is nothing to write."""
        return not len(self.new) and not len(self.removed) and len(self.gone) == len(known.gone)

    @classmethod
    def of(cls, catalog: Catalog, removed: list[int], known: SavedState | None) -> "_SavePlan":
        live = catalog.live()
        if known is None:
            return cls([], live, [], [], as_numbers([]))
        numbers = as_numbers(catalog.numbers)[live]
        segments, first = _staying(known.content["segments"], numbers, known.content["next"])
        dead = np.sort(as_numbers([number for number in removed if number < first]))
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


def _write_segments(
    folder: Path, serial: int, catalog: Catalog, indexes: list[FlatIndex], new: Positions
) -> list[Content]:
    height = max(1, SEGMENT_BYTES // (4 * max(1, sum(index.embeddings.d for index in indexes))))
    return [
        write_segment(folder, serial + i, catalog, indexes, new[at]) for i, at in enumerate(spans(len(new), height))
    ]


def _write_models(gallery: "Gallery", folder: Path, serial: int) -> dict[str, Any]:
    """The encoders, and the background set where there is none, as sections of their own; they never change."""
    models: dict[str, Any] = {"encoder": None, "second": None, "features": None, "pool": None}
    roles = {"encoder": gallery.encoder, "second": gallery.reranker, "features": gallery.features}
    for role, model in roles.items():
        if model is not None:
            name = f"{role}-{serial}.safetensors"
            model.save(folder / name)
            models[role] = file_record(folder, name)
    indexes = gallery.state().indexes
    if gallery.encoder is None and indexes and len(indexes[0].encoder.background_):
        background = {"pool": indexes[0].encoder.background_}
        models["pool"] = write_section(folder, f"pool-{serial}.safetensors", {}, background)
    return models


def _said(content: Content, keys: Iterable[str]) -> Content:
    return {key: content.get(key, {}) for key in keys}


def _saved_index(state: GalleryState) -> Content | None:
    """What a manifest says of the index, where it says so rightly; also of none that should be."""
    return None if state.approximate is None or state.approximate.arrays()[0] is None else state.approximate.saved or {}


def _write_index(state: GalleryState, folder: Path, serial: int) -> Content | None:
    return None if state.approximate is None else write_index(folder, serial, state.approximate)


def _write_null(gallery: "Gallery", folder: Path, serial: int) -> Content:
    """What tells strangers: the column of things, and the neighbors of the images that are asked."""
    table, catalog = gallery.state().neighbors, gallery.state().catalog
    about: Content = {"things": table.things, "rows": None}
    judged = is_judged(catalog, any(len(index.encoder.background_) for index in gallery.state().indexes))
    if judged and table.n_things(catalog) >= fewest_things(gallery.false_match):
        table.null(gallery.state().indexes[0], catalog)
        about["rows"] = write_section(folder, f"null-{serial}.safetensors", {}, table.arrays(catalog))
    return about


def _write_record(folder: Path, serial: int, write: Callable[[Path], Any] | None) -> Content | None:
    if write is None:
        return None
    write(folder / f"retrieval-{serial}.json")
    return file_record(folder, f"retrieval-{serial}.json")


def _next_serial(folder: Path, known: SavedState | None) -> int:
    """A number above those of all files here, so that no file that a manifest names is written over."""
    found = [
        int(part)
        for name in os.listdir(folder)
        for part in [name.partition("-")[2].partition(".")[0]]
        if part.isdigit()
    ]
    return 1 + max([*found, known.content["serial"] if known else -1])
