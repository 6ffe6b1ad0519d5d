"""Pictures that users name by paths, as rows of the encoder of a run: some at a time, bad ones told of."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from manyclass.data.archives.packed_file import TABLES, TARS
from manyclass.data.dense import DenseMatrix
from manyclass.datasets.dataset import Dataset
from manyclass.datasets.image_folders import PICTURES, find_files, read_images

_PICTURES_AT_ONCE = 1024


def pictures_among(inputs: Sequence[Path]) -> dict[Path, list[Any]]:
    """For every input that is a picture, or a folder or archive of them, the paths of the pictures."""
    found: dict[Path, list[Any]] = {}
    for path in inputs:
        if not path.exists():
            raise FileNotFoundError(f"no file or folder at {path}")
        if path.suffix.lower() in PICTURES and path.is_file():
            found[path] = [str(path)]
        elif holds_archives(path):
            found[path] = read_images(path).paths
        elif path.is_dir() and not _holds_features(path):
            found[path] = _pictures_below(path)
    return found


def holds_archives(path: Path) -> bool:
    """Whether pictures are within a file, or within files of a folder: in tars, or in columns of parquet."""
    from manyclass.data.archives.parquet_cells import holds_pictures

    if path.is_dir():
        return any(holds_archives(one) for one in path.iterdir() if one.is_file() and not one.name.startswith("."))
    name = path.name.lower()
    return name.endswith(TARS) or (name.endswith(TABLES) and holds_pictures(path))


def _holds_features(folder: Path) -> bool:
    from manyclass.data.readers.as_matrix import layout_of

    try:
        return bool(layout_of(folder))
    except ValueError:
        return False


def _pictures_below(folder: Path) -> list[str]:
    names = [name for name in find_files(folder).files if name.lower().endswith(PICTURES)]
    if not names:
        raise ValueError(f"{folder} must hold features or pictures; it holds none")
    return [os.path.join(folder, name) for name in names]


def picture_blocks(paths: Sequence[Any], encoder: Any, bad: Callable[[str, str], None]) -> Iterator[Dataset]:
    """The rows of pictures, some at a time; `bad` is told of those that cannot be read, and why."""
    from manyclass.features.extraction.encoding import Encoding

    for start in range(0, len(paths), _PICTURES_AT_ONCE):
        some = paths[start : start + _PICTURES_AT_ONCE]
        encoding = Encoding(some, encoder, getattr(encoder, "max_pixels", 100_000))
        outcomes = [outcome for chunk in encoding.encode_chunks(encoding.chunks()) for outcome in chunk]
        for outcome in outcomes:
            if outcome.row is None:
                bad(str(some[outcome.position]), str(outcome.reason))
        rows = {str(some[outcome.position]): outcome.row for outcome in outcomes if outcome.row is not None}
        if rows:
            yield Dataset(DenseMatrix(np.stack(list(rows.values()))), names=list(rows))
