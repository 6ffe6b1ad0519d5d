"""read_features: features with their labels and names, from what users have on disk."""

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyclass._core.checks import check_same_length
from manyclass.data.matrix import Matrix
from manyclass.data.readers.as_matrix import Layout, as_matrix, layout_of
from manyclass.data.readers.parquet import parquet_shards
from manyclass.datasets.label_files import as_labels, normalize_types, read_labels
from manyclass.datasets.label_files import LabelSource, class_mismatch, collect_labels
from manyclass.datasets.sidecars import (
    labels_in_clip_retrieval,
    labels_in_npz,
    labels_in_parquet,
    sidecars_of_file,
    sidecars_of_shards,
)


@dataclass(frozen=True, eq=False)
class Features:
    """Features with labels and names; None where there are none.

    Parameters
    ----------
    X : Matrix of shape (n_examples, n_features)
        Features.
    y : ndarray of shape (n_examples,), default=None
        Labels, integers or strings.
    names : sequence of str of length n_examples, default=None
        Names of the examples.
    classes : sequence of str, default=None
        Names of the classes: classes[y] if labels are integers.
    split : ndarray of shape (n_examples,), default=None
        Subset of each example, such as "train" or "test".
    notices : tuple of str, default=()
        One sentence for everything that was found with the features and left out.
    """

    X: Matrix
    y: NDArray[Any] | None = None
    names: Sequence[str] | NDArray[np.str_] | None = None
    classes: Sequence[str] | NDArray[np.str_] | None = None
    split: NDArray[Any] | None = None
    notices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for values, what in ((self.y, "labels"), (self.names, "names"), (self.split, "split")):
            if values is not None:
                check_same_length(values, self.X, what, "X")
        if self.y is not None and self.classes is not None and (problem := class_mismatch(self.y, self.classes)):
            raise ValueError(problem)


def read_features(
    path: str | os.PathLike[str], labels: str | os.PathLike[str] | ArrayLike | bool | None = None
) -> Features:
    """Read features, as `as_matrix` opens them, with the labels and names in or beside the file.

    These are found in

    - .npz: members called labels, names, classes, split (or similar);
    - .npy: x_labels.npy, x_labels.csv, labels.npy, labels.csv, labels.txt beside it, and likewise names, classes,
    split;
    - a folder of .npy shards: the same, or shards of labels (labels_0.npy, ...) with the numbers of the features;
    - parquet: columns called label, name, path, split, ... ;
    - clip-retrieval: the columns of metadata/metadata_N.parquet, with names from image_path, key or url;
    - a store: what was written with it.

    Names, classes and split that are found but unusable are left out with a warning, and so is a labels.* beside an
    .npy that does not fit it; other labels that are found must fit.

    Parameters
    ----------
    path : path-like
        File or folder of features.
    labels : path-like, array-like or bool, default=None
        File (.npy, .csv, .txt, ...) or sequence of labels, which replaces labels and classes that are found; False
        leaves them out. If a table of labels has names and the rows have names, they are matched by name, otherwise by
        order.

    Returns
    -------
    Features
        Features, labels and names.
    """
    path = Path(path).expanduser()
    X = as_matrix(path)
    about, notices = collect_labels(
        _FINDERS[layout_of(path)](path), X, path, _EVERYTHING if labels is None else _NO_LABELS
    )
    if labels is not None and labels is not False:
        about |= _given(labels).fitting(X, path, about)
    for notice in notices:
        warnings.warn(notice, UserWarning, stacklevel=2)
    return Features(X, **about, notices=notices)


def _given(labels: str | os.PathLike[str] | ArrayLike) -> LabelSource:
    if isinstance(labels, str | os.PathLike):
        path = Path(labels).expanduser()
        return LabelSource(("y",), path, lambda: read_labels(path))
    return LabelSource(("y",), "labels", lambda: normalize_types({"y": as_labels(labels, "labels")}))


def _in_store(path: Path) -> list[LabelSource]:
    from manyclass.data.store import open_store

    store = open_store(path)

    def finding(key: str) -> LabelSource:
        values = getattr(store, key)
        return LabelSource((key,), path, lambda: {} if values is None else {key: values})

    return [finding(key) for key in _EVERYTHING]


_EVERYTHING = ("y", "names", "classes", "split")

_NO_LABELS = ("names", "split")

_FINDERS: dict[Layout, Callable[[Path], list[LabelSource]]] = {
    "npy": sidecars_of_file,
    "npz": labels_in_npz,
    "parquet": lambda path: labels_in_parquet(path, lambda: [path]),
    "store": _in_store,
    "clip_retrieval": labels_in_clip_retrieval,
    "npy_shards": sidecars_of_shards,
    "parquet_shards": lambda path: labels_in_parquet(path, lambda: parquet_shards(path)),
}
