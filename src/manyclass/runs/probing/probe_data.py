"""ProbeData: the rows of one or several files of embeddings, which of them are learned from, and which judge."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.checks import check_finite
from manyclass._core.errors import SettingsError
from manyclass._core.text import format_percent, pluralize
from manyclass._core.typing import Labels, Notify
from manyclass.data.dense import DenseMatrix
from manyclass.data.matrix import Matrix
from manyclass.data.views import RowSelection
from manyclass.datasets.dataset import Dataset
from manyclass.datasets.splits import stratified_split
from manyclass.runs.sources import draw_sample, draw_test_subset, labeled_subset, read_labeled

TEST_FRACTION = 0.2  # of every class, where the data has no parts

_HELD_OUT, _MOST_HELD_OUT = 0.2, 10_000  # of every class and at most so many rows, by which settings are chosen

_IN_MEMORY = 2 << 30  # bytes of rows that are read once

_TEST, _LEARNED = ("test", "val"), ("train", "val")  # parts by what they are called


@dataclass(frozen=True)
class ProbeTask:
    """What a method learns from and is judged by: rows of one file, with classes from 0 to k - 1."""

    X: Matrix
    y: Labels
    k: int
    X_test: Matrix
    learned: NDArray[np.intp]  # rows of X by which settings are tried
    held_out: NDArray[np.intp]  # those by which they are chosen; none where no class has two rows
    seed: int = 0

    def taking(self, rows: NDArray[np.intp]) -> "ProbeTask":
        """The same with some rows to learn from."""
        y = self.y[rows]
        learned, held_out = _tried_and_chosen_by(y, None, self.seed)
        return replace(self, X=RowSelection(self.X, rows), y=y, learned=learned, held_out=held_out)


@dataclass(frozen=True)
class ProbeData:
    """Files of embeddings of the same rows."""

    names: list[str]  # of the files, each once
    learned: list[Dataset]
    judged: list[Dataset]
    classes: NDArray[Any]
    y: Labels  # positions in the classes, of the rows to learn from
    y_test: Labels
    protocol: str  # which rows are learned from and judged, in words
    held_out: NDArray[np.bool_] | None  # rows of the part val, if there is one beside the test
    sampled: bool
    seed: int

    def task(self, number: int) -> ProbeTask:
        """What a method is given of one of the files."""
        X, X_test = self.learned[number].X, self.judged[number].X
        parts = _tried_and_chosen_by(self.y, self.held_out, self.seed)
        return ProbeTask(X, self.y, len(self.classes), X_test, *parts, self.seed)


def _tried_and_chosen_by(
    y: Labels, known: NDArray[np.bool_] | None, seed: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows to try settings by, and others to choose them by: those that are known, or a part of every class."""
    if known is None:
        fraction = min(_HELD_OUT, _MOST_HELD_OUT / max(1, len(y)))
        known = stratified_split(y, fraction, np.random.default_rng(seed))
    if known.sum() > _MOST_HELD_OUT:  # one of each of very many classes
        drawn = np.random.default_rng(seed).permutation(np.flatnonzero(known))[:_MOST_HELD_OUT]
        known = np.isin(np.arange(len(y)), drawn)
    known = known & np.isin(y, y[~known])  # a class of the part val alone is learned from
    return np.flatnonzero(~known), np.flatnonzero(known)


def read_probe_data(
    paths: Sequence[Path],
    labels: str | None,
    test_fraction: float | None,
    sample: int | None,
    seed: int,
    warn: Notify,
) -> ProbeData:
    """The rows of all files, which must have the same labels in the same order."""
    read = [read_labeled(path, labels, warn if number == 0 else _nobody) for number, path in enumerate(paths)]
    for other in read[1:]:
        check_same_rows(read[0], other)
    split = next((one.split for one in read if one.split is not None), None)
    read = [replace(one, split=split) for one in read]
    first, words = _with_test(read[0], test_fraction, seed)
    every, tested = _parts(first, warn)
    learned, judged = draw_sample(every, sample, seed), _sample_of(tested, sample, seed)
    sampled = len(learned) + len(judged) < len(every) + len(tested)
    classes, y = np.unique(np.asarray(learned.label_names()), return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"{paths[0]} must have at least two classes to learn from; got {len(classes)}")
    judged = _of_classes(judged, classes, warn)
    rows, asked = _positions(learned), _positions(judged)
    return ProbeData(
        _names(paths),
        [_loaded(one, rows, "train") for one in read],
        [_loaded(one, asked, judged.subset_name) for one in read],
        classes,
        y.astype(np.int32),
        np.searchsorted(classes, np.asarray(judged.label_names())).astype(np.int32),
        f"{words}; {_sizes(rows, asked, classes)}" + (f" (a sample of at most {sample:,} each)" if sampled else ""),
        _rows_of_val(first, rows, judged.subset_name),
        sampled,
        seed,
    )


def _sizes(rows: NDArray[np.intp], asked: NDArray[np.intp], classes: NDArray[Any]) -> str:
    sizes = f"{len(rows):,} rows to learn from and {len(asked):,} to judge by"
    return f"{sizes}, of {pluralize(len(classes), 'class', 'classes')}"


