"""Examples: rows of a source that are to be learned or judged, with labels that are names where there are names.

Rows that have no label, as people write it: an empty one, or -1 among numbers that count from 0.

The option --test-fraction: a part for testing where the data has none.

What a record says of the data that a command worked on.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manyclass._core.digest import sha256_digest
from manyclass.cli._errors import complain
from manyclass.runs.sources import read_source

if TYPE_CHECKING:
    from manyclass.data.matrix import Matrix
    from manyclass.datasets import Features

ALL = "all"


@dataclass(frozen=True, eq=False)
class Subset:
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


def read_subset(
    source: Path,
    labels: str | None,
    part: str | None,
    preferred: Sequence[str],
    test_fraction: float | None = None,
    seed: int = 0,
) -> Subset:
    """The rows of a part; by default the first of the `preferred` ones that there is, or else all."""
    features = draw_test_subset(read_labeled(source, labels), test_fraction, seed, source)
    return subset_of(features, class_labels(features), source, part, preferred)


def read_validation(source: Path) -> Subset:
    """The part val, or all rows of data without a test part: what is kept for testing must choose nothing."""
    features = read_labeled(source, None)
    parts = split_names(features.split)
    if "test" in parts and "val" not in parts:
        raise ValueError(
            f"{source} must have a part val, or no part test, to choose by; it has the parts {', '.join(parts)}"
        )
    return subset_of(features, class_labels(features), source, None, ("val",))


def read_labeled(source: Path, labels: str | None) -> "Features":
    """The features at a path, which must have labels."""
    features = read_source(source, labels)
    if features.y is None:
        raise ValueError(f"{source} must have labels; it has none; give a file of them with --labels")
    return features


def subset_of(features: "Features", labels: Any, source: Path, part: str | None, preferred: Sequence[str]) -> Subset:
    """The rows of a part of features that are read already, with these labels; those without any are left out."""
    chosen = choose_subset(features.split, source, part, preferred)
    where = "" if chosen == ALL else f" of the part {chosen}"
    index = labeled_rows(_rows_of_part(features, chosen), class_labels(features), where, source)
    return _taken(features, labels, source, chosen, index)


def whole_part(features: "Features", source: Path, part: str) -> Subset:
    """All rows of a part, with labels or without."""
    return _taken(features, class_labels(features), source, part, _rows_of_part(features, part))


def _rows_of_part(features: "Features", part: str) -> Any:
    import numpy as np

    return np.arange(len(features.X)) if part == ALL else np.flatnonzero(np.asarray(features.split).astype(str) == part)


def _taken(features: "Features", labels: Any, source: Path, part: str, index: Any) -> Subset:
    from manyclass.data.views import RowSelection

    words = class_labels(features)
    X = features.X if len(index) == len(features.X) else RowSelection(features.X, index)
    y, words = (None if column is None else column[index] for column in (labels, words))
    return Subset(source, part, X, y, RowNames(features.names, index), words)


def choose_subset(split: Any, source: Path, part: str | None, preferred: Sequence[str]) -> str:
    """The part of a source that is asked for, or the first of the preferred ones that it has."""
    parts = split_names(split)
    if part is None:
        return next((word for word in preferred if word in parts), ALL)
    if part != ALL and part not in parts:
        has = f"has the parts {', '.join(parts)}" if parts else "has no split"
        raise ValueError(f"--part must be {ALL} or a part of {source}, which {has}; got {part}")
    return part


def split_names(split: Any) -> list[str]:
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


_NONE = -1


def labeled_rows(index: Any, labels: Any, where: str, source: Path) -> Any:
    """The rows among `index` that have a label, of the labels of all rows; how many have none is told in a line."""
    import numpy as np

    lacking = without_label(labels)[index]
    n, word = int(np.count_nonzero(lacking)), "empty" if labels.dtype.kind == "U" else _NONE
    if n and n == len(index):
        raise ValueError(
            f"{source} must have labels; that of every row{where} is {word}; give a file of them with --labels, "
            "or choose other rows with --part"
        )
    if n:
        rows, theirs = ("row", "its label is") if n == 1 else ("rows", "their label is")
        complain(f"{n:,} {rows}{where} of {source} left out, as {theirs} {word}")
    return index[~lacking]


def without_label(labels: Any) -> Any:
    """Which labels (n,) stand for none.

    With fewer than two others, or others below 0, -1 is a class like any: -1 and 1 are the labels of many a problem.

    >>> import numpy as np
    >>> without_label(np.array(["cat", "", " "])).tolist()
    [False, True, True]
    >>> without_label(np.array([0, -1, 1])).tolist(), without_label(np.array([1, -1, 1])).tolist()
    ([False, True, False], [False, False, False])
    """
    import numpy as np

    if labels.dtype.kind == "U":
        return np.char.strip(labels) == ""
    if labels.dtype.kind != "i":
        return np.zeros(len(labels), np.bool_)
    others = np.unique(labels[labels != _NONE])
    return (labels == _NONE) & bool(len(others) > 1 and others[0] >= 0)


TEST_FRACTION_HELP = "Keep so much of every class for testing; the data must have no parts."


def splits_with_test(y: Any, split: Any, fraction: float | None, seed: int, source: Path) -> Any:
    """The parts of rows with these labels: those they have, or ones that are drawn if a fraction is asked for."""
    from manyclass.datasets import draw_splits

    if fraction is None:
        return split
    if not 0 < fraction < 1:
        raise ValueError(f"--test-fraction must be between 0 and 1; got {fraction}")
    if split is not None:
        raise ValueError(f"--test-fraction is for data without parts; {source} has a split already")
    if y is None:
        raise ValueError(f"--test-fraction needs labels, as it keeps some of every class; {source} has none")
    return draw_splits(y, fraction, seed)


def draw_test_subset(features: "Features", fraction: float | None, seed: int, source: Path) -> "Features":
    """Features with these parts."""
    split = splits_with_test(features.y, features.split, fraction, seed, source)
    return features if split is features.split else replace(features, split=split)


def restore_splits_of_run(features: "Features", run: Path, source: Path) -> "Features":
    """Features with the parts that a run drew in them; as they are, if it was trained on other rows."""
    from manyclass.runs.folder import is_run, read_run

    record = read_run(run) if is_run(run) else None
    fraction = record["settings"].get("test_fraction") if record else None
    if record is None or fraction is None or features.split is not None or features.y is None:
        return features
    parted = draw_test_subset(features, fraction, record["seed"], source)
    drawn = whole_part(parted, source, "train").data("train")["fingerprint"]
    known = {one["fingerprint"] for one in record["data"] if one["role"] == "train"}
    return parted if drawn in known else features


def data_record(role: str, path: Path, part: str, X: "Matrix", y: Any) -> dict[str, Any]:
    """Rows X (n, d) of a part of a path in some role ("train", "gallery", ...), with labels y (n,) or None."""
    import numpy as np

    return {
        "role": role,
        "path": str(path),
        "part": part,
        "rows": int(X.shape[0]),
        "columns": int(X.shape[1]),
        "classes": None if y is None else len(np.unique(y)),
        "fingerprint": data_fingerprint(X, y),
        "bytes": int(X.nbytes),
    }


def data_fingerprint(X: "Matrix", y: Any) -> str:
    """Tells data from others: by shape, up to 256 rows, and all labels, as they are written."""
    import numpy as np

    from manyclass.solvers.sgd.checkpoint import rows_digest

    labels = None if y is None else [str(label) for label in np.asarray(y).tolist()]
    return sha256_digest([f"{rows_digest(X)} {json.dumps(labels)}"])[:32]
