"""LabelTable: a million labels as bytes, of which only those that are asked for become text."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from manyclass._core.checks import check_length
from manyclass._core.typing import Arrays


@dataclass(frozen=True)
class LabelTable:
    """k labels: numbers, or text in UTF-8, one after the other.

    Text of NumPy has the length of the longest for each, four bytes a letter: a million names of species take some
    hundred megabytes so, and twenty here.

    >>> table = LabelTable.of(["oak", "élm"])
    >>> table[np.array([1, 0])].tolist(), len(table)
    (['élm', 'oak'], 2)
    """

    values: NDArray[Any]  # (k,) numbers, or the bytes of all
    ends: NDArray[np.int64] | None  # (k,) where the bytes of each end; None for numbers

    @classmethod
    def of(cls, labels: Any) -> Self:
        """The table of an array or a list of numbers, or of text; no label may come twice."""
        labels = np.asarray(labels)
        if labels.ndim != 1 or not len(labels):
            raise ValueError(f"classes must be a list of labels; got an array of shape {labels.shape}")
        if labels.dtype.kind in "biuf":
            _check_unique(labels)
            return cls(labels, None)
        if labels.dtype.kind not in "UO" or not all(isinstance(label, str) for label in labels.tolist()):
            raise ValueError(f"classes must be numbers or text; got dtype {labels.dtype}")
        _check_unique(labels)
        encoded = [label.encode("utf-8", "surrogatepass") for label in labels.tolist()]
        ends = np.cumsum([len(one) for one in encoded], dtype=np.int64)
        return cls(np.frombuffer(b"".join(encoded), np.uint8), ends)

    @classmethod
    def numbers(cls, k: int) -> Self:
        """0, 1, 2 and so on."""
        return cls(np.arange(k), None)

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """What `arrays` gave, of a file."""
        values, ends = np.asarray(arrays["labels_"]), arrays.get("label_ends_")
        if values.ndim != 1 or (ends is None and values.dtype.kind not in "biuf"):
            raise ValueError("labels_ must be an array of numbers")
        if ends is not None:
            ends = np.asarray(ends)
            whole = values.dtype == np.uint8 and ends.dtype == np.int64 and ends.ndim == 1 and len(ends)
            if not whole or ends[-1] != len(values) or ends[0] < 0 or (np.diff(ends) < 0).any():
                raise ValueError("label_ends_ must be places in labels_, in their order")
        return cls(values, ends)

    def arrays(self) -> Arrays:
        """By the names that they have in files."""
        return {"labels_": self.values} | ({} if self.ends is None else {"label_ends_": self.ends})

    def __len__(self) -> int:
        return len(self.values if self.ends is None else self.ends)

    def __getitem__(self, index: NDArray[Any]) -> NDArray[Any]:
        """The labels of an array of numbers, in its shape."""
        if self.ends is None:
            return np.asarray(self.values[index])
        text = [self._text(int(c)) for c in index.ravel()]
        return np.array(text, str).reshape(index.shape)

    def all(self) -> NDArray[Any]:
        """Every label."""
        return self[np.arange(len(self))]

    def _text(self, c: int) -> str:
        ends: Any = self.ends
        start = int(ends[c - 1]) if c else 0
        return self.values[start : int(ends[c])].tobytes().decode("utf-8", "surrogatepass")


def as_labels(classes: Any, k: int) -> LabelTable:
    """The labels of k classes; None for their numbers."""
    if classes is None:
        return LabelTable.numbers(k)
    table = LabelTable.of(classes)
    check_length(table, k, "classes", "coef")
    return table


def _check_unique(labels: NDArray[Any]) -> None:
    found, counts = np.unique(labels, return_counts=True)
    if len(found) < len(labels):
        raise ValueError(f"classes must differ; {found[counts > 1].tolist()[0]!r} is there more than once")
