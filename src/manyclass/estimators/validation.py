"""What estimators are given, checked and made into the problem that solvers take: labels, weights, a validation set.

Labels become positions in the sorted `classes_`, and weights of classes and samples one weight for every example.
"""

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from manyclass._core.checks import check_positive
from manyclass._core.typing import Doubles, Singles
from manyclass.data.inputs import open_examples, read_examples, remember_scale
from manyclass.data.matrix import Matrix
from manyclass.solvers.problem import Problem


def make_problem(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Problem:
    """The examples whose weight is above 0; the estimator learns its classes and columns."""
    matrix = read_examples(estimator, X, reset=True)
    estimator.classes_, indices = encode_labels(y, matrix.shape[0])
    remember_scale(estimator, matrix)  # what does harm may hang on the number of classes
    return weighted_problem(estimator, matrix, indices, sample_weight)


def weighted_problem(estimator: Any, matrix: Matrix, indices: NDArray[np.int32], sample_weight: Any) -> Problem:
    """The examples whose weight is above 0, with labels as positions in the classes of the estimator."""
    weights = example_weights(indices, estimator.classes_, estimator.class_weight, sample_weight)
    return Problem.whole(matrix, indices, len(estimator.classes_), weights).part(np.flatnonzero(weights > 0))


def validation_problem(estimator: Any, validation: Any, name: str = "validation") -> Problem:
    """(X, y), with the columns and classes of the estimator, as a problem; errors speak of it by its name."""
    if not isinstance(validation, tuple | list) or len(validation) != 2:
        size = f" of {len(validation)}" if isinstance(validation, tuple | list) else ""
        raise ValueError(f"{name} must be (X, y); got {type(validation).__name__}{size}")
    X, y = validation
    try:
        matrix = open_examples(estimator, X)
        if hasattr(estimator, "label_form_"):
            return Problem.of_lists(matrix, estimator._encode_known(y, len(matrix)), len(estimator.classes_))
        indices = encode_known_labels(y, estimator.classes_, len(matrix))
    except (ValueError, TypeError) as error:
        raise type(error)(f"{name} must be (X, y) like those of fit: {error}") from error
    return Problem.whole(matrix, indices, len(estimator.classes_))


def encode_labels(y: Any, n: int) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """(classes, positions of the labels in them), for n rows."""
    y = check_labels(y, n)
    classes, indices = np.unique(y, return_inverse=True)
    _check_two_classes(classes)
    return classes, indices.astype(np.int32)


def check_classes(classes: Any) -> NDArray[Any]:
    """The classes of all data to come, sorted."""
    found: NDArray[Any] = np.unique(check_labels(classes, len(classes)))
    _check_two_classes(found)
    return found


def encode_known_labels(y: Any, classes: NDArray[Any], n: int) -> NDArray[np.int32]:
    """Positions of labels in classes that are sorted; refuses others."""
    y = check_labels(y, n)
    check_same_kind(y, classes)
    labels, same = _cast(y, classes)
    indices = _places(labels, classes)
    wrong = np.flatnonzero(~same | (classes[indices] != labels))
    if len(wrong):
        raise ValueError(
            f"labels must be among the {len(classes)} classes; got {y.tolist()[wrong[0]]!r} at row {wrong[0]}"
        )
    return indices


def encode_new_labels(y: NDArray[Any], classes: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """(labels that are not among the classes, positions in them; those of the classes come after the last).

    The new ones are of the dtype of the classes, and exactly the labels that were given; text may be longer.
    """
    check_same_kind(y, classes)
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
    indices = np.full(len(labels), len(new), np.int32)
    indices[fresh] = places
    return new, indices


def check_labels(y: Any, n: int) -> NDArray[Any]:
    """Labels as a vector with one for each of n rows."""
    if y is None:
        raise ValueError("this classifier requires y to be passed, but the target y is None")
    y = column_or_1d(y, warn=True)
    if len(y) != n:
        raise ValueError(f"y must have one label per row of X ({n}); got {len(y)}, inconsistent numbers of samples")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError(f"y contains NaN or infinity, at row {int(np.flatnonzero(~np.isfinite(y))[0])}")
    _check_discrete(y)
    return y  # type: ignore[no-any-return]


def _check_discrete(y: NDArray[Any]) -> None:
    # scikit-learn would warn of many classes with few examples each, which are what we are for.
    if y.dtype.kind == "f" and (y != np.rint(y)).any():
        row = int(np.flatnonzero(y != np.rint(y))[0])
        raise ValueError(
            f"Unknown label type: continuous; labels must be whole numbers; got {y.tolist()[row]!r} at row {row}"
        )
    if y.dtype.kind not in "fiubUS" and not all(isinstance(label, str) for label in y):
        check_classification_targets(y)


def check_same_kind(y: NDArray[Any], classes: NDArray[Any]) -> None:
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


def _check_two_classes(classes: NDArray[Any]) -> None:
    if len(classes) < 2:
        raise ValueError(f"y must hold at least two classes; got 1 class, {classes.tolist()[0]!r}")


_RULE = "numbers, at least 0, that float32 can hold"


def example_weights(
    indices: NDArray[np.int32], classes: NDArray[Any], class_weight: Any, sample_weight: Any
) -> Singles:
    """The weight of every example, that of its class times its own; one of them at least is above 0."""
    weights = np.ones(len(indices), np.float32)
    # What is used is float32, so that is what is judged: there 1e-50 is zero, and 1e39 infinity.
    with np.errstate(over="ignore"):
        if class_weight is not None:
            weights *= _class_weights(indices, classes, class_weight)[indices]
        if sample_weight is not None:
            weights *= _sample_weights(sample_weight, indices)
    for row in np.flatnonzero(~np.isfinite(weights))[:1]:
        raise ValueError(f"class_weight times sample_weight must be {_RULE}; row {row} has more")
    if not (weights > 0).any():
        raise ValueError(
            "sample_weight and class_weight must leave an example whose weight is not zero; all weights are zero"
        )
    return weights


def _class_weights(indices: NDArray[np.int32], classes: NDArray[Any], class_weight: Any) -> Singles:
    if not isinstance(class_weight, dict):
        weights = compute_class_weight(class_weight, classes=np.arange(len(classes)), y=indices)
        return weights.astype(np.float32)  # type: ignore[no-any-return]
    places = {label: place for place, label in enumerate(classes.tolist())}
    weights = np.ones(len(classes), np.float32)
    for label, weight in class_weight.items():
        if label not in places:
            raise ValueError(f"class_weight must name classes of y; got {label!r}, which is none of them")
        if not (isinstance(weight, Real) and np.float32(weight) >= 0 and np.isfinite(np.float32(weight))):
            raise ValueError(f"class_weight must hold {_RULE}; got {weight!r} for {label!r}")
        weights[places[label]] = weight
    return weights


def _sample_weights(sample_weight: Any, indices: NDArray[np.int32]) -> Singles:
    sample_weight = np.asarray(sample_weight, np.float64)
    if sample_weight.ndim == 0:
        sample_weight = np.full(len(indices), sample_weight)
    if sample_weight.ndim != 1:
        raise ValueError(f"sample_weight must be a vector; got shape {sample_weight.shape}")
    check_consistent_length(indices, sample_weight)
    weights: Singles = sample_weight.astype(np.float32)
    for row in np.flatnonzero(~np.isfinite(weights) | (sample_weight < 0))[:1]:
        raise ValueError(f"sample_weight must hold {_RULE}; got {sample_weight[row]:g} at row {row}")
    return weights


def check_strengths(regularization: Any) -> Doubles | None:
    """The strengths to choose from, weakest first; None for those that fit the data."""
    if isinstance(regularization, str) and regularization == "auto":
        return None
    given = np.atleast_1d(np.asarray(regularization, object)).ravel().tolist()
    rule = "'auto', a number above 0, or several"
    if isinstance(regularization, str) or not given:
        raise ValueError(f"regularization must be {rule}; got {regularization!r}")
    return np.unique([check_positive(one, "regularization") for one in given])
