"""From scores to classes."""

import numpy as np
import pytest

import manyclass as mc
from tests.estimators.problems import blobs

X, Y = blobs(k=7)


@pytest.fixture(scope="module")
def model():
    return mc.StochasticClassifier(max_epochs=4, random_state=0).fit(X, Y)


def test_scores_are_those_of_coef_and_intercept(model):
    np.testing.assert_allclose(model.decision_function(X), X @ model.coef_.T + model.intercept_, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("k", [1, 2, 5, 7])
def test_the_best_classes_come_first(model, k):
    best = np.argsort(-model.decision_function(X), axis=1)[:, :k]
    np.testing.assert_array_equal(model.predict_top(X, k), model.classes_[best])


def test_the_best_class_is_the_prediction(model):
    np.testing.assert_array_equal(model.predict_top(X, 3)[:, 0], model.predict(X))


def test_more_classes_than_there_are_means_all(model):
    assert model.predict_top(X, 100).shape == (len(X), 7)


@pytest.mark.parametrize("k", [1, 3, 7])
def test_of_classes_with_equal_scores_the_first_comes_first(model, k):
    tied = mc.StochasticClassifier()
    tied.classes_, tied.n_features_in_ = np.array(list("abcdefg")), 8
    tied.coef_, tied.intercept_ = np.zeros((7, 8), np.float32), np.array([0, 1, 0, 1, 1, 0, 0], np.float32)
    assert "".join(tied.predict_top(X, k)[0]) == "bdeacfg"[:k]


@pytest.mark.parametrize("k", [0, -1, 2.5])
def test_a_number_of_classes_that_cannot_be_is_refused(model, k):
    with pytest.raises(ValueError, match="k must be a whole number, at least 1"):
        model.predict_top(X, k)


@pytest.mark.parametrize("method", ["predict", "decision_function", "predict_top"])
def test_a_classifier_that_is_not_fitted_says_so(method):
    with pytest.raises(ValueError, match="not fitted yet"):
        getattr(mc.StochasticClassifier(), method)(X)
