"""read_images: the images below a folder, in a table or in archives, with the labels that these give them."""

import os
import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.reading import read_file
from manyclass._core.remote_files import local_path
from manyclass.data.archives.packed_file import PICTURES as PICTURES
from manyclass.data.archives.packed_file import TABLES, TARS
from manyclass.datasets.dataset import without_label
from manyclass.datasets.label_files import composed, read_labels
from manyclass.datasets.metadata_tables import PictureMetadata, read_metadata

_SPLITS = {"train": "train", "training": "train", "val": "val", "valid": "val", "validation": "val", "test": "test"}

_BESIDE_STORES = (".encoder", ".encoder.json", ".skipped.jsonl")

_LISTS = {"train.txt": "train", "val.txt": "val", "test.txt": "test"}

_ANNOTATIONS = "val_annotations.txt"  # of Tiny-ImageNet


@dataclass(frozen=True, eq=False)
class ImageSet:
    """Images by path, with labels and subsets.

    Parameters
    ----------
    paths : list of str or PackedFile
        Paths of the files; of those within a tar or a parquet file, where they lie in it, as `read_image` takes it.
    names : list of str
        Paths relative to the folder of the source.
    y : ndarray of shape (n_images,), str, default=None
        Labels; None if there are none.
    split : ndarray of shape (n_images,), str, default=None
        Subset of each image, "train", "val" or "test"; None if there are none.
    notices : tuple of str, default=()
        One sentence for everything that was found and ignored.
    """

    paths: list[Any]
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
      of a val folder of Tiny-ImageNet are read from its val_annotations.txt;
    - any of these with metadata.csv or metadata.jsonl beside the images (file_name, label), as Hugging Face has them;
    - a folder with train.txt and test.txt, which list its images one per line: the split too;
    - a CSV or TSV of path,label, or of columns that its first line names, with paths relative to its own folder;
    - a tar as webdataset reads it and img2dataset writes it (key.jpg with key.cls or key.json), or a folder of them:
      labels are those of the .cls, or of the .json;
    - a parquet file with a column of {"bytes", "path"}, as Hugging Face has them, or a folder of them: labels are
      called by the names of their classes, which the schema knows. Of tars and parquet files called train-..., val-...
      or test-..., or in folders of such names, the split is told by that.

    Images within tars and parquet files are read where they lie. A folder that holds nothing but one folder is passed
    through. Files whose names start with a dot are left out, and so are files beside the folders of classes that do not
    have the extension of an image.

    Parameters
    ----------
    source : path-like
        Folder, table, tar or parquet file.
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
    source = local_path(source)
    if source.is_file():
        archived = _read_archives(source.parent, [source.name])
        if archived is not None:
            return archived
        names, y, split = read_table(source)
        return ImageSet([os.path.join(source.parent, name) for name in names], names, y, split)
    if not source.is_dir():
        raise FileNotFoundError(2, "no folder or table of images", str(source))
    found = _without_store(source, find_files(source), store)
    if not found.files:
        raise ValueError(f"{source} must hold at least one image; it holds none")
    archived = _read_archives(source, found.files)
    return _arrange(source, found) if archived is None else archived


def _read_archives(source: Path, files: list[str]) -> ImageSet | None:
    """The images of tars or of parquet files, where there are such and no pictures beside them."""
    if any(name.lower().endswith(PICTURES) for name in files):
        return None
    tars = [name for name in files if name.lower().endswith(TARS)]
    if tars:
        from manyclass.datasets.webdataset import read_tars

        return read_tars(source, tars)
    tables = [name for name in files if name.lower().endswith(TABLES)]
    if tables:
        from manyclass.data.archives.parquet_cells import holds_pictures
        from manyclass.datasets.parquet_pictures import read_picture_tables

        if any(holds_pictures(source / name) for name in tables):
            return read_picture_tables(source, tables)
    return None


def split_of_name(name: str) -> str | None:
    """The part that the name of a file tells, or one of its folders: the first word that is one.

    >>> split_of_name("data/validation-00000-of-00001.parquet"), split_of_name("train/7.tar"), split_of_name("7.tar")
    ('val', 'train', None)
    """
    return next((_SPLITS[word] for word in re.split(r"[^a-z]+", name.lower()) if word in _SPLITS), None)


def words_of_all(
    names: Sequence[str], words: Sequence[str | None], what: str
) -> tuple[NDArray[np.str_] | None, list[str]]:
    """The words of images as an array; or None, and a notice, if only some have one."""
    bare = next((name for name, word in zip(names, words, strict=True) if word is None), None)
    if bare is None:
        return np.array(words, np.str_), []
    if all(word is None for word in words):
        return None, []
    return None, [f"only some images have {what}, and {bare} has none; {what} are left out"]


@dataclass
class FoundFiles:
    """Names of files below a folder, sorted by their bytes, and a sentence for each folder that could not be read."""

    files: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)


def find_files(folder: Path) -> FoundFiles:
    """What lies below a folder. Links are followed, but none to a folder that is read by its own name or was by another
    link: it is listed as if it were a file, and so is an empty folder that is called like a picture, so that a report
    can tell of them."""
    found = FoundFiles()
    seen: set[tuple[int, int]] = set()
    folders, links = [""], deque[str]()
    while folders or links:
        place = folders.pop() if folders else links.popleft()
        if not _is_new(os.path.join(folder, place), seen):
            found.files.append(place)
            continue
        for entry in _entries(folder, place, found):
            name = os.path.join(place, entry.name) if place else entry.name
            kind = found.files if not _is_folder(entry) else links if entry.is_symlink() else folders
            kind.append(name)
    found.files.sort(key=os.fsencode)
    return found


