"""Changing a gallery that is there: rows are added, images are removed, and both become true at one instant.

Images of a gallery as users name them.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from manyclass._core.text import did_you_mean
from manyclass.cli._console import progress
from manyclass.cli._errors import complain
from manyclass.runs.gallery_builder import add_rows, ids_of
from manyclass.runs.provenance import picture_folder
from manyclass.runs.sources import read_source

if TYPE_CHECKING:
    from manyclass.datasets.dataset import Dataset
    from manyclass.retrieval.gallery import Gallery


def update_gallery(
    out: Path, data: Path | None, remove: list[str], labels: str | None, pictures: Path | None, quiet: bool
) -> dict[str, Any]:
    """Remove first, then add the rows of data if there are any; gives what there is to tell."""
    import manyclass as mc

    gallery = mc.Gallery.open(out)
    gallery.remove(wanted_ids(gallery, list(dict.fromkeys(remove)), out))
    added = 0 if data is None else _add(gallery, out, data, labels, quiet)
    folder = pictures or (None if data is None else picture_folder(data))
    if folder is not None:
        known = gallery.provenance.setdefault("pictures", [])
        known += [str(folder.resolve())] if str(folder.resolve()) not in known else []
    gallery.save()
    return {"path": str(out), "images": len(gallery), "added": added, "removed": len(set(remove))}


def _add(gallery: "Gallery", out: Path, data: Path, labels: str | None, quiet: bool) -> int:
    features = read_source(data, labels, complain)
    n, d = features.X.shape
    if gallery.n_features_in_ not in (None, d):
        raise ValueError(f"{data} must have {gallery.n_features_in_} columns, as {out} has; got {d}")
    with progress("encoding", "images", quiet) as report:
        add_rows(gallery, features, _new_ids(gallery, out, data, features), report)
    return int(n)


def _new_ids(gallery: "Gallery", out: Path, data: Path, features: "Dataset") -> list[str] | None:
    """Names that are new; None for rows that have no names."""
    named = bool(len(gallery)) and gallery.ids.dtype.kind == "U"
    if len(gallery) and named != (features.names is not None):
        has, lacks = ("names", "numbers") if named else ("numbers", "names")
        raise ValueError(f"{data} must know its rows by {has}, as {out} does; it has {lacks}")
    if features.names is None:
        return None
    ids = ids_of(features, data)
    taken = next((key for key in ids if key in gallery), None)
    if taken is not None:
        raise ValueError(f"{data} must have new images; {taken!r} is in {out} already: remove it first with --remove")
    return ids


def wanted_ids(gallery: "Gallery", words: list[str], path: Path) -> list[Any]:
    """The ids that words stand for; each must be in the gallery."""
    return [_wanted(gallery, word, path) for word in words]


def _wanted(gallery: "Gallery", word: str, path: Path) -> Any:
    numbers = gallery.ids.dtype.kind != "U"
    key: Any = int(word) if numbers and word.lstrip("-").isdecimal() else word
    if key in gallery:
        return key
    ids = [str(known) for known in gallery.ids.tolist()]
    hint = f"; its images have numbers such as {ids[0]}" if numbers and ids else did_you_mean(word, ids)
    raise ValueError(f"{path} must have the image that is asked for; it has no {word!r}{hint}")
