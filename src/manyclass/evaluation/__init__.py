"""How good predictions are: arrays in, numbers out, with NumPy alone."""

from manyclass.evaluation.classification import Confusion, accuracy, class_accuracies, confusions, top_k_accuracy

__all__ = ["Confusion", "accuracy", "class_accuracies", "confusions", "top_k_accuracy"]