def _entries(folder: Path, place: str, found: FoundFiles) -> list[os.DirEntry[str]]:
    """What a folder holds, by name, so that it does not depend on the disk which of two links is followed."""
    try:
        with os.scandir(os.path.join(folder, place)) as entries:
            seen = [entry for entry in entries if not entry.name.startswith(".")]
    except OSError as error:
        found.notices.append(f"{os.path.join(folder, place)} cannot be listed: {error.strerror}; it is left out")
        return []
    if not seen and place.lower().endswith(PICTURES):
        found.files.append(place)
    return sorted(seen, key=lambda entry: os.fsencode(entry.name))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


def _is_new(path: str, seen: set[tuple[int, int]]) -> bool:
    try:
        found = os.stat(path)
    except OSError:  # it is gone, or closed to us, of which listing it tells
        return True
    key = found.st_dev, found.st_ino
    new = key not in seen
    seen.add(key)
    return new


def _without_store(source: Path, found: FoundFiles, store: str | os.PathLike[str] | None) -> FoundFiles:
    if store is None:
        return found
    place = os.path.relpath(os.path.realpath(store), os.path.realpath(source))
    beside = {place + end for end in _BESIDE_STORES}
    files = [name for name in found.files if name not in beside and not name.startswith(place + os.sep)]
    return FoundFiles(files, found.notices)


def _arrange(source: Path, found: FoundFiles) -> ImageSet:
    """Labels and parts as the names tell them, and what lies beside the pictures."""
    listed, lists = read_split_lists(source, found.files)
    annotations, tables = read_annotations(source, found.files)
    metadata = read_metadata(source, found.files)
    rest = {name: name for name in found.files if name not in lists | tables | metadata.tables}
    tails = _below_common(rest) if rest else {}
    if not tails:
        raise ValueError(f"{source} must hold at least one image; it holds tables alone")
    parts = {name: metadata.parts.get(name) or listed.get(tail) or listed.get(name) for name, tail in tails.items()}
    if {_head(tail) for tail in tails.values()} <= set(_SPLITS):
        parts = {name: _SPLITS[_head(tail)] for name, tail in tails.items()}
        tails = _without_strays({name: _rest(tail) for name, tail in tails.items()})
    if metadata.labels:
        y, no_label = _labels_of_tables(metadata, list(tails))
    else:
        y, no_label = _column({name: annotations.get(name) or _head(tail) for name, tail in tails.items()}, "labels")
    split, no_part = _column({name: parts[name] for name in tails}, "parts")
    paths = [os.path.join(source, name) for name in tails]
    y = None if y is None else composed(y)
    return ImageSet(paths, list(tails), y, split, (*found.notices, *metadata.notices, *no_label, *no_part))


def _labels_of_tables(metadata: PictureMetadata, names: list[str]) -> tuple[NDArray[np.str_] | None, list[str]]:
    """Labels as tables say; a picture that none of them names has no label, and is told of."""
    bare = [name for name in names if name not in metadata.labels]
    words = f"{len(bare):,} of the images have no row in {min(metadata.tables)}, and no label, such as "
    return np.array([metadata.label(name) for name in names], np.str_), [words + name for name in bare[:1]]


def _column(words: dict[str, str | None], what: str) -> tuple[NDArray[np.str_] | None, list[str]]:
    """The words of all pictures, by their names; or None, and a notice if only some have one."""
    return words_of_all(list(words), [word or None for word in words.values()], what)


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


def read_table(path: Path) -> tuple[list[str], NDArray[np.str_], NDArray[np.str_] | None]:
    """(paths, labels, parts) of a CSV or TSV."""
    about = read_labels(path)
    if "names" not in about:
        raise ValueError(f"{path} must have a column of paths (path,label) to be read as a table of images")
    if not len(about["names"]):
        raise ValueError(f"{path} must name at least one image; it names none")
    y = np.where(without_label(about["y"]), "", _words(about["y"]))
    return about["names"].tolist(), y, _words(about["split"]) if "split" in about else None


def read_split_lists(source: Path, files: list[str]) -> tuple[dict[str, str], set[str]]:
    """(part of each name, lists) by train.txt, val.txt and test.txt, which have one name per line.

    They stand beside the pictures or above all of them, as an archive has them that was unpacked into a folder.
    """
    parts: dict[str, str] = {}
    top = os.path.commonpath([os.path.dirname(name) for name in files])
    lists = {name for name in files if os.path.basename(name) in _LISTS and os.path.dirname(name) == top}
    for name in sorted(lists):
        part = _LISTS[os.path.basename(name)]
        lines = [line.strip() for line in _lines(source / name) if line.strip()]
        parts |= dict.fromkeys(lines, part) | {os.path.join(top, line): part for line in lines}
    return parts, lists


def read_annotations(source: Path, files: list[str]) -> tuple[dict[str, str], set[str]]:
    """(label of each name, tables) by the tables of Tiny-ImageNet: name and class, with tabs between."""
    labels: dict[str, str] = {}
    tables = {name for name in files if Path(name).name == _ANNOTATIONS}
    for name in sorted(tables):
        folder = Path(name).parent / "images"
        cells = (line.split("\t") for line in _lines(source / name) if "\t" in line)
        labels |= {str(folder / row[0]): row[1] for row in cells}
    return labels, tables


def _lines(path: Path) -> list[str]:
    return read_file(path, "labels").decode("utf-8", "surrogateescape").split("\n")


def _words(values: NDArray[Any]) -> NDArray[np.str_]:
    return values.astype(np.str_)
