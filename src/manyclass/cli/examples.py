"""Examples: rows of a source that are to be learned or judged, with labels that are names where there are names."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manyclass.cli.data_records import data_record
from manyclass.cli.drawn_test_part import with_test_part
from manyclass.cli.missing_labels import rows_with_labels
from manyclass.cli.reading import read_source

if TYPE_CHECKING:
    from manyclass.data.matrix import Matrix
    from manyclass.datasets import Features

ALL = "all"


@dataclass(frozen=True, eq=False)
class Examples:
    """X (n, d) with labels y (n,) and the names of its rows: a part of a source, or "all" of it.

    `words` are the labels as the source has them: names of classes, where y may be their numbers.
    """

    source: Path
    part: str
    X: "Matrix"
    y: Any
    names: Sequence[str]
    words: Any

    def data(self, role: str) -> dict[str, Any]:
        """What a record says of them."""
        return data_record(role, self.source, self.part, self.X, self.words)


def read_examples(
    source: Path,
    labels: str | None,
    part: str | None,
    preferred: Sequence[str],
    test_fraction: float | None = None,
    seed: int = 0,
) -> Examples:
    """The rows of a part; by default the first of the `preferred` ones that there is, or else all."""
    features = with_test_part(read_labeled(source, labels), test_fraction, seed, source)
    return examples_of(features, class_labels(features), source, part, preferred)


def read_validation(source: Path) -> Examples:
    """The part val, or all rows of data without a test part: what is kept for testing must choose nothing."""
    features = read_labeled(source, None)
    parts = parts_of(features.split)
    if "test" in parts and "val" not in parts:
        raise ValueError(
            f"{source} must have a part val, or no part test, to choose by; it has the parts {', '.join(parts)}"
        )
    return examples_of(features, class_labels(features), source, None, ("val",))


def read_labeled(source: Path, labels: str | None) -> "Features":
    """The features at a path, which must have labels."""
    features = read_source(source, labels)
    if features.y is None:
        raise ValueError(f"{source} must have labels; it has none; give a file of them with --labels")
    return features


def examples_of(
    features: "Features", labels: Any, source: Path, part: str | None, preferred: Sequence[str]
) -> Examples:
    """The rows of a part of features that are read already, with these labels; those without any are left out."""
    chosen = chosen_part(features.split, source, part, preferred)
    where = "" if chosen == ALL else f" of the part {chosen}"
    index = rows_with_labels(_rows_of_part(features, chosen), class_labels(features), where, source)
    return _taken(features, labels, source, chosen, index)


def whole_part(features: "Features", source: Path, part: str) -> Examples:
    """All rows of a part, with labels or without."""
    return _taken(features, class_labels(features), source, part, _rows_of_part(features, part))


def _rows_of_part(features: "Features", part: str) -> Any:
    import numpy as np

    return np.arange(len(features.X)) if part == ALL else np.flatnonzero(np.asarray(features.split).astype(str) == part)


def _taken(features: "Features", labels: Any, source: Path, part: str, index: Any) -> Examples:
    from manyclass.data.selection import Selection

    words = class_labels(features)
    X = features.X if len(index) == len(features.X) else Selection(features.X, index)
    y, words = (None if column is None else column[index] for column in (labels, words))
    return Examples(source, part, X, y, RowNames(features.names, index), words)


def chosen_part(split: Any, source: Path, part: str | None, preferred: Sequence[str]) -> str:
    """The part of a source that is asked for, or the first of the preferred ones that it has."""
    parts = parts_of(split)
    if part is None:
        return next((word for word in preferred if word in parts), ALL)
    if part != ALL and part not in parts:
        has = f"has the parts {', '.join(parts)}" if parts else "has no split"
        raise ValueError(f"--part must be {ALL} or a part of {source}, which {has}; got {part}")
    return part


def parts_of(split: Any) -> list[str]:
    """The parts of a split, in the order of their names."""
    import numpy as np

    return [] if split is None else [str(part) for part in np.unique(np.asarray(split).astype(str))]


def class_labels(features: "Features") -> Any:
    """The label of each row: the name of its class, where classes have names; None without labels."""
    import numpy as np

    if features.y is None:
        return None
    y = np.asarray(features.y)
    return y if features.classes is None or y.dtype.kind == "U" else np.asarray(features.classes, np.str_)[y]


class RowNames(Sequence[str]):
    """Names of some rows: their own, or their numbers in the source."""

    def __init__(self, names: Any, index: Any):
        self._names, self._index = names, index

    def __len__(self) -> int:
        return len(self._index)

    def __getitem__(self, position: Any) -> Any:
        row = int(self._index[position])
        return str(row) if self._names is None else str(self._names[row])
