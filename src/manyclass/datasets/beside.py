"""What lies beside files of features and says something of their rows."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from manyclass.data.layouts import visible_files
from manyclass.data.npy import by_number, map_npy, npy_shards, words
from manyclass.datasets.finding import Finding
from manyclass.datasets.labels import as_labels, joined, read_labels, read_values, tidy
from manyclass.datasets.partners import partners

_STEMS = {"y": "labels", "names": "names", "classes": "classes", "split": "split"}
_TABLES = (".csv", ".tsv")
_SUFFIXES = (".npy", *_TABLES, ".txt")


def beside_file(path: Path) -> list[Finding]:
    """Labels and such for x.npy: x_labels.npy, x_labels.csv, ... or labels.npy, labels.csv, ... in its folder.

    The folder may hold features of many kinds, so that what has not their name is not surely meant for them.
    """
    return _files(path.parent, f"{path.stem}_", meant=True) + _files(path.parent, "", meant=False)


def beside_folder(folder: Path) -> list[Finding]:
    """Labels and such for a folder in its parent: sub_labels.npy, ... or labels.npy, ..., all meant for it."""
    return _files(folder.parent, f"{folder.name}_", meant=True) + _files(folder.parent, "", meant=True)


def beside_shards(folder: Path) -> list[Finding]:
    """Labels and such in a folder of shards: in one file, or in shards of their own (labels_0.npy, ...)."""
    return _files(folder, "", meant=True) + [_shards(folder, key) for key in _STEMS if key != "classes"]


def _files(folder: Path, prefix: str, meant: bool) -> list[Finding]:
    paths = [(key, folder / (prefix + stem + suffix)) for key, stem in _STEMS.items() for suffix in _SUFFIXES]
    return [_file(key, path, meant) for key, path in paths if path.is_file()]


def _file(key: str, path: Path, meant: bool) -> Finding:
    if key != "y":
        return Finding((key,), path, lambda: tidy({key: read_values(path)}), meant)
    # A table of labels may know names and split too.
    gives = ("y", "names", "split") if path.suffix in _TABLES else ("y",)
    return Finding(gives, path, lambda: read_labels(path), meant)


def _shards(folder: Path, key: str) -> Finding:
    shards = by_number([path for path in visible_files(folder, ".npy") if _is_shard(path, _STEMS[key])])
    return Finding((key,), folder, lambda: tidy({key: _joined(npy_shards(folder), shards)}) if shards else {})


def _is_shard(path: Path, stem: str) -> bool:
    aliases = {stem, "y", "label", "targets", "target"} if stem == "labels" else {stem}
    return bool(re.search(r"\d", path.stem)) and bool(aliases & set(words(path)))


def _joined(features: Sequence[Path], shards: Sequence[Path]) -> NDArray[Any]:
    mine = partners(features, shards)
    return joined([_shard(*pair) for pair in zip(mine, features, strict=True)], mine)


def _shard(path: Path, features: Path) -> NDArray[Any]:
    values, n = as_labels(map_npy(path), path), len(map_npy(features))
    if len(values) != n:
        raise ValueError(f"{path} must have {n} entries, one per row of {features.name}; got {len(values)}")
    return values
