"""What may say something of the rows, and how much of it is believed.

What is found with features must not keep anybody from the features. Names, classes and parts that are unusable are left
out with a notice, and so are labels that may well be another file's. Labels that can only be meant for these rows are
not left out so lightly: they are refused, and the complaint tells how to go on without them.

Whether labels and the names of classes belong together.

Rows of a table put in the order of names.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.checks import check_same_length
from manyclass.data.matrix import Matrix
from manyclass.datasets.label_files import About

_ORDER = ("names", "split", "y", "classes")  # names tell the order of labels, and labels which classes there can be


@dataclass(frozen=True)
class LabelSource:
    """A file, a column or a member that may say something of the rows.

    `gives` is what it may hold, and first what it is for; `read` reads that, and gives nothing where nothing is there.
    It is `meant` for these rows unless it lies where it may belong to others.
    """

    gives: tuple[str, ...]
    source: object
    read: Callable[[], About]
    meant: bool = True

    def fitting(self, X: Matrix, path: Path, known: About) -> About:
        """What it says of the rows of X, which came from `path`, after all that is `known` of them already."""
        about = self.read()
        if "names" in about and "names" in known:
            about = reorder_by_name(known["names"], about, self.source)
        for key in about.keys() - {"classes"}:
            check_same_length(about[key], X, str(self.source), str(path))
        if "classes" in about and (problem := class_mismatch(known["y"], about["classes"])):
            raise ValueError(f"{self.source} does not fit the labels: {problem}")
        return about


def collect_labels(
    findings: Sequence[LabelSource], X: Matrix, path: Path, wanted: Collection[str]
) -> tuple[About, tuple[str, ...]]:
    """All that is wanted and usable, the first finding before later ones, and a notice of all that was left out."""
    about: About = {}
    notices: list[str] = []
    for finding in sorted(findings, key=lambda finding: _ORDER.index(finding.gives[0])):
        if _is_idle(finding, about, wanted):
            continue
        try:
            found = finding.fitting(X, path, about)
        except (ValueError, OSError, ImportError) as error:
            notices += _excuse(finding, error, wanted)
        else:
            about = {key: found[key] for key in found if key in wanted} | about
    return about, tuple(dict.fromkeys(notices))  # one broken file may be met for names and again for parts


def _is_idle(finding: LabelSource, about: About, wanted: Collection[str]) -> bool:
    main = finding.gives[0]
    return main in about or not set(finding.gives) & set(wanted) or (main == "classes" and "y" not in about)


def _excuse(finding: LabelSource, error: Exception, wanted: Collection[str]) -> list[str]:
    if finding.gives[0] not in wanted:
        return []  # somebody has set these labels aside, and need not hear what is wrong with them
    if finding.gives[0] == "y" and finding.meant:
        raise ValueError(f"{error}; labels=False (--labels none) leaves labels out") from error
    return [f"{error}; it is left out"]


def class_mismatch(y: NDArray[Any], classes: Sequence[str] | NDArray[np.str_]) -> str | None:
    """What is wrong with these classes for these labels; None where nothing is.

    >>> misfit(np.array([0, 2]), ["cat", "dog"])
    'labels must be integers in [0, 2); got 2 at row 1'
    """
    words, counts = np.unique(np.asarray(classes, np.str_), return_counts=True)
    if (counts > 1).any():
        return f"classes must be distinct; got {str(words[counts > 1][0])!r} twice"
    if y.dtype.kind == "U":
        wrong, rule = ~np.isin(y, words), f"among the {len(words)} classes"
    else:
        wrong, rule = (y < 0) | (y >= len(words)), f"integers in [0, {len(words)})"
    if not wrong.any():
        return None
    row = int(np.flatnonzero(wrong)[0])
    return f"labels must be {rule}; got {y[row].item()!r} at row {row}"


def reorder_by_name(names: Sequence[str] | NDArray[np.str_], table: dict[str, Any], source: object) -> dict[str, Any]:
    """The rows of a table that has `names` too, one for each of the names given and in their order.

    The table may have other rows as well. One that lists the same names in the same order is left as it is.

    >>> table = {"y": np.array([7, 8, 9]), "names": np.array(["c", "a", "b"])}
    >>> in_order_of(["a", "b"], table, "labels.csv")["y"]
    array([8, 9])
    """
    if len(names) == len(table["names"]) and all(a == b for a, b in zip(names, table["names"], strict=True)):
        return table
    positions = _positions(table["names"].tolist(), source)
    for row, name in enumerate(names):
        if name not in positions:
            way_out = "leave its names out if it is in the order of the rows"
            raise ValueError(f"{source} must have a label for {str(name)!r}, which is row {row}; got none; {way_out}")
    order = np.array([positions[name] for name in names], np.intp)
    return {key: values[order] for key, values in table.items()}


def _positions(names: list[str], source: object) -> dict[str, int]:
    positions: dict[str, int] = {}
    for row, name in enumerate(names):
        if positions.setdefault(name, row) != row:
            raise ValueError(f"{source} must have every name once, so that rows are found by it; got {name!r} twice")
    return positions
