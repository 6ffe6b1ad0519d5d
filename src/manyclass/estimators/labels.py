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
    codes = _places(y, classes)
    wrong = np.flatnonzero(classes[codes] != y)
    if len(wrong):
        raise ValueError(
            f"labels must be among the {len(classes)} classes; got {y.tolist()[wrong[0]]!r} at row {wrong[0]}"
        )
    return codes


def new_labels(y: NDArray[Any], classes: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """(labels that are not among the classes, positions in them; those of the classes come after the last)."""
    fresh = classes[_places(y, classes)] != y
    if not fresh.any():
        raise ValueError("add_classes needs rows of classes that are not in classes_ yet; all labels are known")
    new, places = np.unique(y[fresh], return_inverse=True)
    codes = np.full(len(y), len(new), np.int32)
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
    """Numbers are never among strings, nor strings among numbers."""
    if _is_number(y) != _is_number(classes):
        raise ValueError(f"labels must be of the kind of the classes, {classes.dtype}; got {y.dtype}")


def _places(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int32]:
    # In the dtype of the classes: integers of two widths would meet in float64, which cannot tell large ones apart.
    places = np.searchsorted(classes, y.astype(classes.dtype))
    return np.minimum(places, len(classes) - 1).astype(np.int32)


def _is_number(labels: NDArray[Any]) -> bool:
    return labels.dtype.kind in "fiub"


def _refuse_single(classes: NDArray[Any]) -> None:
    if len(classes) < 2:
        raise ValueError(f"y must hold at least two classes; got 1 class, {classes.tolist()[0]!r}")
