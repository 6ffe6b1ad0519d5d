"""What a command works on, as users name it.

A folder of pictures where features are needed.

What is given where pictures are needed, and is something else that a command made.
"""

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from manyclass.cli._errors import complain

if TYPE_CHECKING:
    from manyclass.datasets import Features


def read_source(source: Path, labels: str | None = None) -> "Features":
    """The features at a path, with labels from a file, or without any if that is called "none".

    Whatever the reader leaves out is told in a line each.
    """
    from manyclass.datasets import read_features

    check_not_pictures(source)
    if (source / "run.json").is_file():
        raise ValueError(f"{source} must hold features, and it holds a run; give the data that it is to be used on")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the notices say the same
        features = read_features(source, labels=False if labels == "none" else labels)
    for notice in features.notices:
        complain(notice)
    return features


def check_not_pictures(data: Path) -> None:
    """Say how pictures become features, if that is what a folder holds."""
    from manyclass.data.readers.as_matrix import layout_of
    from manyclass.datasets.image_folders import PICTURES

    if not data.is_dir():
        return
    try:
        layout_of(data)
    except ValueError:
        if any(name.lower().endswith(PICTURES) for _, _, names in os.walk(data) for name in names):
            way_out = f"make features of them first: manyclass features {data} -o {data.name}.store"
            raise ValueError(f"{data} must hold features, and it holds pictures; {way_out}") from None


def check_is_pictures(source: Path) -> None:
    """Say what a store, a gallery, a run, a model or a file of features is, and which command takes it."""
    what = _in_folder(source) if source.is_dir() else _in_file(source)
    if what is not None:
        raise ValueError(f"{source} must hold pictures, and it {what}")


def _in_folder(folder: Path) -> str | None:
    """By what the files say themselves: others have a manifest.json too, and pictures beside it."""
    from manyclass.data.store.format import MANIFEST
    from manyclass.data.store.manifest import FORMAT
    from manyclass.retrieval.storage.segments import is_gallery
    from manyclass.runs.records import RUN, kind_of

    if is_gallery(folder):
        return f"is a gallery; search it: manyclass search {folder} picture.jpg"
    if (folder / MANIFEST).is_file() and FORMAT.encode() in (folder / MANIFEST).read_bytes():
        return f"is a store of features already; learn from it: manyclass train {folder} -o run"
    if (folder / "run.json").is_file() and kind_of(folder / "run.json") == RUN:
        return f"is a run of manyclass train; use it: manyclass predict {folder} picture.jpg"
    return None


def _in_file(file: Path) -> str | None:
    from manyclass.data.readers.as_matrix import layout_of
    from manyclass.runs.load_model import is_model

    if is_model(file):
        return f"is a model; see what it is for: manyclass info {file}"
    try:
        layout_of(file)
    except (ValueError, FileNotFoundError):
        return None
    return f"is a file of features already; learn from it: manyclass train {file} -o run"
