"""From labels to positions in `classes_`, and from weights of classes to weights of examples."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_y, check_consistent_length, column_or_1d


def encode_labels(y: Any, n: int) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """(classes, positions of the labels in them), for n rows."""
    y = _labels(y, n)
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y must hold at least two classes; got 1 class, {classes[0]!r}")
    return classes, codes.astype(np.int32)


def known_labels(y: Any, classes: NDArray[Any], n: int) -> NDArray[np.int32]:
    """Positions of labels in classes that are sorted; refuses others."""
    y = _labels(y, n)
    codes: NDArray[np.int32] = np.minimum(np.searchsorted(classes, y), len(classes) - 1).astype(np.int32)
    wrong = np.flatnonzero(classes[codes] != y)
    if len(wrong):
        raise ValueError(f"labels must be among the {len(classes)} classes; got {y[wrong[0]]!r} at row {wrong[0]}")
    return codes


def _labels(y: Any, n: int) -> NDArray[Any]:
    if y is None:
        raise ValueError("this classifier requires y to be passed, but the target y is None")
    y = column_or_1d(y, warn=True)
    if y.dtype.kind == "f":
        y = _check_y(y)
    if len(y) != n:
        raise ValueError(f"y must have one label per row of X ({n}); got {len(y)}, inconsistent numbers of samples")
    return y  # type: ignore[no-any-return]


def example_weights(
    codes: NDArray[np.int32], classes: NDArray[Any], class_weight: Any, sample_weight: Any
) -> NDArray[np.float32]:
    """The weight of every example: that of its class times its own."""
    weights = np.ones(len(codes), np.float32)
    if class_weight is not None:
        positions = np.arange(len(classes))
        named = class_weight
        if isinstance(class_weight, dict):
            named = {
                int(np.flatnonzero(classes == label)[0]): w for label, w in class_weight.items() if label in classes
            }
        weights *= compute_class_weight(named, classes=positions, y=codes)[codes]
    if sample_weight is not None:
        sample_weight = np.asarray(sample_weight, np.float64)
        if sample_weight.ndim == 0:
            sample_weight = np.full(len(codes), sample_weight)
        check_consistent_length(codes, sample_weight)
        wrong = ~np.isfinite(sample_weight) | (sample_weight < 0)
        if wrong.any():
            raise ValueError(
                f"sample_weight must hold numbers, at least 0; row {int(np.flatnonzero(wrong)[0])} does not"
            )
        weights *= sample_weight.astype(np.float32)
    return weights
