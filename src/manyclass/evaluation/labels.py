"""Labels as evaluations take them: vectors of numbers or strings."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyclass._core.checks import check_finite, check_length


def as_labels(values: ArrayLike, name: str) -> NDArray[Any]:
    """A vector of numbers or strings, at least one of them."""
    labels = np.asarray(values)
    if labels.dtype.kind == "O" and all(isinstance(label, str) for label in labels.flat):
        labels = labels.astype(np.str_)
    if labels.ndim != 1 or not len(labels):
        raise ValueError(f"{name} must be a vector with at least one label; got shape {labels.shape}")
    if labels.dtype.kind not in "iubfU":
        raise ValueError(f"{name} must hold numbers or strings; got dtype {labels.dtype}")
    check_finite(labels, name)
    return labels


def as_pair(y: ArrayLike, predicted: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    """True and predicted labels, as many and of the same kind."""
    truth, guess = as_labels(y, "y"), as_labels(predicted, "predicted")
    check_length(guess, len(truth), "predicted", "y")
    check_same_kind(guess, truth, "predicted")
    return truth, guess


def label_positions(y: ArrayLike, classes: ArrayLike | None, n_classes: int) -> NDArray[np.intp]:
    """Where in classes every label is; without classes, the labels are such positions already."""
    labels = as_labels(y, "y")
    if classes is not None:
        return _find_positions(labels, as_labels(classes, "classes"), n_classes)
    if labels.dtype.kind not in "iu":
        raise ValueError(f"y must hold integers where classes is not given; got dtype {labels.dtype}")
    _check_rows((labels < 0) | (labels >= n_classes), labels, f"y must hold integers in [0, {n_classes})")
    return labels.astype(np.intp, copy=False)


def _find_positions(labels: NDArray[Any], classes: NDArray[Any], n_classes: int) -> NDArray[np.intp]:
    if len(classes) != n_classes:
        raise ValueError(f"classes must have one label per column of scores ({n_classes}); got {len(classes)}")
    check_same_kind(classes, labels, "classes")
    order = np.argsort(classes, kind="stable")
    ranked = classes[order]
    again = np.flatnonzero(ranked[1:] == ranked[:-1])
    if len(again):
        raise ValueError(f"classes must hold every label once; got {ranked[again[0]].item()!r} twice")
    found: NDArray[np.intp] = order[np.minimum(np.searchsorted(ranked, labels), n_classes - 1)]
    _check_rows(classes[found] != labels, labels, "y must hold labels that are in classes")
    return found


def check_same_kind(labels: NDArray[Any], others: NDArray[Any], name: str, name_of_others: str = "y") -> None:
    """Refuse to compare strings with numbers."""
    if (labels.dtype.kind == "U") != (others.dtype.kind == "U"):
        raise ValueError(
            f"{name} must hold labels of the same kind as {name_of_others}, {others.dtype}; got dtype {labels.dtype}"
        )


def _check_rows(wrong: NDArray[np.bool_], labels: NDArray[Any], rule: str) -> None:
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(f"{rule}; got {labels[row].item()!r} at row {row}")
