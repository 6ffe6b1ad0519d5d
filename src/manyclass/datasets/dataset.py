"""Dataset: rows with labels, names, classes and a split; read_features: one from what users have on disk."""

import json
import os
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyclass._core.checks import check_length
from manyclass._core.digest import sha256_digest
from manyclass._core.remote_files import local_path
from manyclass.data.matrix import Matrix, rows_digest
from manyclass.data.readers.as_matrix import Layout, layout_of, open_layout
from manyclass.data.readers.parquet import parquet_shards
from manyclass.data.views import RowSelection
from manyclass.datasets.label_files import (
    LabelSource,
    as_labels,
    class_mismatch,
    collect_labels,
    composed,
    normalize_types,
    read_labels,
)
from manyclass.datasets.sidecars import (
    labels_in_clip_retrieval,
    labels_in_npz,
    labels_in_parquet,
    sidecars_of_file,
    sidecars_of_shards,
)

ALL = "all"  # the subset of all rows

NO_LABEL = -1  # among numbers that count from 0


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows of features with labels and names; None where there are none.

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
    path : Path, default=None
        Where the features were read.
    rows : ndarray of shape (n_examples,), int, default=None
        Numbers of the rows in what they were taken from; None for all rows.
    subset_name : str, default="all"
        The subset that these rows are.
    labels_path : Path, default=None
        The file beside the features in which labels were found; None if they are with them, or given.
    separator : str, default=None
        What stands between the labels of a row, such as ";" in "cat;dog"; None if every row has one.

    Examples
    --------
    >>> from manyclass.data.dense import DenseMatrix
    >>> X = DenseMatrix(np.eye(3))
    >>> dataset = Dataset(X, y=np.array([0, 1, 1]), classes=["cat", "dog"], split=np.array(["train", "test", "train"]))
    >>> dataset.subset("train").label_names().tolist()
    ['cat', 'dog']
    >>> dataset.take(slice(1, 3)).row_name(0)
    '1'
    """

    X: Matrix
    y: NDArray[Any] | None = None
    names: Sequence[str] | NDArray[np.str_] | None = None
    classes: Sequence[str] | NDArray[np.str_] | None = None
    split: NDArray[Any] | None = None
    notices: tuple[str, ...] = ()
    path: Path | None = None
    rows: NDArray[np.intp] | None = None
    subset_name: str = ALL
    labels_path: Path | None = None
    separator: str | None = None

    def __post_init__(self) -> None:
        for values, what in ((self.y, "labels"), (self.names, "names"), (self.split, "split")):
            if values is not None:
                check_length(values, self.X.shape[0], what, "X")
        if self.y is not None and self.classes is not None and (problem := class_mismatch(self.y, self.classes)):
            raise ValueError(problem)

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def split_names(self) -> list[str]:
        """List the names of the subsets, sorted; none without a split.

        Returns
        -------
        list of str
            The names.
        """
        return [] if self.split is None else np.unique(np.asarray(self.split).astype(str)).tolist()

    def subset(self, name: str) -> "Dataset":
        """Take the rows of a subset.

        Parameters
        ----------
        name : str
            A value of the split, or "all".

        Returns
        -------
        Dataset
            These rows.

        Raises
        ------
        ValueError
            If there is no such subset.
        """
        if name == ALL:
            return self
        if name not in (known := self.split_names()):
            has = f"has the parts {', '.join(known)}" if known else "has no split"
            raise ValueError(f"`subset` must be {ALL} or a part of {self.path or 'the data'}, which {has}; got {name}")
        return self.take(np.flatnonzero(np.asarray(self.split).astype(str) == name), name)

    def take(self, rows: slice | NDArray[np.intp], subset_name: str | None = None) -> "Dataset":
        """Take some of the rows, without a copy of the features.

        Parameters
        ----------
        rows : slice or ndarray of shape (n_taken,), int
            Their numbers.
        subset_name : str, default=None
            What they are called; None for the name of the whole.

        Returns
        -------
        Dataset
            These rows.
        """
        every = np.arange(len(self))
        index = every[rows] if isinstance(rows, slice) else rows
        if isinstance(rows, slice):
            X = self.X.row_slice(rows)
        else:
            X = self.X if np.array_equal(index, every) else RowSelection(self.X, index)
        known = {key: values for key in _BY_ROW if (values := self.__dict__.get(key)) is not None}
        taken = object.__new__(Dataset)  # what was checked as a whole need not be checked again
        taken.__dict__.update(
            self.__dict__,
            X=X,
            names=None if self.names is None else _TakenNames(self.names, index),
            rows=index if self.rows is None else self.rows[index],
            subset_name=self.subset_name if subset_name is None else subset_name,
            **{key: np.asarray(values)[index] for key, values in known.items()},
        )
        return taken

    def label_names(self) -> NDArray[Any] | None:
        """Label each row by the name of its class, if classes have names.

        Returns
        -------
        ndarray of shape (n_examples,) or None
            Strings, or the labels as they are if their classes have no names; None without labels.
        """
        return self._label_names

    @cached_property
    def _label_names(self) -> NDArray[Any] | None:
        if self.y is None:
            return None
        y = np.asarray(self.y)
        return y if self.classes is None or y.dtype.kind == "U" else np.asarray(self.classes, np.str_)[y]

    def label_lists(self) -> list[list[str]]:
        """List the labels of each row, which a separator divides; an empty one is none.

        Returns
        -------
        list of list of str
            The labels, each once and in their order.
        """
        found = [""] * len(self) if self.y is None else np.asarray(self.label_names()).astype(str).tolist()
        parts = (text.split(self.separator) if self.separator else [text] for text in found)
        return [list(dict.fromkeys(filter(None, map(str.strip, labels)))) for labels in parts]

    def strata(self) -> NDArray[Any]:
        """Label each row by what it is drawn by: its label, or of several the rarest, and nothing for none.

        Returns
        -------
        ndarray of shape (n_examples,)
            The labels.
        """
        if self.separator is None:
            return np.asarray(self.label_names())
        lists = self.label_lists()
        counts = Counter(label for labels in lists for label in labels)
        return np.array([min(labels, key=lambda label: (counts[label], label), default="") for labels in lists])

    def row_name(self, row: int) -> str:
        """Name a row: its own name, or its number in what it was taken from.

        Parameters
        ----------
        row : int
            Number of the row here.

        Returns
        -------
        str
            The name.
        """
        if self.names is not None:
            return str(self.names[row])
        return str(row if self.rows is None else int(self.rows[row]))

    def fingerprint(self) -> str:
        """Tell these rows from others: by shape, up to 256 rows, and all labels, as they are written.

        Returns
        -------
        str
            Digits; the same whatever the dtype of the labels.
        """
        y = self.label_names()
        labels = None if y is None else [str(label) for label in y.tolist()]
        return sha256_digest([f"{rows_digest(self.X)} {json.dumps(labels)}"])[:32]

    def examples_fingerprint(self) -> str | None:
        """Tell these examples from others, whatever their features and their order: by their names and labels.

        Returns
        -------
        str or None
            Digits; None without names or labels, as there is no telling then.
        """
        y = self.label_names()
        if y is None or self.names is None:
            return None
        pairs = zip(map(str, self.names), map(str, y.tolist()), strict=True)
        return sha256_digest(f"{json.dumps(pair)}\n" for pair in sorted(pairs))[:32]


_BY_ROW = ("y", "split", "_label_names")


def without_label(labels: Any) -> Any:
    """Which labels (n,) stand for none, as people write it: an empty one, or -1 among numbers that count from 0.

    With fewer than two others, or others below 0, -1 is a class like any: -1 and 1 are the labels of many a problem.

    >>> without_label(np.array(["cat", "", " "])).tolist()
    [False, True, True]
    >>> without_label(np.array([0, -1, 1])).tolist(), without_label(np.array([1, -1, 1])).tolist()
    ([False, True, False], [False, False, False])
    """
    if labels.dtype.kind == "U":
        return np.char.strip(labels) == ""
    if labels.dtype.kind != "i":
        return np.zeros(len(labels), np.bool_)
    others = np.unique(labels[labels != NO_LABEL])
    return (labels == NO_LABEL) & bool(len(others) > 1 and others[0] >= 0)


def count_classes(labels: Any) -> int:
    """How many classes labels (n,) are of; those that stand for none are of no class."""
    return len(np.unique(labels[~without_label(labels)]))


class _TakenNames(Sequence[str]):
    """Names of some rows, looked up when they are asked for: those of a store are made then."""

    def __init__(self, names: Sequence[str] | NDArray[np.str_], index: NDArray[np.intp]):
        self._names, self._index = names, index

    def __len__(self) -> int:
        return len(self._index)

    def __getitem__(self, position: Any) -> Any:
        if isinstance(position, slice):
            return [str(self._names[int(row)]) for row in self._index[position]]
        return str(self._names[int(self._index[position])])


def read_features(
    path: str | os.PathLike[str], labels: str | os.PathLike[str] | ArrayLike | bool | None = None
) -> Dataset:
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
    Dataset
        Features, labels and names.
    """
    path = local_path(path)
    layout = layout_of(path)
    X = open_layout(path, layout)
    about, notices = collect_labels(_FINDERS[layout](path), X, path, _EVERYTHING if labels is None else _NO_LABELS)
    if labels is not None and labels is not False:
        about |= _given_labels(labels).read_for(X, path, about)
    for notice in notices:
        warnings.warn(notice, UserWarning, stacklevel=2)
    return Dataset(X, **about, notices=notices, path=path)


