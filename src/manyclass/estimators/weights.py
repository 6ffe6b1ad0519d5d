"""From weights of classes and of samples to weights of examples."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_consistent_length


def example_weights(
    codes: NDArray[np.int32], classes: NDArray[Any], class_weight: Any, sample_weight: Any
) -> NDArray[np.float32]:
    """The weight of every example, that of its class times its own; one of them at least is above 0."""
    weights = np.ones(len(codes))
    if class_weight is not None:
        weights *= _of_classes(codes, classes, class_weight)[codes]
    if sample_weight is not None:
        weights *= _of_samples(sample_weight, codes)
    if not (weights > 0).any():
        raise ValueError("sample_weight and class_weight must leave an example whose weight is not zero; all are")
    return weights.astype(np.float32)


def _of_classes(codes: NDArray[np.int32], classes: NDArray[Any], class_weight: Any) -> NDArray[np.float64]:
    if not isinstance(class_weight, dict):
        weights: NDArray[np.float64] = compute_class_weight(class_weight, classes=np.arange(len(classes)), y=codes)
        return weights
    places = {label: place for place, label in enumerate(classes.tolist())}
    weights = np.ones(len(classes))
    for label, weight in class_weight.items():
        if label not in places:
            raise ValueError(f"class_weight must name classes of y; got {label!r}, which is none of them")
        if not 0 <= weight < np.inf:
            raise ValueError(f"class_weight must hold numbers, at least 0; got {weight!r} for {label!r}")
        weights[places[label]] = weight
    return weights


def _of_samples(sample_weight: Any, codes: NDArray[np.int32]) -> NDArray[np.float64]:
    sample_weight = np.asarray(sample_weight, np.float64)
    if sample_weight.ndim == 0:
        sample_weight = np.full(len(codes), sample_weight)
    if sample_weight.ndim != 1:
        raise ValueError(f"sample_weight must be a vector; got shape {sample_weight.shape}")
    check_consistent_length(codes, sample_weight)
    wrong = ~np.isfinite(sample_weight) | (sample_weight < 0)
    if wrong.any():
        raise ValueError(f"sample_weight must hold numbers, at least 0; row {int(np.flatnonzero(wrong)[0])} does not")
    return sample_weight  # type: ignore[no-any-return]
