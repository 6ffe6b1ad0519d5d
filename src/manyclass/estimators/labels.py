"""From labels to positions in `classes_`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d


def encode_labels(y: Any, n: int) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """(classes, positions of the labels in them), for n rows."""
    y = check_labels(y, n)
    classes, codes = np.unique(y, return_inverse=True)
    _refuse_single(classes)
    return classes, codes.astype(np.int32)


def check_classes(classes: Any) -> NDArray[Any]:
    """The classes of all data to come, sorted."""
    found: NDArray[Any] = np.unique(check_labels(classes, len(classes)))
    _refuse_single(found)
    return found


def known_labels(y: Any, classes: NDArray[Any], n: int) -> NDArray[np.int32]:
    """Positions of labels in classes that are sorted; refuses others."""
    y = check_labels(y, n)
    refuse_other_kind(y, classes)
    labels, same = _cast(y, classes)
    codes = _places(labels, classes)
    wrong = np.flatnonzero(~same | (classes[codes] != labels))
    if len(wrong):
        raise ValueError(
            f"labels must be among the {len(classes)} classes; got {y.tolist()[wrong[0]]!r} at row {wrong[0]}"
        )
    return codes


def new_labels(y: NDArray[Any], classes: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """(labels that are not among the classes, positions in them; those of the classes come after the last).

    The new ones are of the dtype of the classes, and exactly the labels that were given; text may be longer.
    """
    refuse_other_kind(y, classes)
    labels, same = _cast(y, classes)
    for row in np.flatnonzero(~same)[:1]:
        raise ValueError(
            f"labels must be representable in the dtype of the classes, {classes.dtype}; "
            f"got {y.tolist()[row]!r} at row {row}; fit anew with labels of a wider dtype"
        )
    fresh = classes[_places(labels, classes)] != labels
    if not fresh.any():
        raise ValueError("add_classes needs rows of classes that are not in classes_ yet; all labels are known")
    new, places = np.unique(labels[fresh], return_inverse=True)
    codes = np.full(len(labels), len(new), np.int32)
    codes[fresh] = places
    return new, codes


def check_labels(y: Any, n: int) -> NDArray[Any]:
    """Labels as a vector with one for each of n rows."""
    if y is None:
        raise ValueError("this classifier requires y to be passed, but the target y is None")
    y = column_or_1d(y, warn=True)
    if len(y) != n:
        raise ValueError(f"y must have one label per row of X ({n}); got {len(y)}, inconsistent numbers of samples")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError(f"y contains NaN or infinity, at row {int(np.flatnonzero(~np.isfinite(y))[0])}")
    _refuse_no_labels(y)
    return y  # type: ignore[no-any-return]


def _refuse_no_labels(y: NDArray[Any]) -> None:
    # scikit-learn would warn of many classes with few examples each, which are what we are for.
    if y.dtype.kind == "f" and (y != np.rint(y)).any():
        row = int(np.flatnonzero(y != np.rint(y))[0])
        raise ValueError(
            f"Unknown label type: continuous; labels must be whole numbers; got {y.tolist()[row]!r} at row {row}"
        )
    if y.dtype.kind not in "fiubUS" and not all(isinstance(label, str) for label in y):
        check_classification_targets(y)


def refuse_other_kind(y: NDArray[Any], classes: NDArray[Any]) -> None:
    """Numbers, text and bytes are never among one another."""
    if _kind(y) != _kind(classes):
        raise ValueError(f"labels must be of the kind of the classes, {classes.dtype}; got {y.dtype}")


def _cast(y: NDArray[Any], classes: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """(labels in the dtype of the classes, text as long as it is; which of them are still what they were)."""
    with np.errstate(invalid="ignore", over="ignore"):
        labels = y.astype(classes.dtype.kind if classes.dtype.kind in "US" else classes.dtype)
        # Both ways: -1 comes back from uint64, and 2**53 + 1 equals its nearest float64.
        return labels, (labels == y) & (labels.astype(y.dtype) == y)


def _places(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int32]:
    # Of one dtype: integers of two kinds would meet in float64, which cannot tell large ones apart.
    places = np.searchsorted(classes, labels)
    return np.minimum(places, len(classes) - 1).astype(np.int32)


def _kind(labels: NDArray[Any]) -> str:
    # Objects that are labels are text.
    return {"U": "text", "O": "text", "S": "bytes"}.get(labels.dtype.kind, "numbers")


def _refuse_single(classes: NDArray[Any]) -> None:
    if len(classes) < 2:
        raise ValueError(f"y must hold at least two classes; got 1 class, {classes.tolist()[0]!r}")
