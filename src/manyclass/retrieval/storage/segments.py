"""The files of a saved gallery: segments of images, sealed sections, and the manifest that names them.

A segment has the embeddings of some images in .npy files, and their ids and metadata in a sealed section. Models,
background sets and lists of removed images are sections too.
"""

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.digest import file_digest
from manyclass._core.errors import Damage, FileRefusedError, StorageError, StoreCorruptedError, unreadable_error
from manyclass._core.files import after_commit, sync_folder, write_bytes
from manyclass._core.reading import read_file
from manyclass._core.sealed import SealedFormat, seal, unseal
from manyclass._core.typing import Arrays, Embeddings
from manyclass.data.store.blocks import BlockFile
from manyclass.data.store.columns import encode_names
from manyclass.data.store.manifest import FileRecord, write_array
from manyclass.data.store.store import Names
from manyclass.retrieval.catalog import Catalog, Id
from manyclass.retrieval.faiss_index import FaissIndex
from manyclass.retrieval.metadata import as_metadata
from manyclass.retrieval.neighbors import NeighborTable
from manyclass.retrieval.search import FlatIndex
from manyclass.retrieval.vectors import Positions

GALLERY_MANIFEST = "manifest.json"

GALLERY_FORMAT, GALLERY_VERSION = "manyclass gallery", 1

SECTION = SealedFormat("manyclass gallery part", 1, "restore the file from a copy or save the gallery again")

_SECTION = re.compile(
    r"(?:(?:labels|gone|pool|encoder|second|features|null|indexed)-(?:0|[1-9][0-9]{0,8})\.safetensors)"
    r"|(?:index-(?:0|[1-9][0-9]{0,8})\.faiss)"
    r"|(?:retrieval-(?:0|[1-9][0-9]{0,8})\.json)"
)

_OURS = re.compile(rf"(?:{_SECTION.pattern}|(?:X|codes)-(?:0|[1-9][0-9]{{0,8}})\.npy|manifest\.json)(?:\.tmp)?")

# What may lie in the folder before its manifest does, and stays when files of earlier states are removed.
_GUESTS = {"lock", "retrieval.json", "retrieval.json.tmp"}

Content = dict[str, Any]


def write_gallery_manifest(folder: Path, content: Content) -> bytes:
    """Make this the state of the gallery, at one instant; gives the bytes by which it is known again."""
    data = seal({"format": GALLERY_FORMAT, "version": GALLERY_VERSION, **content})
    write_bytes(folder / GALLERY_MANIFEST, data)
    return data


def read_gallery_manifest(folder: Path) -> tuple[Content, bytes]:
    """(content, bytes) of the manifest; StorageError or StoreCorruptedError if none is good."""
    try:
        data = read_file(folder / GALLERY_MANIFEST, "manifest")
    except (FileNotFoundError, NotADirectoryError):
        raise StorageError(
            f"{folder} is not a gallery; give the folder that Gallery.save or manyclass encode wrote"
        ) from None
    except OSError as error:
        raise unreadable_error(folder / GALLERY_MANIFEST, error) from error
    try:
        content = unseal(data)
    except StorageError as error:
        raise StoreCorruptedError(folder, Damage(GALLERY_MANIFEST, None, str(error))) from None
    if content.get("format") != GALLERY_FORMAT:
        raise StorageError(f"{folder} must hold a {GALLERY_FORMAT}; it holds a {content.get('format')}")
    if not isinstance(content.get("version"), int) or content["version"] > GALLERY_VERSION:
        raise StorageError(
            f"{folder} is a {GALLERY_FORMAT} of version {content.get('version')}, "
            f"and this manyclass reads {GALLERY_VERSION}"
        )
    return content, data


def is_gallery(folder: Path) -> bool:
    """Whether a folder has the manifest of a gallery, good or damaged."""
    try:
        return GALLERY_FORMAT.encode() in read_file(folder / GALLERY_MANIFEST, "manifest")
    except (OSError, FileRefusedError):
        return False


def write_section(folder: Path, name: str, content: Any, arrays: dict[str, NDArray[Any]]) -> Content:
    """Write a sealed section, and give its record."""
    SECTION.write(folder / name, content, arrays, part=True)
    return file_record(folder, name)


def file_record(folder: Path, name: str) -> Content:
    """What the manifest says of a section: its name and the SHA-256 of the file."""
    return {"name": name, "sha256": file_digest(folder / name)}


def section_path(folder: Path, record: Any) -> Path:
    """The file of a record, if it is the one that was written."""
    name = record["name"]
    if not isinstance(name, str) or not _SECTION.fullmatch(name):
        raise StorageError(f"{folder} cannot be read as a gallery: a part of it cannot be named {str(name)[:60]!r}")
    try:
        if file_digest(folder / name) != record["sha256"]:
            raise StoreCorruptedError(folder, Damage(name, None, "does not match its checksum"))
    except FileNotFoundError:
        raise StoreCorruptedError(folder, Damage(name, None, "is missing")) from None
    except OSError as error:
        raise unreadable_error(folder / name, error) from error
    return folder / name


def embeddings_record(folder: Path, value: Any) -> FileRecord:
    """What the manifest says of a file of embeddings."""
    try:
        return FileRecord.from_json(value)
    except StorageError as error:
        raise StorageError(f"{folder} cannot be read as a gallery: {error}") from None


def read_section(folder: Path, record: Any) -> tuple[Any, Arrays]:
    """(content, arrays) of a section."""
    return SECTION.read(section_path(folder, record))


def stale_files(folder: Path, content: Content) -> list[str]:
    """Files of ours that a manifest does not name: those of earlier states, and what a crash left."""
    keep = names_of(content)
    return [name for name in os.listdir(folder) if _OURS.fullmatch(name) and name not in keep]


