"""What lies in or beside files of features and says something of their rows: members, columns, files, shards.

clip-retrieval, for one, writes

    img_emb/img_emb_N.npy              features, (n_N, d)
    metadata/metadata_N.parquet        n_N rows: image_path, key or url, and whatever came with the images

where files of two series belong together by the numbers in their names.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.reading import map_npy
from manyclass.data.readers import as_matrix
from manyclass.data.readers.as_matrix import visible_files
from manyclass.data.readers.npy import by_number, npy_shards, numbers, words
from manyclass.data.readers.npz import npz_names, read_member
from manyclass.data.readers.parquet import (
    column_names,
    count_rows,
    is_text_column,
    parquet_shards,
    plain_column_names,
    read_column,
    read_texts,
    read_words,
)
from manyclass.data.store.store import Names
from manyclass.datasets.label_files import (
    About,
    LabelSource,
    as_labels,
    composed,
    join_labels,
    normalize_types,
    read_column_as,
    read_labels,
    read_values,
)

_STEMS = {"y": "labels", "names": "names", "classes": "classes", "split": "split"}

_TABLES = (".csv", ".tsv")

_SUFFIXES = (".npy", *_TABLES, ".txt")


def sidecars_of_file(path: Path) -> list[LabelSource]:
    """Labels and such for x.npy: x_labels.npy, x_labels.csv, ... or labels.npy, labels.csv, ... in its folder.

    The folder may hold features of many kinds, so that what has not their name is not surely meant for them.
    """
    return _files(path.parent, f"{path.stem}_", certain=True) + _files(path.parent, "", certain=False)


def sidecars_of_folder(folder: Path) -> list[LabelSource]:
    """Labels and such for a folder in its parent: sub_labels.npy, ... or labels.npy, ..., all meant for it."""
    return _files(folder.parent, f"{folder.name}_", certain=True) + _files(folder.parent, "", certain=True)


def sidecars_of_shards(folder: Path) -> list[LabelSource]:
    """Labels and such in a folder of shards: in one file, or in shards of their own (labels_0.npy, ...)."""
    return _files(folder, "", certain=True) + [_shards(folder, key) for key in _STEMS if key != "classes"]


def _files(folder: Path, prefix: str, certain: bool) -> list[LabelSource]:
    paths = [(key, folder / (prefix + stem + suffix)) for key, stem in _STEMS.items() for suffix in _SUFFIXES]
    return [_file(key, path, certain) for key, path in paths if path.is_file()]


def _file(key: str, path: Path, certain: bool) -> LabelSource:
    if key != "y":
        return LabelSource((key,), path, lambda: normalize_types({key: read_values(path)}), certain)
    # A table of labels may know names and split too.
    gives = ("y", "names", "split") if path.suffix in _TABLES else ("y",)
    return LabelSource(gives, path, lambda: read_labels(path), certain)


def _shards(folder: Path, key: str) -> LabelSource:
    shards = by_number([path for path in visible_files(folder, ".npy") if _is_shard(path, _STEMS[key])])
    return LabelSource(
        (key,), folder, lambda: normalize_types({key: _join_shards(npy_shards(folder), shards)}) if shards else {}
    )


def _is_shard(path: Path, stem: str) -> bool:
    aliases = {stem, "y", "label", "targets", "target"} if stem == "labels" else {stem}
    return bool(re.search(r"\d", path.stem)) and bool(aliases & set(words(path)))


def _join_shards(features: Sequence[Path], shards: Sequence[Path]) -> NDArray[Any]:
    mine = match_shards(features, shards)
    return join_labels([_shard(*pair) for pair in zip(mine, features, strict=True)], mine)


def _shard(path: Path, features: Path) -> NDArray[Any]:
    values, n = as_labels(map_npy(path, "labels"), path), len(map_npy(features))
    if len(values) != n:
        raise ValueError(f"{path} must have {n} entries, one per row of {features.name}; got {len(values)}")
    return values


_WORDS = {"y": as_matrix.LABELS, "names": as_matrix.NAMES, "classes": as_matrix.CLASSES, "split": as_matrix.SPLIT}


def labels_in_npz(path: Path) -> list[LabelSource]:
    """The members of an .npz file that say something of its rows."""
    members = npz_names(path)
    named = {key: as_matrix.pick_name(words, members) for key, words in _WORDS.items()}
    return [_member(path, key, name) for key, name in named.items() if name]


def labels_in_parquet(source: Path, paths: Callable[[], Sequence[Path]]) -> list[LabelSource]:
    """The columns of parquet files that say something of their rows; the first file says which there are."""

    def finding(key: str) -> LabelSource:
        return LabelSource((key,), source, lambda: _read_columns(paths(), key))

    return [finding(key) for key in _WORDS if key != "classes"]


def _member(path: Path, key: str, name: str) -> LabelSource:
    source = f"{path} member {name!r}"
    return LabelSource((key,), source, partial(read_column_as, key, partial(read_member, path, name), source))


def _read_columns(paths: Sequence[Path], key: str) -> About:
    # A column that can hold such a thing goes before one that has the likelier name but cannot.
    known = (as_matrix.pick_name(_WORDS[key], names(paths[0])) for names in (plain_column_names, column_names))
    name = next(filter(None, known), None)
    if name is None:
        return {}
    # As an array of strings, a column of some million words would take more memory than all else.
    if key in ("y", "names") and all(is_text_column(path, name) for path in paths):
        return _read_classes(paths, name) if key == "y" else {"names": _read_names(paths, name)}
    return normalize_types({key: join_labels([read_column(path, name) for path in paths], paths)})


def _read_classes(paths: Sequence[Path], name: str) -> About:
    """Labels that are words, as the numbers of classes, which are in order and in one spelling each."""
    read = [read_words(path, name) for path in paths]
    spelled = [composed(np.array(words, np.str_)).tolist() for _, words in read]
    classes = sorted(set().union(*spelled))
    if all(map(str.isdecimal, classes)):  # a model of numbers must not take positions for them
        words = [np.array(own, np.str_)[codes] for own, (codes, _) in zip(spelled, read, strict=True)]
        return {"y": np.concatenate(words)}
    position = {word: number for number, word in enumerate(classes)}
    numbers = [np.array([position[word] for word in words], np.int64) for words in spelled]
    y = np.concatenate([own[codes] for own, (codes, _) in zip(numbers, read, strict=True)])
    return {"y": y, "classes": np.array(classes, np.str_)}


def _read_names(paths: Sequence[Path], name: str) -> Names:
    if len(paths) == 1:
        return Names(*read_texts(paths[0], name))
    blobs, begins = zip(*(read_texts(path, name) for path in paths), strict=True)
    firsts = np.cumsum([0, *(len(blob) for blob in blobs)])
    shifted = [own[:-1] + first for own, first in zip(begins, firsts[:-1], strict=True)]
    return Names(np.concatenate(blobs), np.concatenate([*shifted, firsts[-1:]]))


def labels_in_clip_retrieval(folder: Path) -> list[LabelSource]:
    """What files beside img_emb say of every row, and then what the metadata say."""
    metadata = folder / "metadata"
    known = parquet_shards(metadata) if metadata.is_dir() else []
    inside = (
        labels_in_parquet(metadata, lambda: _match_metadata(npy_shards(folder / "img_emb"), known)) if known else []
    )
    return sidecars_of_folder(folder / "img_emb") + inside


def _match_metadata(features: Sequence[Path], known: Sequence[Path]) -> list[Path]:
    paths = match_shards(features, known)
    for path, rows in zip(paths, features, strict=True):
        n, m = len(map_npy(rows)), count_rows(path)
        if n != m:
            raise ValueError(f"{path} must have {n} rows, as {rows.name} has; got {m}")
    return paths


Numbers = tuple[int, ...]


def match_shards(features: Sequence[Path], others: Sequence[Path]) -> list[Path]:
    """For every file of features the one of `others` that has its numbers.

    Numbers that all files of one series share may be missing in the other: vit16_emb_3.npy goes with labels_3.npy.

    >>> [path.name for path in match_shards([Path("emb_0"), Path("emb_3")], [Path(f"labels_{i}") for i in range(4)])]
    ['labels_0', 'labels_3']
    """
    lonely: list[list[Path]] = []
    for mine, theirs in ((_all, _all), (_distinguishing, _all), (_all, _distinguishing)):
        known = _by_numbers(others, theirs(others))
        pairs = [(path, known.get(each)) for path, each in zip(features, mine(features), strict=True)]
        lonely.append([path for path, partner in pairs if partner is None])
        if not lonely[-1]:
            return [partner for _, partner in pairs if partner]
    folder, like, path = others[0].parent, others[0].name, min(lonely, key=len)[0]
    raise ValueError(f"{folder} must have a file like {like} for {path.name}; got none with its number")


def _all(paths: Sequence[Path]) -> list[Numbers]:
    return [numbers(path) for path in paths]


def _distinguishing(paths: Sequence[Path]) -> list[Numbers]:
    """The numbers that tell the files of a series apart; all of them where there is only one file."""
    every = _all(paths)
    if len(every) < 2 or len({len(each) for each in every}) > 1:
        return every
    varies = [len(set(column)) > 1 for column in zip(*every, strict=True)]
    return [tuple(number for number, keep in zip(each, varies, strict=True) if keep) for each in every]


def _by_numbers(paths: Sequence[Path], keys: Sequence[Numbers]) -> dict[Numbers, Path]:
    known: dict[Numbers, Path] = {}
    for path, key in zip(paths, keys, strict=True):
        if known.setdefault(key, path) != path:
            raise ValueError(f"{path.parent} must have one file per number; got {known[key].name} and {path.name}")
    return known
