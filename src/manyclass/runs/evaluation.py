"""A classifier against labels: shares that are right, classes, confusions, and rows that show them."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.typing import Report
from manyclass.data.views import RowSelection
from manyclass.evaluation import confusions
from manyclass.runs.subsets import Subset

if TYPE_CHECKING:
    from manyclass.estimators.linear_model import LinearModel

_TOP = 5

_PAIRS, _CLASSES, _ROWS = 30, 6, 8  # confusions, best and worst classes, and rows to show of each

_BLOCK = 4096


def evaluate_model(model: "LinearModel", examples: Subset, report: Report) -> dict[str, Any]:
    """What a record of an evaluation says of the predictions."""
    y = np.asarray(examples.y)
    y = y.astype(np.str_) if model.classes_.dtype.kind == "U" else y
    top = top_labels(model, examples, report)
    right = top[:, 0] == y
    classes = _per_class(y, right)
    shown = sorted(classes, key=lambda one: (one["accuracy"], -one["rows"]))
    chosen = shown[:_CLASSES] + shown[_CLASSES:][-_CLASSES:]
    return {
        "top_1": float(right.mean()),
        "top_5": float((top == y[:, None]).any(axis=1).mean()),
        "mean_per_class": float(np.mean([one["accuracy"] for one in classes])),
        "per_class": [{**one, "class": str(one["class"])} for one in classes],
        "confusions": _confusions(examples, y, top[:, 0]),
        "examples": [_examples(model, examples, one["class"], y, top[:, 0]) for one in chosen],
    }


def top_labels(model: "LinearModel", examples: Subset, report: Report) -> NDArray[Any]:
    """The five classes of highest score for every row (n, 5), some rows at a time."""
    n = examples.X.shape[0]
    found = []
    for start in range(0, n, _BLOCK):
        found.append(model.predict_top(examples.X.part(slice(start, start + _BLOCK)), _TOP))
        report(min(n, start + _BLOCK), n)
    return np.concatenate(found)


def _per_class(y: NDArray[Any], right: NDArray[np.bool_]) -> list[dict[str, Any]]:
    labels, codes = np.unique(y, return_inverse=True)
    counts, hits = np.bincount(codes).tolist(), np.bincount(codes[right], minlength=len(labels)).tolist()
    return [
        {"class": label, "rows": rows, "right": hit, "accuracy": hit / rows}
        for label, rows, hit in zip(labels.tolist(), counts, hits, strict=True)
    ]


def _confusions(examples: Subset, y: NDArray[Any], predicted: NDArray[Any]) -> list[dict[str, Any]]:
    return [
        {
            "class": str(pair.truth),
            "predicted": str(pair.predicted),
            "count": pair.times,
            "examples": _names(examples, np.flatnonzero((y == pair.truth) & (predicted == pair.predicted))),
        }
        for pair in confusions(y, predicted, _PAIRS)
    ]


def _examples(
    model: "LinearModel", examples: Subset, label: Any, y: NDArray[Any], predicted: NDArray[Any]
) -> dict[str, Any]:
    """Rows of a class that are right, the most confident first, and rows that are wrong."""
    of_class = np.flatnonzero(y == label)
    right = of_class[predicted[of_class] == label]
    wrong = of_class[predicted[of_class] != label][:_ROWS]
    surest = right[np.argsort(-_margins(model, examples, right), kind="stable")] if len(right) else right
    mistakes = [{"name": examples.names[row], "predicted": str(predicted[row])} for row in wrong]
    return {"class": str(label), "right": _names(examples, surest), "wrong": mistakes}


def _margins(model: "LinearModel", examples: Subset, rows: NDArray[np.intp]) -> NDArray[Any]:
    """By how much the best class is ahead of the next."""
    S = model.decision_function(RowSelection(examples.X, rows))
    if S.ndim == 1:
        return np.abs(S)
    two = np.partition(S, -2, axis=1)[:, -2:]
    margins: NDArray[Any] = two[:, 1] - two[:, 0]
    return margins


def _names(examples: Subset, rows: NDArray[np.intp]) -> list[str]:
    return [examples.names[row] for row in rows[:_ROWS]]
