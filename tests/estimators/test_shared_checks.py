"""scikit-learn's own checks of the estimators that share structure."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import manyclass as mc

OPTIMUM = "the optimum is the same, but each is found to a tolerance, and the check wants seven digits"
BIAS = "without a bias no linear classifier can prefer a class everywhere, as the check wants"
SYMMETRIC = "the Gram matrix of the check is not symmetric, and refused before the labels are looked at"

ESTIMATORS = [
    mc.SharedStructureClassifier(),
    mc.SharedStructureClassifier("rbf"),
    mc.SharedStructureClassifier("poly", penalty="frobenius"),
    mc.SharedStructureClassifier("precomputed"),
    mc.MultiTaskTraceNorm(missing_label=None),
    mc.MultiTaskTraceNorm("rbf", missing_label=None),
]


def expected_failures(estimator):
    failures = {
        "check_sample_weight_equivalence_on_dense_data": OPTIMUM,
        "check_sample_weight_equivalence_on_sparse_data": OPTIMUM,
    }
    if estimator.kernel in ("linear", "precomputed"):
        failures["check_class_weight_classifiers"] = BIAS
    if estimator.kernel == "precomputed":
        failures["check_classifiers_one_label_sample_weights"] = SYMMETRIC
    return failures


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_finds_nothing_to_complain_about(estimator, check):
    check(estimator)
