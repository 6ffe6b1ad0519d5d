"""Evaluation: how good predictions and rankings are. Arrays in, numbers out, with NumPy alone.

    classification          accuracy with many classes: top-k, per class, confusions
    hierarchy               answers that are nodes of a tree: right, how deep, at which depth
    class_sizes             accuracy_by_class_size, on classes of many, medium and few examples
    reliability             whether probabilities and sets of classes hold what they say
    detection               how well scores tell known from unknown
    ranking                 average precision and precision at k
    multilabel              rows with several labels: F1, average precision of classes, precision at k
    bootstrap               paired_bootstrap, whether one method is better than another
    proportions             intervals of shares and of their differences, and what chance gives
    protocols               what counts as right by the rules of Holidays, Oxford and the revisited sets
    ground_truth            Truth and Query, which images are right for which query
    ground_truth_files      read_truth, ground truth as its authors published it
    ground_truth_records    the record that .mat files and pickles hold
    mat_files               the few types of MATLAB's files that ground truth has
    labels                  labels as evaluations take them

Nothing here knows a model: labels, predictions and scores are arrays.
"""

from manyclass._core.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "CalibrationError": "reliability",
        "Comparison": "bootstrap",
        "Confusion": "classification",
        "Query": "ground_truth",
        "ReliabilityBin": "reliability",
        "SetCoverage": "reliability",
        "SizeGroup": "class_sizes",
        "Truth": "ground_truth",
        "accuracy": "classification",
        "accuracy_by_class_size": "class_sizes",
        "auroc": "detection",
        "average_precision": "ranking",
        "average_precisions": "ranking",
        "class_accuracies": "classification",
        "confusions": "classification",
        "hierarchical_scores": "hierarchy",
        "expected_calibration_error": "reliability",
        "f1_score": "multilabel",
        "false_positive_rate": "detection",
        "label_precision_at": "multilabel",
        "label_precisions": "multilabel",
        "label_propensities": "multilabel",
        "mean_average_precision": "ranking",
        "mean_label_precision": "multilabel",
        "mean_precision_at": "ranking",
        "paired_bootstrap": "bootstrap",
        "precision_at": "ranking",
        "read_truth": "ground_truth_files",
        "reliability_curve": "reliability",
        "set_coverage": "reliability",
        "top_k_accuracy": "classification",
    },
)