def remove_stale_files(folder: Path, content: Content) -> None:
    """Remove what the manifest of a gallery, which is committed, does not name."""
    with after_commit(folder):
        doomed = stale_files(folder, content)
        for name in doomed:
            (folder / name).unlink(missing_ok=True)
        if doomed:
            sync_folder(folder)


def only_ours(folder: Path) -> bool:
    """Whether a folder holds nothing but what a gallery may have left."""
    return all(_OURS.fullmatch(name) or name in _GUESTS for name in os.listdir(folder))


def names_of(content: Content) -> set[str]:
    """The files that belong to a manifest."""
    names = {GALLERY_MANIFEST}
    names |= {part["name"] for part in whole_parts(content)}
    for segment in content["segments"]:
        names |= {segment["labels"]["name"], *(file["name"] for file in segment["codes"])}
    return names | {gone["name"] for gone in content["gone"]}


def whole_parts(content: Content) -> list[Content]:
    """The parts that belong to all images: models, how well they find their class, their neighbors, and an index."""
    known, index = content.get("null") or {}, content.get("index") or {}
    parts = (content.get("retrieval"), known.get("rows"), index.get("file"), index.get("rows"))
    return [part for part in (*content["models"].values(), *parts) if part]


def as_numbers(numbers: Any) -> NDArray[np.int64]:
    return np.asarray(numbers, np.int64).reshape(-1)


@dataclass
class SavedState:
    """The state of a folder that a gallery knows: its manifest, and the numbers of images that are gone, per list."""

    path: Path
    content: Content
    data: bytes
    gone: list[NDArray[np.int64]]


@dataclass
class GalleryState:
    """What a gallery holds: its images, an index per encoder, an approximate one for the first of them where there is
    one, and what is known of the folder where it is saved."""

    catalog: Catalog
    indexes: list[FlatIndex]
    saved: SavedState | None = None
    removed: list[int] = field(default_factory=list)  # numbers of images that were removed since it was saved
    neighbors: NeighborTable = field(default_factory=NeighborTable)
    approximate: FaissIndex | None = None

    def append(self, codes: list[Embeddings], ids: list[Id], columns: dict[str, list[Any]]) -> None:
        """Put images at the end, by their embeddings per index."""
        for index, rows in zip(self.indexes, codes, strict=True):
            index.embeddings.append(rows)
        self.catalog.add(ids, columns)
        self.neighbors.add(
            self.indexes[0], self.catalog, np.arange(self.catalog.n_places - len(ids), self.catalog.n_places)
        )

    def remove(self, ids: list[Id]) -> None:
        """Take images out; their embeddings are let go of when there are many."""
        places = self.catalog.positions(ids)
        self.removed.extend(self.catalog.numbers[i] for i in places.tolist())
        self.catalog.remove(ids)
        self.neighbors.remove(places)
        if self.catalog.n_places > 2 * len(self.catalog) + 1024:
            live = self.catalog.live()
            for index in self.indexes:
                index.embeddings = index.embeddings.select(live)
            self.neighbors.select(live)
            self.catalog = self.catalog.select(live.tolist())


@dataclass(frozen=True)
class LazyModel:
    """A model of a saved gallery, as its manifest records it, which is read when it is first needed."""

    folder: Path
    record: Content

    def read(self) -> Any:
        """The model, if its file is the one that was written."""
        from manyclass._core.models import load

        return load(section_path(self.folder, self.record))


ROLES = ("X", "codes")  # names of the file format: embeddings of the encoder, and of the reranker


def write_segment(
    folder: Path, serial: int, catalog: Catalog, indexes: list[FlatIndex], positions: Positions
) -> Content:
    """Write the images at these positions, and give the segment for the manifest."""
    places = positions.tolist()
    files = [
        write_array(folder, f"{role}-{serial}.npy", index.embeddings.rows(positions)).json()
        for role, index in zip(ROLES, indexes, strict=False)
    ]
    arrays: dict[str, Any] = {"numbers": as_numbers([catalog.numbers[i] for i in places])}
    ids = [catalog.ids[i] for i in places]
    if catalog.strings:
        arrays["id_bytes"], arrays["id_offsets"] = encode_names([str(key) for key in ids])
    else:
        arrays["ids"] = as_numbers(ids)
    columns = catalog.columns.select(places).values
    labels = write_section(folder, f"labels-{serial}.safetensors", {"metadata": columns}, arrays)
    return {"rows": len(places), "first": int(arrays["numbers"][0]), "codes": files, "labels": labels}


def read_segment(
    folder: Path, segment: Content, widths: list[int]
) -> tuple[list[Id], dict[str, list[Any]], list[int], list[Embeddings]]:
    """(ids, columns, numbers, embeddings per encoder), all of it checked; these are mapped."""
    content, arrays = read_section(folder, segment["labels"])
    numbers = arrays["numbers"].tolist()
    ids = list(Names(arrays["id_bytes"], arrays["id_offsets"])) if "id_bytes" in arrays else arrays["ids"].tolist()
    files = [BlockFile(folder, embeddings_record(folder, value)) for value in segment["codes"]]
    for file in files:
        file.check()
    shapes = [(len(numbers), d) for d in widths]
    if [file.array.shape for file in files] != shapes or {len(ids), len(numbers)} != {segment["rows"]}:
        raise StoreCorruptedError(folder, Damage(segment["labels"]["name"], None, "does not match its embeddings"))
    return ids, as_metadata(len(ids), content["metadata"]), numbers, [_floats(file) for file in files]


def _floats(file: BlockFile) -> Embeddings:
    return np.ascontiguousarray(file.array, np.float32)
