"""Opening a saved gallery."""

import os
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from manyclass._core.errors import Damage, StorageError, StoreCorruptedError
from manyclass._core.files import expand_home
from manyclass._core.typing import Report
from manyclass.retrieval.catalog import Catalog, Id
from manyclass.retrieval.encoders import CosineEncoder
from manyclass.retrieval.search import FlatIndex
from manyclass.retrieval.storage.saved_index import saved_index
from manyclass.retrieval.storage.segments import (
    GALLERY_MANIFEST,
    Content,
    LazyModel,
    SavedState,
    read_gallery_manifest,
    read_section,
    read_segment,
    section_path,
)

if TYPE_CHECKING:
    from manyclass.retrieval.gallery import Gallery

G = TypeVar("G", bound="Gallery")


def open_gallery(kind: type[G], path: str | os.PathLike[str]) -> G:
    """The gallery in a folder. If it is saved anew meanwhile, the new one."""
    folder = expand_home(path).absolute()
    content, data = read_gallery_manifest(folder)
    while True:
        try:
            return _read_gallery(kind, folder, content, data)
        except StoreCorruptedError:
            # Its files may be gone because others took their place.
            content, now = read_gallery_manifest(folder)
            if now == data:
                raise
            data = now


def open_joined(kind: type[G], saved: Mapping[Path, Content], progress: Report | None = None) -> G:
    """The images of saved galleries, one after the other, in a new gallery with the models and settings of the first.

    They are given as folders, with what the manifest of each says. Embeddings stay mapped where there are many.
    """
    # Without an encoder, those without images do not know how wide a row is.
    first = next((folder for folder, content in saved.items() if content["images"]), next(iter(saved)))
    gallery, n = _without_images(kind, first, saved[first]), sum(content["images"] for content in saved.values())
    state = gallery.state()
    state.neighbors.things = saved[first]["null"]["things"]
    for folder, content in saved.items():
        for segment in content["segments"]:
            ids, columns, _, codes = read_segment(folder, segment, content["widths"])
            state.catalog.check_new(ids, len(ids))
            state.append(codes, ids, columns)
            if progress:
                progress(len(gallery), n)
    return gallery


def _read_gallery(kind: type[G], folder: Path, content: Content, data: bytes) -> G:
    try:
        gallery = _without_images(kind, folder, content)
        gone = [read_section(folder, record)[1]["numbers"] for record in content["gone"]]
        _fill(gallery, folder, content, np.concatenate([np.zeros(0, np.int64), *gone]))
        _restore_null(gallery, folder, content)
    except StorageError:
        raise
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        raise StoreCorruptedError(folder, Damage(GALLERY_MANIFEST, None, f"cannot be understood ({error})")) from error
    gallery.state().saved = SavedState(folder, content, data, gone)
    return gallery


def _without_images(kind: type[G], folder: Path, content: Content) -> G:
    """The gallery without images."""
    from manyclass._core.models import load

    models: dict[str, Any] = {
        role: None if content["models"][role] is None else load(section_path(folder, content["models"][role]))
        for role in ("encoder", "second")
    }
    about: dict[str, Any] = {"features": _lazy_features(folder, content), "provenance": content.get("provenance")}
    # "shortlist", "second" and "pool" are names of the file format; `Gallery` has others.
    settings = {{"shortlist": "n_candidates"}.get(key, key): value for key, value in content["settings"].items()}
    index = settings.pop("index", None)  # without faiss all else can be done
    # Galleries of versions before the setting say by their provenance where negatives are from.
    settings.setdefault("own_background", " itself" in str((content.get("provenance") or {}).get("negatives", "")))
    gallery = kind(models["encoder"], reranker=models["second"], **settings, **about)
    if gallery.encoder is None and len(content["widths"]) > (gallery.reranker is not None):
        encoder = CosineEncoder(content["widths"][0])
        if content["models"]["pool"] is not None:
            encoder.background_ = read_section(folder, content["models"]["pool"])[1]["pool"]
        gallery.state().indexes.insert(0, FlatIndex(encoder))
    if index is not None:
        gallery.state().approximate = saved_index(folder, str(index), content.get("index"))
    return gallery


def _lazy_features(folder: Path, content: Content) -> LazyModel | None:
    # Read when it is needed: a network is a file elsewhere, without which the gallery is as good for other queries.
    record = content["models"].get("features")
    return None if record is None else LazyModel(folder, record)


def _fill(gallery: "Gallery", folder: Path, content: Content, gone: Any) -> None:
    catalog, indexes = gallery.state().catalog, gallery.state().indexes
    for segment in content["segments"]:
        ids, columns, numbers, codes = read_segment(folder, segment, content["widths"])
        present = ~np.isin(numbers, gone)
        _check(catalog, [key for key, there in zip(ids, present, strict=True) if there], numbers)
        catalog.add_known(ids, columns, numbers, present)
        for index, rows in zip(indexes, codes, strict=True):
            index.embeddings.attach(rows)
    if len(catalog) != content["images"]:
        raise ValueError(f"it records {content['images']} images, but there are {len(catalog)}")
    catalog.next_number = max(catalog.next_number, int(content["next"]))


def _restore_null(gallery: "Gallery", folder: Path, content: Content) -> None:
    """What tells strangers; galleries of versions without it know by their classes what their images show."""
    table, catalog = gallery.state().neighbors, gallery.state().catalog
    about = content.get("null", {"things": "class" if "class" in catalog.columns.values else None, "rows": None})
    table.things = None if about["things"] is None else str(about["things"])
    if about["rows"] is not None:
        table.restore(catalog, read_section(folder, about["rows"])[1])


def _check(catalog: Catalog, ids: list[Id], numbers: list[int]) -> None:
    """Refuse what no gallery of ours would have saved."""
    catalog.check_new(ids, len(ids))
    if any(a >= b for a, b in pairwise([catalog.next_number - 1, *numbers])):
        raise ValueError("image numbers must be ascending")
