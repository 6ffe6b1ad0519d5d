"""Pictures in tars, as webdataset reads and img2dataset writes them: 00000.tar with key.jpg, key.json, key.cls, ...

Labels are what .cls holds, or else what the .json calls a label. A list of class names beside the tars, or above them,
gives the numbers names.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from manyclass._core.errors import FileRefusedError
from manyclass._core.reading import load_json, read_text
from manyclass.data.archives.tar_archive import TarMember, TarPictures, pictures_in_tar
from manyclass.data.readers.as_matrix import LABELS, pick_name
from manyclass.datasets.image_folders import ImageSet, split_of_name, words_of_all

_LABELS = ("cls", *LABELS)

_CLASSES = ("classnames.txt", "classes.txt", "class_names.txt", "labels.txt")

_LONGEST_NOTE = 1 << 20  # bytes of a .cls or a .json


def read_tars(source: Path, tars: Sequence[str]) -> ImageSet:
    """The pictures of tars below a folder, by their names there, in their order; no picture is read."""
    pictures: list[TarMember] = []
    names, labels, splits, notices = list[str](), list[str | None](), list[str | None](), list[str]()
    labeled = True
    for name in tars:
        try:
            found = pictures_in_tar(source / name)
        except (ValueError, OSError) as error:
            notices.append(f"{error}; it is left out")
            continue
        notices += found.notices
        labeled = labeled and (not found.pictures or _says_labels(found))
        labels += _labels(found) if labeled else [None] * len(found.pictures)
        names += [f"{name}/{key}" for key in found.pictures]
        splits += [split_of_name(name)] * len(found.pictures)
        pictures += found.pictures.values()
    if not pictures:
        reason = f"; {notices[0]}" if notices else ""
        raise ValueError(f"{source} must hold at least one image in its tars; it holds none{reason}")
    y, no_label = words_of_all(names, labels, "labels")
    split, no_split = words_of_all(names, splits, "parts")
    named, no_names = (y, []) if y is None else _with_class_names(source, y, tars)
    return ImageSet(list(pictures), names, named, split, (*notices, *no_label, *no_split, *no_names))


def _says_labels(found: TarPictures) -> bool:
    """Whether the first of what stands beside pictures names a label: files of 10,000 captions need not be read."""
    first = next((found.beside[key] for key in map(_key, found.pictures.values()) if key in found.beside), {})
    return _label(first) is not None


def _labels(found: TarPictures) -> Iterator[str | None]:
    for picture in found.pictures.values():
        yield _label(found.beside.get(_key(picture), {}))


def _key(picture: TarMember) -> str:
    from manyclass.data.archives.tar_archive import split_key

    return split_key(picture.name)[0]


def _label(beside: dict[str, TarMember]) -> str | None:
    """The label that the files beside a picture say; None where they say none."""
    try:
        if "cls" in beside:
            return _note(beside["cls"]).decode("utf-8").strip() or None
        about = load_json(_note(beside["json"]), "json") if "json" in beside else {}
    except (ValueError, OSError):  # one that is broken says nothing
        return None
    key = pick_name(_LABELS, about) if isinstance(about, dict) else None
    label = None if key is None else about[key]
    return str(label).strip() or None if isinstance(label, str | int) and not isinstance(label, bool) else None


def _note(member: TarMember) -> bytes:
    if member.size > _LONGEST_NOTE:
        raise FileRefusedError(str(member), "is too long to be a note")
    return member.read()


def _with_class_names(source: Path, y: NDArray[np.str_], tars: Sequence[str]) -> tuple[NDArray[np.str_], list[str]]:
    """The labels by the names that a list gives them, line by line, if they are numbers of its lines."""
    folders = dict.fromkeys([source, *(source / Path(name).parent for name in tars)])
    path = next((folder / name for folder in folders for name in _CLASSES if (folder / name).is_file()), None)
    if path is None:
        return y, []
    words = [line.strip() for line in read_text(path, "labels", errors="replace").rstrip("\n").split("\n")]
    numbers = {str(number): word for number, word in enumerate(words)}
    if all(label in numbers for label in set(y.tolist())):
        return np.array([numbers[label] for label in y.tolist()], np.str_), []
    return y, [f"{path} must name the class of every label, line by line; it is left out"]
