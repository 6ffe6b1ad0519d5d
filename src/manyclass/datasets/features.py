"""read_features: features with their labels and names, from what users have on disk."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyclass import _checks
from manyclass.data.layouts import Layout, layout_of
from manyclass.data.matrix import Matrix
from manyclass.data.opening import as_matrix
from manyclass.data.parquet import parquet_shards
from manyclass.datasets.beside import beside_file, beside_shards
from manyclass.datasets.clip_retrieval import in_clip_retrieval
from manyclass.datasets.columns import in_npz, in_parquet
from manyclass.datasets.labels import About, as_labels, read_labels


@dataclass(frozen=True, eq=False)
class Features:
    """Rows, and what is known of them; None where nothing is.

    y holds integers or strings. Where classes is known and y holds integers, classes[y] are their names.
    """

    X: Matrix
    y: NDArray[Any] | None = None
    names: Sequence[str] | NDArray[np.str_] | None = None
    classes: Sequence[str] | NDArray[np.str_] | None = None
    split: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        for values, what in ((self.y, "labels"), (self.names, "names"), (self.split, "split")):
            if values is not None:
                _checks.same_length(values, self.X, what, "X")
        if self.y is not None and self.classes is not None and self.y.dtype.kind in "iu":
            wrong = np.flatnonzero((self.y < 0) | (self.y >= len(self.classes)))
            if len(wrong):
                row, k = int(wrong[0]), len(self.classes)
                raise ValueError(f"labels must be integers in [0, {k}); got {self.y[row]} at row {row}")


def read_features(path: str | os.PathLike[str], labels: str | os.PathLike[str] | ArrayLike | None = None) -> Features:
    """The features at a path, as `as_matrix` opens them, with the labels and names that lie in it or beside it.

    - .npz: members called labels, names, classes, split (or alike);
    - .npy: x_labels.npy, x_labels.csv, labels.npy, labels.csv, labels.txt beside it, and so for names, classes, split;
    - a folder of .npy shards: the same, or shards of labels (labels_0.npy, ...);
    - parquet: columns called label, name, path, split, ... ;
    - clip-retrieval: the columns of metadata/metadata_N.parquet, with names from image_path, key or url;
    - a store: what was written with it.

    `labels`, a file (.npy, .csv, .txt, ...) or a sequence, goes before what is found.
    """
    path = Path(path).expanduser()
    about = _FINDERS[layout_of(path)](path)
    if labels is not None:
        about = about | _given(labels)
    X = as_matrix(path)
    try:
        return Features(X, **about)
    except ValueError as error:
        raise ValueError(f"{path} does not fit what is said of its rows: {error}") from error


def _given(labels: str | os.PathLike[str] | ArrayLike) -> About:
    if isinstance(labels, str | os.PathLike):
        return read_labels(Path(labels).expanduser())
    return {"y": as_labels(labels, "labels")}


def _in_store(path: Path) -> About:
    from manyclass.data.store import open_store

    store = open_store(path)
    known = {key: getattr(store, key) for key in ("y", "names", "classes", "split")}
    return {key: values for key, values in known.items() if values is not None}


_FINDERS: dict[Layout, Callable[[Path], About]] = {
    "npy": beside_file,
    "npz": in_npz,
    "parquet": lambda path: in_parquet([path]),
    "store": _in_store,
    "clip_retrieval": in_clip_retrieval,
    "npy_shards": beside_shards,
    "parquet_shards": lambda path: in_parquet(parquet_shards(path)),
}
