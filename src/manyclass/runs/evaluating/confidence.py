"""What an evaluation says of how sure a classifier is: probabilities beside accuracy, and sets of classes."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from manyclass.datasets.dataset import Dataset
from manyclass.evaluation.reliability import expected_calibration_error, reliability_curve, set_coverage

if TYPE_CHECKING:
    from manyclass.estimators.linear_model import LinearModel

COVERAGES = (0.9, 0.95)

_SCORES, _LEAST = 1 << 24, 2000  # scores that are looked at, and rows where classes are very many

_AT_ONCE = 1 << 22  # scores that are held


def confidence_record(model: "LinearModel", examples: Dataset, y: NDArray[Any]) -> dict[str, Any]:
    """`calibration` and `sets` of a record, for rows with labels y (n,); None where the classifier has neither.

    Of many rows and classes, a sample of the rows is looked at.
    """
    if not hasattr(model, "predict_proba"):
        return {"calibration": None, "sets": None}
    k = len(model.classes_)
    most = max(_LEAST, _SCORES // k)
    rows = np.sort(np.random.default_rng(0).permutation(len(y))[:most])
    parts = [rows[start : start + max(1, _AT_ONCE // k)] for start in range(0, len(rows), max(1, _AT_ONCE // k))]
    return {
        "calibration": _calibration(model, examples, y, parts),
        "sets": _sets(model, examples, y, parts) if hasattr(model, "predict_set") else None,
    }


def _calibration(model: Any, examples: Dataset, y: NDArray[Any], parts: list[NDArray[np.intp]]) -> dict[str, Any]:
    """How far the probability of the best class is from how often it is right."""
    right, sure = [], []
    for rows in parts:
        P = model.predict_proba(examples.take(rows).X)
        right.append(model.classes_[P.argmax(axis=1)] == y[rows])
        sure.append(P.max(axis=1))
    hits, said = np.concatenate(right), np.concatenate(sure).astype(np.float64)
    return {
        "rows": len(hits),
        "accuracy": float(hits.mean()),
        "probability": min(1.0, float(said.mean())),
        "error": expected_calibration_error(hits, said)._asdict(),
        "bins": [one._asdict() for one in reliability_curve(hits, said)],
    }


def _sets(model: Any, examples: Dataset, y: NDArray[Any], parts: list[NDArray[np.intp]]) -> list[dict[str, Any]]:
    """How often sets hold the right class, and how large they are, for every coverage that is promised."""
    found = []
    for coverage in COVERAGES:
        sets = [one for rows in parts for one in model.predict_set(examples.take(rows).X, coverage)]
        about = set_coverage(y[np.concatenate(parts)], sets)
        found.append({"promised": coverage, **about._asdict()})
    return found
