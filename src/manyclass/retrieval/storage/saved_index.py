"""The index of a gallery in its folder: a file of faiss, and the numbers of the images that it holds, in its order."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from manyclass._core.errors import Damage, StorageError, StoreCorruptedError
from manyclass._core.files import TEMPORARY_SUFFIX, open_own, replace_file, sync_file
from manyclass.retrieval.faiss_index import FaissIndex, import_faiss, set_effort
from manyclass.retrieval.storage.segments import (
    Content,
    file_record,
    read_gallery_manifest,
    read_section,
    section_path,
    write_section,
)
from manyclass.retrieval.vectors import Positions


def write_index(folder: Path, serial: int, index: FaissIndex) -> Content | None:
    """Write an index that is up to date, and give what the manifest says of it; None where there is nothing to write.

    The file is one that `faiss.read_index` takes. `about` has the version of faiss that wrote it.
    """
    made, numbers = index.arrays()
    if made is None:
        return None
    faiss, name = import_faiss(), f"index-{serial}.faiss"
    temporary = folder / (name + TEMPORARY_SUFFIX)
    try:
        faiss.write_index(made, str(temporary))
    except RuntimeError as error:  # faiss does not say why
        raise StorageError(f"{folder / name} cannot be written; see that there is room for it") from error
    descriptor = open_own(temporary, os.O_RDWR)
    try:
        sync_file(descriptor)
    finally:
        os.close(descriptor)
    replace_file(temporary, folder / name, part=True)
    index.about["faiss"] = faiss.__version__
    rows = write_section(folder, f"indexed-{serial}.safetensors", {}, {"numbers": numbers})
    index.saved = {"file": file_record(folder, name), "rows": rows, "about": dict(index.about)}
    return dict(index.saved)


def saved_index(folder: Path, kind: str, record: Any) -> FaissIndex:
    """The index of a saved gallery, which is read when a search first needs it."""
    if record is None:
        return FaissIndex(kind)
    about = dict(record["about"])
    index = FaissIndex(kind, lambda: (*_read(folder, record), about) if _is_there(folder, record) else _NOTHING)
    index.about, index.saved = about, record
    return index


_NOTHING: tuple[Any, Positions, Content] = None, np.zeros(0, np.int64), {}


def _is_there(folder: Path, record: Content) -> bool:
    """Whether the folder has this index still: where the gallery was saved anew since, another took its place."""
    return (folder / record["file"]["name"]).exists() or read_gallery_manifest(folder)[0].get("index") == record


def _read(folder: Path, record: Content) -> tuple[Any, Positions]:
    faiss, path = import_faiss(), section_path(folder, record["file"])
    numbers: Positions = read_section(folder, record["rows"])[1]["numbers"]
    try:
        index = faiss.read_index(os.fspath(path))
    except RuntimeError as error:
        raise StoreCorruptedError(folder, Damage(path.name, None, "faiss cannot read it")) from error
    if index.ntotal != len(numbers) or numbers.dtype.kind != "i":
        raise StoreCorruptedError(folder, Damage(path.name, None, "does not match the images that it holds"))
    set_effort(index, record["about"]["effort"])
    return index, numbers
