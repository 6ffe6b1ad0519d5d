"""The negatives of `manyclass encode`: another world of images, or a part of the data itself.

Rows of data by which methods are chosen or judged: none of them is a negative.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from manyclass.cli._errors import complain
from manyclass.datasets.dataset import ALL
from manyclass.runs.run_record import describe_data
from manyclass.runs.sources import read_source

if TYPE_CHECKING:
    from manyclass.datasets.dataset import Dataset

_MOST_OWN = 10_000

_MOST_OF_GRAM = 5000  # the Gram matrix of so many has 200 MB


@dataclass(frozen=True)
class Negatives:
    """Unrelated images: rows, which of the data's own rows they are, words for users, and where they are from."""

    X: Any
    own: NDArray[np.intp]
    about: str
    path: Path
    source: "Dataset"
    part: str = ALL

    def __len__(self) -> int:
        return len(self.X)

    def record(self) -> dict[str, Any]:
        """Where they are from, for a record."""
        return describe_data("negatives", self.source.subset(self.part))


def choose_negatives(
    data: Path, features: "Dataset", world: Path | None, sample: int | None, gram: bool, seed: int
) -> Negatives:
    """The rows of a world, or else a part of the data: at most `sample`, or as many as a Gram matrix allows."""
    most = sample or (_MOST_OF_GRAM if gram else None)
    if world is None:
        return _of_data(data, features, most, seed)
    found = read_source(world, warn=complain)
    n, d = found.X.shape
    if d != features.X.shape[1]:
        raise ValueError(f"{world} must have {features.X.shape[1]} columns, as {data} has; got {d}")
    none = np.zeros(0, np.intp)
    if most is None or n <= most:
        return Negatives(found.X, none, f"all {n:,} rows of {world}", world, found)
    rows = _drawn(np.arange(n), most, seed)
    return Negatives(found.X.rows(rows), none, f"{most:,} of {n:,} rows of {world}, drawn at random", world, found)


def _of_data(data: Path, features: "Dataset", most: int | None, seed: int) -> Negatives:
    """Rows of the training part, if there is one beside others, or half of all."""
    n = features.X.shape[0]
    if n < 2:
        raise ValueError(f"{data} must have at least 2 rows to take negatives from; got {n}; give --negatives")
    train = np.zeros(0, np.intp) if features.split is None else np.flatnonzero(features.split.astype(str) == "train")
    if 0 < len(train) < n:
        rows, part, words = _drawn(train, most or _MOST_OWN, seed), "train", "of its part train"
    else:
        rows, part, words = _drawn(np.arange(n), min(n // 2, most or _MOST_OWN), seed), ALL, "drawn at random"
    about = f"{len(rows):,} of the {n:,} rows of {data} itself, {words}; --negatives names others"
    return Negatives(features.X.rows(rows), rows, about, data, features, part)


def _drawn(rows: NDArray[np.intp], most: int, seed: int) -> NDArray[np.intp]:
    """At most so many of the rows, in their order."""
    if len(rows) <= most:
        return rows
    return np.sort(np.random.default_rng(seed).choice(rows, most, replace=False))


_LEAST = 4  # classes that can be dealt out, two to either side


@dataclass(frozen=True)
class LabeledRows:
    """Some rows of a matrix by their numbers, with the words of their classes, if there are any."""

    X: Any
    rows: NDArray[np.intp]
    y: NDArray[np.str_] | None

    def __len__(self) -> int:
        return len(self.rows)

    def vectors(self) -> NDArray[Any]:
        """The rows themselves."""
        found: NDArray[Any] = self.X.rows(self.rows)
        return found

    def taken(self, places: NDArray[Any]) -> "LabeledRows":
        """Those at some places."""
        return LabeledRows(self.X, self.rows[places], None if self.y is None else self.y[places])

    def some(self, most: int, seed: int) -> "LabeledRows":
        """At most about so many: with labels whole classes, as halves of classes have less to find."""
        if len(self) <= most:
            return self
        rng = np.random.default_rng(seed)
        if self.y is None:
            return self.taken(np.sort(rng.choice(len(self), most, replace=False)))
        classes, counts = np.unique(self.y, return_counts=True)
        order = rng.permutation(len(classes))
        enough = int(np.searchsorted(np.cumsum(counts[order]), most)) + 1
        return self.taken(np.flatnonzero(np.isin(self.y, classes[order[: max(2, enough)]])))


def other_rows(data: Path, features: "Dataset", words: list[str] | None, own: NDArray[np.intp]) -> LabeledRows:
    """The rows that are no negatives."""
    rows = np.setdiff1d(np.arange(features.X.shape[0]), own)
    if not len(rows):
        raise ValueError(f"{data} must have rows that are no negatives, to choose or judge by; got none")
    return LabeledRows(features.X, rows, None if words is None else np.array(words, np.str_)[rows])


def deal_out(rows: LabeledRows, seed: int) -> tuple[LabeledRows, LabeledRows]:
    """Two parts with no class in common: settings are chosen on one and judged on the other."""
    y = np.asarray(rows.y)
    classes, counts = np.unique(y, return_counts=True)
    classes = classes[counts > 1]
    if len(classes) < _LEAST:
        raise ValueError(
            f"--tune with --evaluate needs at least {_LEAST} classes of two images, one half to choose by and the "
            f"other to judge by; got {len(classes)}; give one of the two options"
        )
    order = np.random.default_rng(seed).permutation(len(classes))
    first = np.isin(y, classes[order[::2]])
    return rows.taken(np.flatnonzero(first)), rows.taken(np.flatnonzero(~first))
