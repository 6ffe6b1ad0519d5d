"""What lies beside files of features and says something of their rows."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.data.layouts import visible_files
from manyclass.data.npy import by_number, map_npy, npy_shards, words
from manyclass.datasets.labels import About, as_labels, read_labels, read_values, texts

_STEMS = {"y": "labels", "names": "names", "classes": "classes", "split": "split"}


def beside_file(path: Path) -> About:
    """Labels and such for x.npy: x_labels.npy, x_labels.csv, ... or labels.npy, labels.csv, ... in its folder."""
    return _files(path.parent, (f"{path.stem}_", ""))


def beside_shards(folder: Path) -> About:
    """Labels and such in a folder of shards: in shards of their own (labels_0.npy, ...), or in one file."""
    about = _files(folder, ("",))
    features = npy_shards(folder)
    for key, stem in _STEMS.items():
        shards = by_number([path for path in visible_files(folder, ".npy") if _is_shard(path, stem)])
        if key not in about and key != "classes" and shards:
            about[key] = _joined(shards, features)
    return texts(about)


def _files(folder: Path, prefixes: Sequence[str]) -> About:
    about: About = {}
    for key, stem in _STEMS.items():
        path = _first(folder, [prefix + stem for prefix in prefixes], (".npy", ".csv", ".tsv", ".txt"))
        if path is not None:
            # A table of labels may know names and split too; files of their own, which come later, replace those.
            about |= read_labels(path) if key == "y" else {key: read_values(path)}
    return texts(about)


def _first(folder: Path, stems: Sequence[str], suffixes: Sequence[str]) -> Path | None:
    paths = (folder / (stem + suffix) for stem in stems for suffix in suffixes)
    return next((path for path in paths if path.is_file()), None)


def _is_shard(path: Path, stem: str) -> bool:
    aliases = {stem, "y", "label", "targets", "target"} if stem == "labels" else {stem}
    return bool(re.search(r"\d", path.stem)) and bool(aliases & set(words(path)))


def _joined(shards: Sequence[Path], features: Sequence[Path]) -> NDArray[Any]:
    if len(shards) != len(features):
        raise ValueError(
            f"{shards[0].parent} must have as many files like {shards[0].name} as of features, {len(features)};"
            f" got {len(shards)}"
        )
    return np.concatenate([_shard(*pair) for pair in zip(shards, features, strict=True)])


def _shard(path: Path, features: Path) -> NDArray[Any]:
    values, n = as_labels(map_npy(path), path), len(map_npy(features))
    if len(values) != n:
        raise ValueError(f"{path} must have {n} entries, one per row of {features.name}; got {len(values)}")
    return values
