"""read_images: the pictures that users have on disk, with the labels that their folders or tables give them."""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from manyclass.datasets.image_files import PICTURES, Found, found_files
from manyclass.datasets.image_tables import annotated, listed_parts, read_table

_PARTS = {"train": "train", "training": "train", "val": "val", "valid": "val", "validation": "val", "test": "test"}

_BESIDE_STORES = (".encoder", ".encoder.json", ".skipped.jsonl")


@dataclass(frozen=True, eq=False)
class ImageSet:
    """Images by path, with labels and subsets.

    Parameters
    ----------
    paths : list of str
        Paths of the files.
    names : list of str
        Paths relative to the folder of the source.
    y : ndarray of shape (n_images,), str, default=None
        Labels; None if there are none.
    split : ndarray of shape (n_images,), str, default=None
        Subset of each image, "train", "val" or "test"; None if there are none.
    notices : tuple of str, default=()
        One sentence for everything that was found and ignored.
    """

    paths: list[str]
    names: list[str]
    y: NDArray[np.str_] | None = None
    split: NDArray[np.str_] | None = None
    notices: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.paths)


def read_images(source: str | os.PathLike[str], store: str | os.PathLike[str] | None = None) -> ImageSet:
    """List the images of a folder or a table, in the order of their names.

    No file is opened, so bad files are among them. Layouts are

    - a folder of images: no labels;
    - a folder of folders: one class each, whatever is below (Caltech-101 and 256, and photographs sorted by hand);
    - folders called train, val or test with a folder per class in each (ImageNet), which become the split; the labels
    of a
      val folder of Tiny-ImageNet are read from its val_annotations.txt;
    - a folder with train.txt and test.txt, which list its images one per line: the split too;
    - a CSV or TSV of path,label, or of columns that its first line names, with paths relative to its own folder.

    A folder that holds nothing but one folder is passed through. Files whose names start with a dot are left out, and
    so are files beside the folders of classes that do not have the extension of an image.

    Parameters
    ----------
    source : path-like
        Folder or table.
    store : path-like, default=None
        Store that is written from these images: if it lies among them, it and its sidecar files are left out.

    Returns
    -------
    ImageSet
        Paths, names, labels and subsets.

    Raises
    ------
    FileNotFoundError
        If there is no such folder or table.
    ValueError
        If it holds no images.
    """
    source = Path(source).expanduser()
    if source.is_file():
        names, y, split = read_table(source)
        return ImageSet([os.path.join(source.parent, name) for name in names], names, y, split)
    if not source.is_dir():
        raise FileNotFoundError(2, "no folder or table of images", str(source))
    found = _without_store(source, found_files(source), store)
    if not found.files:
        raise ValueError(f"{source} must hold at least one image; it holds none")
    return _sorted_out(source, found)


def _without_store(source: Path, found: Found, store: str | os.PathLike[str] | None) -> Found:
    if store is None:
        return found
    place = os.path.relpath(os.path.realpath(store), os.path.realpath(source))
    beside = {place + end for end in _BESIDE_STORES}
    files = [name for name in found.files if name not in beside and not name.startswith(place + os.sep)]
    return Found(files, found.notices)


def _sorted_out(source: Path, found: Found) -> ImageSet:
    """Labels and parts as the names tell them, and what lies beside the pictures."""
    listed, lists = listed_parts(source, found.files)
    annotations, tables = annotated(source, found.files)
    tails = _below_common({name: name for name in found.files if name not in lists | tables})
    parts = {name: listed.get(tail) or listed.get(name) for name, tail in tails.items()}
    if {_head(tail) for tail in tails.values()} <= set(_PARTS):
        parts = {name: _PARTS[_head(tail)] for name, tail in tails.items()}
        tails = _without_strays({name: _rest(tail) for name, tail in tails.items()})
    y, no_label = _column({name: annotations.get(name) or _head(tail) for name, tail in tails.items()}, "labels")
    split, no_part = _column({name: parts[name] for name in tails}, "parts")
    paths = [os.path.join(source, name) for name in tails]
    return ImageSet(paths, list(tails), y, split, (*found.notices, *no_label, *no_part))


def _column(words: dict[str, str | None], what: str) -> tuple[NDArray[np.str_] | None, list[str]]:
    """The words of all pictures, by their names; or None, and a notice if only some have one."""
    if all(words.values()):
        return np.array(list(words.values()), np.str_), []
    if not any(words.values()):
        return None, []
    bare = next(name for name, word in words.items() if not word)
    return None, [f"only some images have {what}, and {bare} has none; {what} are left out"]


def _below_common(tails: dict[str, str]) -> dict[str, str]:
    """The names below the folders that all of them share, so long as folders are left that tell them apart."""
    tails = _without_strays(tails)
    rests = {name: _rest(tail) for name, tail in tails.items()}
    if len({_head(tail) for tail in tails.values()}) == 1 and any(_head(rest) for rest in rests.values()):
        return _below_common(rests)
    return tails


def _without_strays(tails: dict[str, str]) -> dict[str, str]:
    """Without files beside folders that are not called like pictures, such as a README: they belong to no class."""
    if not any(_head(tail) for tail in tails.values()):
        return tails
    return {name: tail for name, tail in tails.items() if _head(tail) or tail.lower().endswith(PICTURES)}


def _rest(name: str) -> str:
    return name.split(os.sep, 1)[-1]


def _head(name: str) -> str:
    """The first folder of a name; nothing if it is in none.

    >>> _head("cats/old/1.jpg"), _head("1.jpg")
    ('cats', '')
    """
    return name.split(os.sep, 1)[0] if os.sep in name else ""
