"""What an evaluation says of rows with several labels: F1, average precision, precision at k, and every class."""

from typing import TYPE_CHECKING, Any

import numpy as np

from manyclass._core.label_lists import LabelLists
from manyclass._core.typing import Report
from manyclass.evaluation.multilabel import (
    f1_score,
    label_precision_at,
    label_precisions,
    label_propensities,
)

if TYPE_CHECKING:
    from manyclass.datasets.dataset import Dataset

_BLOCK = 1 << 22  # scores that are made at a time

_MOST_SCORES = 1 << 27  # that average precision may hold, which needs all of a class

_TOP = (1, 3, 5)


def evaluate_several_labels(
    model: Any, examples: "Dataset", lists: list[list[str]], sizes: dict[str, int] | None, n: int | None, report: Report
) -> dict[str, Any]:
    """The numbers of a record; `sizes` says how many of n training rows have each label, for propensities."""
    k, places = len(model.classes_), {str(label): place for place, label in enumerate(model.classes_.tolist())}
    rows = np.repeat(np.arange(len(lists)), [len(labels) for labels in lists])
    truth = LabelLists.of_pairs(rows, [places[label] for labels in lists for label in labels], len(lists))
    found, top = [], []
    step, total = max(1, _BLOCK // k), len(lists)
    for start in range(0, total, step):
        X = examples.X.row_slice(slice(start, min(total, start + step)))
        found.append(model.predict_lists(X))
        top.append(np.vectorize(places.__getitem__)(model.predict_top(X, max(_TOP)).astype(str)))
        report(min(total, start + step), total)
    guess, best = LabelLists.join(found), np.concatenate(top)
    ap = _average_precisions(model, examples, truth)
    present = truth.sizes(k)
    hits = _hits(truth, guess, k)
    propensities = None if sizes is None or not n else label_propensities(_in_order(sizes, model.classes_), n)
    at = [one for one in _TOP if one <= best.shape[1]]
    return {
        "top_1": label_precision_at(truth, best, 1),
        "top_5": None,
        "mean_per_class": float(np.mean(hits[present > 0] / present[present > 0])) if present.any() else None,
        "per_class": [
            {"class": str(label), "rows": int(present[c]), "right": int(hits[c]), "accuracy": hits[c] / present[c]}
            for c, label in enumerate(model.classes_.tolist())
            if present[c]
        ],
        "confusions": [],
        "mistakes": [],
        "calibration": None,
        "sets": None,
        "examples": [],
        "multilabel": {
            "labels_per_row": float(truth.counts.mean()),
            "predicted_per_row": float(guess.counts.mean()),
            **{f"{average}_f1": f1_score(truth, guess, average, k) for average in ("micro", "macro", "samples")},
            "all_right": float(((truth.hits(guess) == truth.counts) & (truth.counts == guess.counts)).mean()),
            "mean_average_precision": None if ap is None else float(np.nanmean(ap)),
            "precision_at": [{"k": one, "precision": label_precision_at(truth, best, one)} for one in at],
            "propensity_scored": []
            if propensities is None
            else [{"k": one, "precision": label_precision_at(truth, best, one, propensities)} for one in at],
        },
    }


def _hits(truth: LabelLists, guess: LabelLists, k: int) -> Any:
    """How many rows of each class have it predicted (k,)."""
    kept = np.isin(truth.rows * k + truth.classes, guess.rows * k + guess.classes)
    return np.bincount(truth.classes[kept], minlength=k)


def _in_order(sizes: dict[str, int], classes: Any) -> list[int]:
    return [sizes.get(str(label), 0) for label in classes.tolist()]


def _average_precisions(model: Any, examples: "Dataset", truth: LabelLists) -> Any:
    """Of every class (k,); None where all scores are too many to hold."""
    k = len(model.classes_)
    if len(truth) * k > _MOST_SCORES or not len(truth.classes):
        return None
    return label_precisions(truth, np.asarray(model.decision_function(examples.X), np.float32))
