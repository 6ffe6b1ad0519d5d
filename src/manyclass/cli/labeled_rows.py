"""Rows of data by which methods are chosen or judged: none of them is a negative."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from manyclass.datasets import Features

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


def other_rows(data: Path, features: "Features", words: list[str] | None, own: NDArray[np.intp]) -> LabeledRows:
    """The rows that are no negatives."""
    rows = np.setdiff1d(np.arange(features.X.shape[0]), own)
    if not len(rows):
        raise ValueError(f"{data} must have rows that are no negatives, to choose or judge by; got none")
    return LabeledRows(features.X, rows, None if words is None else np.array(words, np.str_)[rows])


def dealt_out(rows: LabeledRows, seed: int) -> tuple[LabeledRows, LabeledRows]:
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
