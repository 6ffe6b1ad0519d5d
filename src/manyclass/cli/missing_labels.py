"""Rows that have no label, as people write it: an empty one, or -1 among numbers that count from 0."""

from pathlib import Path
from typing import Any

from manyclass.cli.failures import complain

_NONE = -1


def rows_with_labels(index: Any, labels: Any, where: str, source: Path) -> Any:
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
