"""From weights of classes and of samples to weights of examples."""

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_consistent_length

Weights = NDArray[np.float32]
_RULE = "numbers, at least 0, that float32 can hold"


def example_weights(codes: NDArray[np.int32], classes: NDArray[Any], class_weight: Any, sample_weight: Any) -> Weights:
    """The weight of every example, that of its class times its own; one of them at least is above 0."""
    weights = np.ones(len(codes), np.float32)
    # What is used is float32, so that is what is judged: there 1e-50 is zero, and 1e39 infinity.
    with np.errstate(over="ignore"):
        if class_weight is not None:
            weights *= _of_classes(codes, classes, class_weight)[codes]
        if sample_weight is not None:
            weights *= _of_samples(sample_weight, codes)
    for row in np.flatnonzero(~np.isfinite(weights))[:1]:
        raise ValueError(f"class_weight times sample_weight must be {_RULE}; row {row} has more")
    if not (weights > 0).any():
        raise ValueError("sample_weight and class_weight must leave at least one example of positive weight; got none")
    return weights


def _of_classes(codes: NDArray[np.int32], classes: NDArray[Any], class_weight: Any) -> Weights:
    if not isinstance(class_weight, dict):
        weights = compute_class_weight(class_weight, classes=np.arange(len(classes)), y=codes)
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


def _of_samples(sample_weight: Any, codes: NDArray[np.int32]) -> Weights:
    sample_weight = np.asarray(sample_weight, np.float64)
    if sample_weight.ndim == 0:
        sample_weight = np.full(len(codes), sample_weight)
    if sample_weight.ndim != 1:
        raise ValueError(f"sample_weight must be a vector; got shape {sample_weight.shape}")
    check_consistent_length(codes, sample_weight)
    weights: Weights = sample_weight.astype(np.float32)
    for row in np.flatnonzero(~np.isfinite(weights) | (sample_weight < 0))[:1]:
        raise ValueError(f"sample_weight must hold {_RULE}; got {sample_weight[row]:g} at row {row}")
    return weights
