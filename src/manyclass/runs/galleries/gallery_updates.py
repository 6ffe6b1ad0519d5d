"""Changing a gallery that is there: rows are added, images are removed, and both become true at one instant."""

import json
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from manyclass._core.digest import sha256_digest
from manyclass._core.errors import StorageError
from manyclass._core.files import expand_home
from manyclass._core.models import load
from manyclass._core.text import did_you_mean
from manyclass._core.typing import Notify, ProgressFactory, no_progress
from manyclass.data.matrix import spans
from manyclass.datasets.dataset import Dataset
from manyclass.runs.galleries.encoder_comparison import row_ids
from manyclass.runs.galleries.gallery_builder import ROWS_AT_ONCE, add_rows, index_summary, metadata_of
from manyclass.runs.provenance import encoder_digest, encoder_file, picture_folder, unchanged
from manyclass.runs.sources import read_source

if TYPE_CHECKING:
    from manyclass.retrieval.gallery import Gallery


def update_gallery(
    path: str | os.PathLike[str],
    data: str | os.PathLike[str] | None = None,
    *,
    remove: Sequence[str | int] | str | int = (),
    labels: str | None = None,
    pictures: str | os.PathLike[str] | None = None,
    index: str | None = None,
    warn: Notify | None = None,
    progress: ProgressFactory | None = None,
) -> dict[str, Any]:
    """Remove images from a gallery, and add the rows of data to it, with what it was made with; or change its index.

    Parameters
    ----------
    path : path-like
        The folder of the gallery.
    data : path-like, default=None
        Features to add, whose names must be new to the gallery, and which must come from its image encoder, where both
        are known. What was added before is not added again.
    remove : sequence of str or int, str or int, default=()
        Ids of images to remove, or one id; numbers may be given as words. That the same ids were the last to be removed
        is a warning, so that a command can be given again.
    labels : str, default=None
        A CSV or .npy file with one label per row of the data; "none" leaves out labels that are found beside it.
    pictures : path-like, default=None
        The folder of the pictures of the data; None for the one that the data was made of.
    index : str, default=None
        Index that the gallery has from now on, as `Gallery` takes it; "exact" for none. None leaves what is there.
    warn : callable, default=None
        Called with a sentence about whatever the reader leaves out; None for warnings of Python.
    progress : callable, default=None
        Called as ``with progress("encoding", "images") as report:``, and then ``report(done, total)``.

    Returns
    -------
    dict
        How many images there are, and how many were added and removed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import manyclass as mc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(Path(folder, "x.npy"), np.random.default_rng(0).standard_normal((200, 8), dtype=np.float32))
    ...     built = mc.runs.build_gallery(Path(folder, "x.npy"), Path(folder, "gallery"), method="none")
    ...     result = mc.runs.update_gallery(Path(folder, "gallery"), remove=["7", "8"])
    >>> built["images"], result["images"]
    (200, 198)
    """
    from manyclass.retrieval.gallery import Gallery
    from manyclass.retrieval.storage.save import tidy_gallery

    path, data = expand_home(path), None if data is None else expand_home(data)
    words = [str(word) for word in ([remove] if isinstance(remove, str | int) else remove)]
    gallery, removed = Gallery.open(path), list(dict.fromkeys(words))
    tidy_gallery(path)
    folder = expand_home(pictures) if pictures is not None else None if data is None else picture_folder(data)
    if data is not None:
        _check_recorded(gallery, path, "added", _is_addition)
    if folder is not None:
        _check_recorded(gallery, path, "pictures", lambda entry: isinstance(entry, str))
    dataset = None if data is None else _read_alike(gallery, path, data, labels, warn)
    digest = "" if dataset is None else _digest(dataset)
    if index is not None:
        gallery.set_index(index)
    if dataset is not None and _added_before(gallery, path, dataset, digest, removed):
        (warn or warnings.warn)(f"{data} was added to {path} already, and is not added again")
        gallery.save()  # which writes nothing but another index
        return _changed(path, gallery, 0, 0)
    if dataset is None and _removed_before(gallery, removed):
        (warn or warnings.warn)(f"what is to be removed was removed from {path} already")
        gallery.save()
        return _changed(path, gallery, 0, 0)
    gallery.remove(known_ids(gallery, removed, path))
    gallery.provenance.update({"removed": _digest_of_words(removed)} if removed else {})
    if dataset is not None:
        ids, first = _new_ids(gallery, path, dataset), gallery.state().catalog.next_number
        with (progress or no_progress)("encoding", "images") as report:
            add_rows(gallery, dataset, ids, report)
        added = {"source": str(data), "sha256": digest, "first": first, "rows": len(dataset), "removed": removed}
        gallery.provenance.setdefault("added", []).append(added)
    if folder is not None:
        known = gallery.provenance.setdefault("pictures", [])
        known += [str(folder.resolve())] if str(folder.resolve()) not in known else []
    gallery.save()
    return _changed(path, gallery, 0 if dataset is None else len(dataset), len(removed))


def _changed(path: Path, gallery: "Gallery", added: int, removed: int) -> dict[str, Any]:
    counts = {"images": len(gallery), "added": added, "removed": removed}
    return {"path": str(path), **counts, "index": index_summary(gallery)}


