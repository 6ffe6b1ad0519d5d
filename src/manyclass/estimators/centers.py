"""Centers of a ridge: weights that are known before training, one row for each class, as users give them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.checks import check_finite, check_nonnegative
from manyclass._core.typing import Doubles


def as_center(center: Any, classes: NDArray[Any], d: int) -> Doubles:
    """W0 (d, k) of rows (k, d) in the order of the classes, or of rows by label; labels that are missing have zeros.

    >>> as_center({"b": [1.0, 2.0]}, np.array(["a", "b"]), 2)
    array([[0., 1.],
           [0., 2.]])
    """
    rows = _by_label(center, classes, d) if isinstance(center, Mapping) else _as_numbers(center, "center")
    k = len(classes)
    if rows.shape != (k, d):
        raise ValueError(
            f"center must have a row for each of {k} classes and {d} columns, as X has; got shape {rows.shape}; rows "
            "for other classes can be given as a dictionary of labels"
        )
    check_finite(rows, "center")
    return np.ascontiguousarray(rows.T)


def _by_label(center: Mapping[Any, Any], classes: NDArray[Any], d: int) -> Doubles:
    """Rows (k, d); those of labels that are no classes are of no use here, as old models may know more."""
    rows = np.zeros((len(classes), d))
    found = [(place, center[label]) for place, label in enumerate(classes.tolist()) if label in center]
    if not found:
        raise ValueError(
            f"center must have a row of one class at least; got none of {classes.tolist()[0]!r} and others"
        )
    for place, row in found:
        numbers = _as_numbers(row, f"center of {classes.tolist()[place]!r}")
        if numbers.shape != (d,):
            raise ValueError(f"center must have {d} numbers for a class, as X has columns; got shape {numbers.shape}")
        rows[place] = numbers
    return rows


def _as_numbers(values: Any, name: str) -> Doubles:
    found = np.asarray(values)
    if found.dtype.kind not in "fiub":
        raise ValueError(f"{name} must hold real numbers; got dtype {found.dtype}")
    return found.astype(np.float64)


def moved_center(center: Any, before: NDArray[Any], after: NDArray[Any], places: NDArray[np.intp]) -> Any:
    """The center of the classes `after`, which were in these places of those before; beyond these they are new.

    >>> moved_center([[1.0], [2.0]], np.array(["a", "b"]), np.array(["b", "c"]), np.array([1, 0]))
    array([[2.],
           [1.]])
    """
    pairs = [(label, int(place)) for label, place in zip(after.tolist(), places, strict=True)]
    if isinstance(center, Mapping):
        labels = before.tolist()
        former = {label: labels[place] if place < len(labels) else label for label, place in pairs}
        # Rows of classes that are gone, or not there yet, stay for those that come.
        moved = set(former.values())
        others = {label: row for label, row in center.items() if label not in moved}
        return {**others, **{label: center[old] for label, old in former.items() if old in center}}
    rows = _as_numbers(center, "center")
    return np.stack([rows[place] if place < len(rows) else np.zeros_like(rows[0]) for _, place in pairs])


def check_center_scale(scale: Any) -> float | None:
    """The scale of a center; None for the one that rows left out choose."""
    if isinstance(scale, str) and scale == "auto":
        return None
    try:
        return check_nonnegative(scale, "center_scale")
    except (TypeError, ValueError):
        raise ValueError(f"center_scale must be 'auto' or a number, at least 0; got {scale!r}") from None