def _loaded(dataset: Dataset, rows: NDArray[np.intp], part: str) -> Dataset:
    """Some rows, whose numbers must be finite; in memory where they fit."""
    taken = dataset.take(rows, part)
    with np.errstate(over="ignore"):
        for start, block in taken.X.blocks():
            check_finite(block.astype(np.float32, copy=False), str(dataset.path), rows[start : start + len(block)])
    n, d = taken.X.shape
    return replace(taken, X=DenseMatrix(taken.X.toarray())) if 4 * n * d <= _IN_MEMORY else taken


def _rows_of_val(dataset: Dataset, rows: NDArray[np.intp], judged: str) -> NDArray[np.bool_] | None:
    """Which rows to learn from are those of a part val, by which settings are chosen; None where there is none."""
    if judged != "test":
        return None
    is_val: NDArray[np.bool_] = np.asarray(dataset.split).astype(str)[rows] == "val"
    return is_val if is_val.any() and not is_val.all() else None


def check_same_rows(first: Dataset, other: Dataset) -> None:
    """Refuse files of other rows, or of the same in another order: by names where both have them, and by labels."""
    rule = f"{other.path} must have the rows of {first.path} in the same order to be compared with it"
    if len(first) != len(other):
        raise ValueError(f"{rule}; it has {len(other):,} rows, and not {len(first):,}")
    known = [("name", first.names, other.names), ("label", first.label_names(), other.label_names())]
    known.append(("part", first.split, other.split))
    for what, ours, theirs in known:
        if ours is None or theirs is None:
            continue
        a, b = (np.asarray(list(values)).astype(str) for values in (ours, theirs))
        for row in np.flatnonzero(a != b)[:1]:
            raise ValueError(f"{rule}; row {row} has the {what} {str(a[row])!r} there and {str(b[row])!r} here")


def _with_test(dataset: Dataset, fraction: float | None, seed: int) -> tuple[Dataset, str]:
    """The rows with a part to judge by, and in words where it comes from."""
    parts = dataset.split_names()
    if fraction is not None or not parts:
        fraction = TEST_FRACTION if fraction is None else fraction
        drawn = draw_test_subset(dataset, fraction, seed)
        if "test" not in drawn.split_names():
            raise ValueError(f"{dataset.path} must have a class of two rows or more, to hold one out; each has one")
        return drawn, f"{format_percent(fraction, 0)} of every class are held out, drawn by seed {seed}"
    test = next((name for name in _TEST if name in parts), None)
    if test is None or not any(name in parts for name in _LEARNED if name != test):
        raise ValueError(
            f"{dataset.path} must have the parts train and test (or val), or no parts at all; it has {', '.join(parts)}"
        )
    return dataset, f"the split of the data, judged by its part {test}"


def _parts(dataset: Dataset, warn: Notify) -> tuple[Dataset, Dataset]:
    """The rows with labels to learn from, those of val included where there is a test, and those to judge by."""
    split = np.asarray(dataset.split).astype(str)
    test = next(name for name in _TEST if name in dataset.split_names())
    learns = np.isin(split, [name for name in _LEARNED if name != test])
    whole = replace(dataset, split=np.where(learns, "train", split))
    return labeled_subset(whole, "train", (), warn), labeled_subset(whole, test, (), warn)


def _sample_of(judged: Dataset, sample: int | None, seed: int) -> Dataset:
    """At most so many rows to judge by, drawn at large."""
    if sample is None or len(judged) <= sample:
        return judged
    return judged.take(np.sort(np.random.default_rng(seed).permutation(len(judged))[:sample]), judged.subset_name)


def _of_classes(judged: Dataset, classes: NDArray[Any], warn: Notify) -> Dataset:
    """Without rows of classes that nobody can learn."""
    y = np.asarray(judged.label_names())
    known = np.isin(y, classes)
    if not known.any():
        raise ValueError(f"{judged.path} must be judged by rows of classes that it is learned from; no row is of one")
    if not known.all():
        rows, missing = int((~known).sum()), len(np.unique(y[~known]))
        others = f"{pluralize(rows, 'row')} of {pluralize(missing, 'class', 'classes')}"
        warn(f"{others} of {judged.path} left out, as there are none of them to learn from")
    return judged if known.all() else judged.take(np.flatnonzero(known), judged.subset_name)


def _positions(dataset: Dataset) -> NDArray[np.intp]:
    return np.arange(len(dataset)) if dataset.rows is None else dataset.rows


def _names(paths: Sequence[Path]) -> list[str]:
    """What files are called, with the folder where two have one name."""
    short = [path.stem if path.is_file() else path.name.removesuffix(".store") for path in paths]
    names = [one if short.count(one) == 1 else str(path) for one, path in zip(short, paths, strict=True)]
    for name in names:
        if names.count(name) > 1:
            raise SettingsError(f"the same file must be given once only; got {name} twice")
    return names


def _nobody(message: str) -> None:
    pass
