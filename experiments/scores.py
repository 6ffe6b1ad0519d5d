"""The objectives by the names of the paper, and how well one of them does."""

from typing import Any

import manyclass as mc
from experiments.sources import Split

OBJECTIVES: dict[str, dict[str, Any]] = {
    "u-OVR": {"objective": "ovr", "beta": None},
    "w-OVR": {"objective": "ovr"},
    "MUL": {"objective": "multiclass"},
    "RNK": {"objective": "ranking"},
    "WAR": {"objective": "warp"},
    "softmax": {"objective": "softmax"},
}


def accuracies(split: Split, seed: int = 0, **settings: Any) -> tuple[float, float]:
    """Top-1 and top-5 test accuracy, mean over classes, of a classifier with these settings."""
    fitted = mc.StochasticClassifier(random_state=seed, **settings).fit(split.X, split.y)
    S = fitted.decision_function(split.X_test)
    return mc.evaluation.top_k_accuracy(split.y_test, S, 1), mc.evaluation.top_k_accuracy(split.y_test, S, 5)