def _check_recorded(gallery: "Gallery", path: Path, key: str, is_entry: Callable[[Any], bool]) -> None:
    """Refuse a list of the manifest, of what was added or of folders of pictures, that no command of ours wrote."""
    entries = gallery.provenance.get(key, [])
    if not isinstance(entries, list) or not all(map(is_entry, entries)):
        rule = f"{path} must have in its provenance, as '{key}', what manyclass encode writes"
        raise StorageError(f"{rule}; it has {json.dumps(entries)[:60]}; restore its manifest, or build it again")


def _is_addition(entry: Any) -> bool:
    kinds = {"sha256": str, "first": int, "rows": int, "removed": list}
    return isinstance(entry, dict) and all(type(entry.get(key)) is kind for key, kind in kinds.items())


def _read_alike(gallery: "Gallery", path: Path, data: Path, labels: str | None, warn: Notify | None) -> Dataset:
    """The data, whose rows must be as wide as those of the gallery, and by the same encoder where both are known."""
    with unchanged(data):
        dataset, file = read_source(data, labels, warn), encoder_file(data)
        encoder = None if file is None or file.suffix.lower() == ".onnx" else load(file)
    d = dataset.X.shape[1]
    if gallery.n_features_in_ not in (None, d):
        raise ValueError(f"{data} must have {gallery.n_features_in_} columns, as {path} has; got {d}")
    if encoder is None or gallery.features is None or encoder_digest(encoder) == encoder_digest(gallery.features):
        return dataset
    saved: Any = gallery.state().saved  # not None, as it was opened
    kept = path / saved.content["models"]["features"]["name"]
    way_out = f"make it again by manyclass features, with `kind='{kept}'`"
    raise ValueError(f"{data} must come from the encoder of {path}; it comes from another; {way_out}")


def _digest(dataset: Dataset) -> str:
    """A digest of everything that is added: rows, names, classes and splits."""

    def pieces() -> Iterator[Any]:
        about = {"shape": dataset.X.shape, "names": None if dataset.names is None else [*map(str, dataset.names)]}
        yield json.dumps({**about, **metadata_of(dataset)})
        for at in spans(len(dataset), ROWS_AT_ONCE):
            yield dataset.X.rows(at)

    return sha256_digest(pieces())


def _added_before(gallery: "Gallery", path: Path, dataset: Dataset, digest: str, removed: list[str]) -> bool:
    """Whether this very change was made before, and images of it are still there.

    A command that was killed after its commit, or is given twice, must not add rows that are known by numbers twice.
    """
    catalog = gallery.state().catalog
    numbers = np.asarray(catalog.numbers)[catalog.live()]
    for added in gallery.provenance.get("added", []):
        first, stop = added["first"], added["first"] + added["rows"]
        if added["sha256"] == digest and ((numbers >= first) & (numbers < stop)).any():
            if removed and removed != added["removed"]:
                raise ValueError(f"{dataset.path} was added to {path} already; leave it out to remove images alone")
            return True
    return False


def _removed_before(gallery: "Gallery", words: list[str]) -> bool:
    """Whether these very images were the last to be removed, as by a command that was killed after its commit."""
    asked = bool(words) and gallery.provenance.get("removed") == _digest_of_words(words)
    return asked and not any(key in gallery for key in _keys(gallery, words))


def _digest_of_words(words: list[str]) -> str:
    return sha256_digest([json.dumps(sorted(words))])


def _new_ids(gallery: "Gallery", path: Path, dataset: Dataset) -> list[str] | None:
    """Names that are new; None for rows that have no names."""
    named = bool(len(gallery)) and gallery.ids.dtype.kind == "U"
    if len(gallery) and named != (dataset.names is not None):
        has, lacks = ("names", "numbers") if named else ("numbers", "names")
        raise ValueError(f"{dataset.path} must know its rows by {has}, as {path} does; it has {lacks}")
    if dataset.names is None:
        return None
    ids = row_ids(dataset)
    taken = next((key for key in ids if key in gallery), None)
    if taken is not None:
        raise ValueError(
            f"{dataset.path} must have new images; {taken!r} is in {path} already: remove it first with `remove`"
        )
    return ids


def known_ids(gallery: "Gallery", words: list[str], path: Path) -> list[Any]:
    """The ids that words stand for; each must be in the gallery."""
    keys = _keys(gallery, words)
    missing = next((word for key, word in zip(keys, words, strict=True) if key not in gallery), None)
    if missing is None:
        return keys
    ids = [str(known) for known in gallery.ids.tolist()]
    numbers = gallery.ids.dtype.kind != "U"
    hint = f"; its images have numbers such as {ids[0]}" if numbers and ids else did_you_mean(missing, ids)
    raise ValueError(f"{path} must have the image that is asked for; it has no {missing!r}{hint}")


def _keys(gallery: "Gallery", words: list[str]) -> list[Any]:
    """The ids that words stand for, whether they are there or not."""
    numbers = gallery.ids.dtype.kind != "U"
    return [int(word) if numbers and word.lstrip("-").isdecimal() else word for word in words]
