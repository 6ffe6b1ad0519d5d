"""Changing a gallery that is there: rows are added, images are removed, and both become true at one instant."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manyclass._core.text import did_you_mean
from manyclass._core.typing import ProgressFactory, no_progress
from manyclass.datasets.dataset import Dataset
from manyclass.runs.encoder_comparison import row_ids
from manyclass.runs.gallery_builder import add_rows
from manyclass.runs.provenance import picture_folder
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
    warn: Callable[[str], None] | None = None,
    progress: ProgressFactory | None = None,
) -> dict[str, Any]:
    """Remove images from a gallery, and add the rows of data to it, with what it was made with.

    Parameters
    ----------
    path : path-like
        The folder of the gallery.
    data : path-like, default=None
        Features to add, whose names must be new to the gallery.
    remove : sequence of str or int, str or int, default=()
        Ids of images to remove, or one id; numbers may be given as words.
    labels : str, default=None
        A CSV or .npy file with one label per row of the data; "none" leaves out labels that are found beside it.
    pictures : path-like, default=None
        The folder of the pictures of the data; None for the one that the data was made of.
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

    path, data = Path(path).expanduser(), None if data is None else Path(data).expanduser()
    words = [str(word) for word in ([remove] if isinstance(remove, str | int) else remove)]
    gallery = Gallery.open(path)
    gallery.remove(known_ids(gallery, list(dict.fromkeys(words)), path))
    added = 0
    if data is not None:
        dataset = _read_alike(gallery, path, data, labels, warn)
        ids, added = _new_ids(gallery, path, dataset), len(dataset)
        with (progress or no_progress)("encoding", "images") as report:
            add_rows(gallery, dataset, ids, report)
    if pictures is not None:
        folder: Path | None = Path(pictures).expanduser()
    else:
        folder = None if data is None else picture_folder(data)
    if folder is not None:
        known = gallery.provenance.setdefault("pictures", [])
        known += [str(folder.resolve())] if str(folder.resolve()) not in known else []
    gallery.save()
    return {"path": str(path), "images": len(gallery), "added": added, "removed": len(set(words))}


def _read_alike(
    gallery: "Gallery", path: Path, data: Path, labels: str | None, warn: Callable[[str], None] | None
) -> Dataset:
    """The data, whose rows must be as wide as those of the gallery."""
    dataset = read_source(data, labels, warn)
    d = dataset.X.shape[1]
    if gallery.n_features_in_ not in (None, d):
        raise ValueError(f"{data} must have {gallery.n_features_in_} columns, as {path} has; got {d}")
    return dataset


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
    return [_known_id(gallery, word, path) for word in words]


def _known_id(gallery: "Gallery", word: str, path: Path) -> Any:
    numbers = gallery.ids.dtype.kind != "U"
    key: Any = int(word) if numbers and word.lstrip("-").isdecimal() else word
    if key in gallery:
        return key
    ids = [str(known) for known in gallery.ids.tolist()]
    hint = f"; its images have numbers such as {ids[0]}" if numbers and ids else did_you_mean(word, ids)
    raise ValueError(f"{path} must have the image that is asked for; it has no {word!r}{hint}")
