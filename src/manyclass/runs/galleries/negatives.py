"""Which rows are negatives, of a world of other images or of the data itself; and which rows are left to judge by."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.checks import check_count
from manyclass._core.typing import Notify
from manyclass.datasets.dataset import ALL, Dataset, without_label
from manyclass.datasets.splits import split_classes
from manyclass.runs.run_record import describe_data
from manyclass.runs.sources import read_source

_MOST_OWN = 10_000  # negatives that are rows of the data, of which the others remain to judge by

_MOST_OF_GRAM = 5000  # the Gram matrix of so many has 200 MB

_FEWEST = 4  # classes that can be dealt out, two to either side


@dataclass(frozen=True)
class Negatives:
    """Unrelated images: rows, which of the data's own rows they are, words for users, and where they are from."""

    X: Any
    own: NDArray[np.intp]
    about: str
    source: Dataset

    def __len__(self) -> int:
        return len(self.X)

    def record(self) -> dict[str, Any]:
        """Where they are from, for a record."""
        return describe_data("negatives", self.source)


def choose_negatives(
    dataset: Dataset,
    world: Path | None,
    sample: int | None,
    gram: bool,
    seed: int,
    warn: Notify | None = None,
) -> Negatives:
    """The rows of a world, or else some of the data: at most `sample`, or as many as a Gram matrix allows."""
    if sample is not None:
        check_count(sample, "sample")
    most = sample or (_MOST_OF_GRAM if gram else None)
    if world is None:
        return _of_data(dataset, most, seed)
    found = read_source(world, warn=warn)
    n, d = found.X.shape
    if d != dataset.X.shape[1]:
        raise ValueError(f"{world} must have {dataset.X.shape[1]} columns, as {dataset.path} has; got {d}")
    none = np.zeros(0, np.intp)
    if most is None or n <= most:
        return Negatives(found.X, none, f"all {n:,} rows of {world}", found)
    rows = _draw(np.arange(n), most, seed)
    return Negatives(found.X.rows(rows), none, f"{most:,} of {n:,} rows of {world}, drawn at random", found)


def _of_data(dataset: Dataset, most: int | None, seed: int) -> Negatives:
    """Rows of the split train, if there are others beside it, or half of all."""
    n = len(dataset)
    if n < 2:
        raise ValueError(f"{dataset.path} must have at least 2 rows to take negatives from; got {n}; give `negatives`")
    split = dataset.split
    train = np.zeros(0, np.intp) if split is None else np.flatnonzero(split.astype(str) == "train")
    if 0 < len(train) < n:
        rows, subset, words = _draw(train, _MOST_OWN if most is None else most, seed), "train", "of its part train"
    else:
        rows, subset, words = (
            _draw(np.arange(n), min(n // 2, _MOST_OWN if most is None else most), seed),
            ALL,
            "drawn at random",
        )
    about = f"{len(rows):,} of the {n:,} rows of {dataset.path} itself, {words}; `negatives` names others"
    return Negatives(dataset.X.rows(rows), rows, about, dataset.subset(subset))


def _draw(rows: NDArray[np.intp], most: int, seed: int) -> NDArray[np.intp]:
    """At most so many of the rows, in their order."""
    if len(rows) <= most:
        return rows
    return np.sort(np.random.default_rng(seed).choice(rows, most, replace=False))


def other_rows(dataset: Dataset, own: NDArray[np.intp]) -> Dataset:
    """The rows that are no negatives and have a label; labels, if there are any, are words."""
    rows = np.setdiff1d(np.arange(len(dataset)), own)
    if not len(rows):
        raise ValueError(f"{dataset.path} must have rows that are no negatives, to choose or judge by; got none")
    labels = dataset.label_names()
    if labels is None:
        return replace(dataset, classes=None).take(rows)
    labeled = rows[~without_label(labels)[rows]]  # what is of no class can neither be found nor be wrong
    return replace(dataset, y=labels.astype(np.str_), classes=None).take(labeled)


def deal_out(rows: Dataset, seed: int) -> tuple[Dataset, Dataset]:
    """Two halves with no class in common: settings are chosen on one and judged on the other."""
    y = np.asarray(rows.y)
    n_classes = int(np.count_nonzero(np.unique(y, return_counts=True)[1] > 1))
    if n_classes < _FEWEST:
        raise ValueError(
            f"`tune` with `evaluate` needs at least {_FEWEST} classes of two images, one half to choose by and the "
            f"other to judge by; got {n_classes}; give one of the two options"
        )
    first = split_classes(y, seed)
    return rows.take(np.flatnonzero(first)), rows.take(np.flatnonzero(~first))


def draw_rows(rows: Dataset, most: int, seed: int) -> Dataset:
    """At most about so many: with labels whole classes, as halves of classes have less to find."""
    if len(rows) <= most:
        return rows
    rng = np.random.default_rng(seed)
    if rows.y is None:
        return rows.take(np.sort(rng.choice(len(rows), most, replace=False)))
    classes, counts = np.unique(rows.y, return_counts=True)
    order = rng.permutation(len(classes))
    enough = int(np.searchsorted(np.cumsum(counts[order]), most)) + 1
    return rows.take(np.flatnonzero(np.isin(rows.y, classes[order[: max(2, enough)]])))
