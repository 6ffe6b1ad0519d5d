"""How good predictions and rankings are: arrays in, numbers out, with NumPy alone."""

from manyclass.evaluation.bootstrap import Comparison, paired_bootstrap
from manyclass.evaluation.classification import Confusion, accuracy, class_accuracies, confusions, top_k_accuracy
from manyclass.evaluation.ground_truth import Query, Truth
from manyclass.evaluation.ground_truth_files import read_truth
from manyclass.evaluation.ranking import (
    average_precision,
    average_precisions,
    mean_average_precision,
    mean_precision_at,
    precision_at,
)

__all__ = [
    "Comparison",
    "Confusion",
    "Query",
    "Truth",
    "accuracy",
    "average_precision",
    "average_precisions",
    "class_accuracies",
    "confusions",
    "mean_average_precision",
    "mean_precision_at",
    "paired_bootstrap",
    "precision_at",
    "read_truth",
    "top_k_accuracy",
]
