"""Weights of classes and of samples, and what is refused."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.estimators.validation import example_weights
from tests.estimators.problems import blobs

X, Y = blobs(k=4)
CODES = np.array([0, 0, 0, 1], np.int32)
CLASSES = np.array(["a", "b"])


@pytest.mark.parametrize(
    ("class_weight", "sample_weight", "weights"),
    [
        (None, None, [1, 1, 1, 1]),
        (None, [1, 2, 0, 4], [1, 2, 0, 4]),
        (None, 3.0, [3, 3, 3, 3]),
        ("balanced", None, [2 / 3, 2 / 3, 2 / 3, 2]),
        ({"b": 5}, None, [1, 1, 1, 5]),
        ({"a": 2, "b": 0}, [1, 2, 3, 4], [2, 4, 6, 0]),
    ],
)
def test_the_weight_of_an_example_is_that_of_its_class_times_its_own(class_weight, sample_weight, weights):
    np.testing.assert_allclose(example_weights(CODES, CLASSES, class_weight, sample_weight), weights, rtol=1e-6)


@pytest.mark.parametrize(
    ("class_weight", "sample_weight", "words"),
    [
        ({"c": 1}, None, "class_weight must name classes of y; got 'c', which is none of them"),
        ({"a": -1}, None, "class_weight must hold numbers, at least 0, that float32 can hold; got -1 for 'a'"),
        ({"a": np.nan}, None, "class_weight must hold numbers"),
        ({"a": 1e39}, None, r"class_weight must hold numbers.*; got 1e\+39 for 'a'"),
        ({"a": "1"}, None, "class_weight must hold numbers.*; got '1' for 'a'"),
        ({"a": 1e-50, "b": 1e-50}, None, "must leave an example whose weight is not zero"),
        ({"a": 1e30}, 1e30, "class_weight times sample_weight must be numbers.*; row 0 has more"),
        (None, [1, 1, -1, 1], "sample_weight must hold numbers, at least 0, that float32 can hold; got -1 at row 2"),
        (None, [1, 1, -1e-50, 1], "sample_weight must hold numbers.*; got -1e-50 at row 2"),
        (None, [1, np.inf, 1, 1], "sample_weight must hold numbers.*; got inf at row 1"),
        (None, [1, 1, 1, 1e39], r"sample_weight must hold numbers.*; got 1e\+39 at row 3"),
        (None, 1e-50, "must leave an example whose weight is not zero"),
        (None, [1, 1], "inconsistent numbers of samples"),
        (None, np.ones((4, 1)), r"sample_weight must be a vector; got shape \(4, 1\)"),
        (None, np.zeros(4), "must leave an example whose weight is not zero"),
        ({"a": 0, "b": 0}, None, "must leave an example whose weight is not zero"),
    ],
)
def test_weights_that_cannot_be_are_refused(class_weight, sample_weight, words):
    with pytest.raises(ValueError, match=words):
        example_weights(CODES, CLASSES, class_weight, sample_weight)


@pytest.mark.parametrize(("weight", "words"), [(1e-50, "weight is not zero"), (1e39, "sample_weight must hold")])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_weights_that_float32_makes_zero_or_infinity_are_refused_where_they_are_given(method, weight, words):
    more = {"classes": range(4)} if method == "partial_fit" else {}
    with pytest.raises(ValueError, match=words):
        getattr(mc.StochasticClassifier(), method)(X, Y, sample_weight=weight, **more)


@pytest.mark.parametrize("objective", ["ovr", "multiclass", "ranking", "warp", "softmax"])
def test_an_example_of_weight_zero_is_as_good_as_absent(objective):
    weights = (np.arange(len(Y)) % 3 > 0).astype(float)
    kept = weights > 0
    with_zeros = mc.StochasticClassifier(objective, random_state=0).fit(X, Y, sample_weight=weights)
    without = mc.StochasticClassifier(objective, random_state=0).fit(X[kept], Y[kept])
    np.testing.assert_array_equal(with_zeros.coef_, without.coef_)


def test_a_class_of_weight_zero_is_never_a_positive():
    model = mc.StochasticClassifier(class_weight={2: 0}, random_state=0).fit(X, Y)
    assert 2 in model.classes_
    assert 2 not in model.predict(X)


def test_balanced_weights_are_refused_for_batches():
    with pytest.raises(ValueError, match="class_weight='balanced' needs all labels at once"):
        mc.StochasticClassifier(class_weight="balanced").partial_fit(X, Y, classes=range(4))