def _given_labels(labels: str | os.PathLike[str] | ArrayLike) -> LabelSource:
    if isinstance(labels, str | os.PathLike):
        path = local_path(labels)
        return LabelSource(("y",), path, lambda: read_labels(path))
    return LabelSource(("y",), "labels", lambda: normalize_types({"y": as_labels(labels, "labels")}))


def _in_store(path: Path) -> list[LabelSource]:
    from manyclass.data.store.store import open_store

    store = open_store(path)
    about: dict[str, Any] = {key: getattr(store, key) for key in _EVERYTHING}
    if about["y"] is not None and about["classes"] is not None:
        about["y"], about["classes"] = _in_one_spelling(about["y"], about["classes"])

    def finding(key: str) -> LabelSource:
        values = about[key]
        return LabelSource((key,), path, lambda: {} if values is None else {key: values})

    return [finding(key) for key in _EVERYTHING]


def _in_one_spelling(y: NDArray[Any], classes: Any) -> tuple[NDArray[Any], Any]:
    """Labels and classes as `normalize_types` spells them, where two spellings of one class have one number."""
    words = np.asarray(classes, np.str_)
    spelled = composed(words)
    if spelled is words or class_mismatch(y, words):
        return y, classes
    numbers = {word: number for number, word in enumerate(dict.fromkeys(spelled.tolist()))}
    codes = np.array([numbers[word] for word in spelled.tolist()])
    return composed(y) if y.dtype.kind == "U" else codes[y], list(numbers)


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
