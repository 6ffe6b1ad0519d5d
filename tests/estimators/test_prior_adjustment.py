"""Another prior multiplies probabilities by the ratio of both, in every way of asking, and is forgotten by learning."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import manyclass as mc
from manyclass.estimators.prior_adjustment import as_prior

SIZES = [60, 30, 12, 6, 3]


def long_tail(seed=0, sizes=SIZES, d=12):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    means = np.random.default_rng(7).normal(size=(len(sizes), d))
    return (means[y] + 1.5 * rng.normal(size=(len(y), d))).astype(np.float32), y


X, Y = long_tail()
XT, YT = long_tail(1, [40] * 5)

SOFTMAX = {
    "stochastic softmax": lambda: mc.StochasticClassifier("softmax", max_epochs=5, random_state=0),
    "one-vs-rest": lambda: mc.StochasticClassifier("ovr", max_epochs=5, random_state=0),
    "closed form": lambda: mc.SquareLossClassifier(),
    "batch softmax": lambda: mc.LinearClassifier(penalty=mc.Ridge(1e-2)),
    "trace norm": lambda: mc.TraceNormClassifier(trace=0.05, tolerance=1e-3),
    "calibrated": lambda: mc.LinearClassifier("squared", mc.Ridge(1e-2)),
}
LOGISTIC = {
    "batch logistic": lambda: mc.LinearClassifier("logistic", mc.Ridge(1e-2)),
    "stochastic logistic": lambda: mc.StochasticClassifier("ovr", "logistic", max_epochs=5, random_state=0),
}


def fitted(name):
    clf = {**SOFTMAX, **LOGISTIC}[name]().fit(X, Y)
    return clf.calibrate(XT, YT) if name == "calibrated" else clf


@pytest.mark.parametrize("name", SOFTMAX)
def test_probabilities_are_those_of_training_times_the_ratio_of_the_priors(name):
    clf = fitted(name)
    before = clf.predict_proba(XT).astype(np.float64)
    np.testing.assert_allclose(clf.class_prior_, np.array(SIZES) / sum(SIZES))
    prior = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    # The scores of softmax move by the logarithm of the ratio, of which the temperature then takes its part.
    unit = clf.temperature_ if "softmax" in name and hasattr(clf, "temperature_") else 1.0
    expected = before * ((prior / 15) / clf.class_prior_) ** (1 / unit)
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(clf.set_prior(prior).predict_proba(XT), expected, atol=2e-6)


@pytest.mark.parametrize("name", [*SOFTMAX, *LOGISTIC])
def test_scores_predictions_and_probabilities_agree_and_none_brings_the_bits_back(name):
    clf = fitted(name)
    bias, before = clf.intercept_.copy(), clf.predict(XT)
    P = clf.set_prior("uniform").predict_proba(XT)
    found = clf.predict(XT)
    np.testing.assert_array_equal(clf.classes_[P.argmax(axis=1)], found)
    np.testing.assert_array_equal(clf.classes_[clf.decision_function(XT).argmax(axis=1)], found)
    np.testing.assert_array_equal(clf.predict_top(XT, 2)[:, 0], found)
    # Rare classes are found more often than before.
    assert np.mean(found >= 3) > np.mean(before >= 3) or name == "stochastic logistic"
    clf.set_prior(None)
    np.testing.assert_array_equal(clf.intercept_, bias)
    assert not hasattr(clf, "prior_")


@pytest.mark.parametrize("name", SOFTMAX)
def test_the_prior_of_training_changes_nothing(name):
    clf = fitted(name)
    bias = clf.intercept_.copy()
    np.testing.assert_allclose(clf.set_prior(clf.class_prior_).intercept_, bias, rtol=1e-6, atol=1e-6)


def test_logistic_machines_move_by_the_odds_of_their_class_against_the_rest():
    clf = fitted("batch logistic")
    before, p, q = clf.intercept_.astype(float), np.array(SIZES) / sum(SIZES), np.full(5, 0.2)
    shift = np.log(q / (1 - q)) - np.log(p / (1 - p))
    np.testing.assert_allclose(clf.set_prior("uniform").intercept_, before + shift, rtol=1e-5)


def test_of_two_classes_the_probability_of_a_logistic_machine_is_that_of_bayes():
    keep = Y < 2
    clf = mc.LinearClassifier("logistic", mc.Ridge(1e-2), tolerance=1e-9).fit(X[keep].astype(np.float64), Y[keep])
    odds = clf.predict_proba(XT)[:, 1] / clf.predict_proba(XT)[:, 0]
    p = clf.class_prior_
    new = clf.set_prior({0: 1, 1: 3}).predict_proba(XT)
    np.testing.assert_allclose(new[:, 1] / new[:, 0], odds * 3 * p[0] / p[1], rtol=1e-3)


def test_machines_that_drew_negatives_move_by_the_odds_that_they_saw():
    settings = {"beta": 2.0, "max_epochs": 3, "early_stopping": False, "random_state": 0}
    clf = mc.StochasticClassifier("ovr", "logistic", **settings).fit(X, Y)
    before, n = clf.intercept_.astype(float), np.array(SIZES)
    seen = n / (n + np.minimum(2 * n, n.sum() - n))
    shift = np.log(0.25) - np.log(seen / (1 - seen))
    np.testing.assert_allclose(clf.set_prior("uniform").intercept_, before + shift, rtol=1e-5)


def test_rare_classes_gain_and_rows_as_frequent_as_in_training_lose():
    clf = mc.LinearClassifier(penalty=mc.Ridge(3e-3)).fit(*long_tail(0, [200, 100, 40, 20, 10]))
    Xs, ys = long_tail(3, [2000, 1000, 400, 200, 100])
    even, skewed = mc.evaluation.accuracy(YT, clf.predict(XT)), clf.score(Xs, ys)
    clf.set_prior("uniform")
    assert mc.evaluation.accuracy(YT, clf.predict(XT)) > even + 0.02
    assert clf.score(Xs, ys) < skewed


@pytest.mark.parametrize("settings", [{"class_weight": "balanced"}, {"sampling": "balanced"}])
def test_classes_that_training_made_even_have_an_even_prior(settings):
    clf = mc.StochasticClassifier("softmax", max_epochs=2, random_state=0, **settings).fit(X, Y)
    np.testing.assert_allclose(clf.class_prior_, 0.2, rtol=1e-6)
    np.testing.assert_array_equal(clf.class_counts_, SIZES)


def test_batches_that_are_drawn_evenly_have_an_even_prior():
    clf = mc.StochasticClassifier("softmax", sampling="balanced", random_state=0)
    clf.partial_fit(X[:80], Y[:80], classes=range(5)).partial_fit(X[80:], Y[80:])
    assert set(Y[:80]) == set(Y[80:]) == set(range(5))
    np.testing.assert_allclose(clf.class_prior_, 0.2)
    np.testing.assert_array_equal(clf.class_counts_, SIZES)


def test_weights_of_rows_count():
    weight = np.where(Y == 4, 10.0, 1.0)
    clf = mc.SquareLossClassifier(0.1).fit(X, Y, sample_weight=weight)
    np.testing.assert_allclose(clf.class_prior_, np.bincount(Y, weight) / weight.sum())


@pytest.mark.parametrize("name", [*SOFTMAX, *LOGISTIC])
def test_a_file_keeps_the_prior_and_what_was_before(name, tmp_path):
    clf = fitted(name)
    before = clf.decision_function(XT)
    clf.set_prior("uniform").save(tmp_path / "model")
    again = mc.load(tmp_path / "model")
    np.testing.assert_array_equal(again.decision_function(XT), clf.decision_function(XT))
    np.testing.assert_array_equal(again.set_prior(None).decision_function(XT), before)


@pytest.mark.parametrize("name", ["prior_", "trained_intercept_", "class_counts_", "class_weights_"])
def test_a_file_with_too_few_numbers_is_refused(name, tmp_path):
    clf = fitted("closed form").set_prior("uniform")
    setattr(clf, name, getattr(clf, name)[:3])
    clf.save(tmp_path / "model")
    with pytest.raises(ValueError, match=f"{name} must have shape"):
        mc.load(tmp_path / "model")


def test_calibrate_keeps_the_prior_and_sees_the_scores_of_training():
    plain, clf = fitted("one-vs-rest"), fitted("one-vs-rest").set_prior("uniform")
    plain.calibrate(*long_tail(2))
    clf.calibrate(*long_tail(2))
    assert clf.temperature_ == plain.temperature_
    np.testing.assert_array_equal(clf.intercept_, plain.set_prior("uniform").intercept_)


def learned(clf, way):
    """Each way to learn more, of which a twin without a prior must come to the same bits."""
    if way == "add_classes":
        Xn, yn = long_tail(5, [4, 0, 0, 0, 0, 6, 5])
        return clf.add_classes(Xn, yn)
    if way == "warm":
        return clf.set_params(warm_start=True).fit(X, Y)
    return getattr(clf, way)(X[:50], Y[:50])


@pytest.mark.parametrize(
    ("name", "way"),
    [
        *(("one-vs-rest", way) for way in ("fit", "partial_fit", "add_classes", "warm")),
        *(("closed form", way) for way in ("fit", "partial_fit", "add_rows", "add_classes")),
        ("batch softmax", "fit"),
        ("batch softmax", "warm"),
    ],
)
def test_learning_more_forgets_the_prior(name, way):
    clf, twin = fitted(name).set_prior("uniform"), fitted(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learned(clf, way)
        learned(twin, way)
    assert not hasattr(clf, "prior_")
    assert not hasattr(clf, "trained_intercept_")
    np.testing.assert_array_equal(clf.intercept_, twin.intercept_)
    np.testing.assert_array_equal(clf.coef_, twin.coef_)


def test_batches_and_new_classes_are_counted():
    clf = mc.StochasticClassifier("ovr", max_epochs=3, random_state=0)
    clf.partial_fit(X[:60], Y[:60], classes=range(5)).partial_fit(X[60:], Y[60:])
    np.testing.assert_array_equal(clf.class_counts_, SIZES)
    clf.add_classes(*long_tail(5, [4, 0, 0, 0, 0, 6, 5]))
    np.testing.assert_array_equal(clf.class_counts_, [*SIZES, 6, 5])


def test_after_an_error_the_prior_is_still_there():
    clf = fitted("one-vs-rest").set_prior("uniform")
    bias = clf.intercept_
    with pytest.raises(ValueError, match="prior must"):
        clf.set_prior("unfair")
    with pytest.raises(ValueError, match="labels must be among"):
        clf.partial_fit(X, Y + 90)
    assert clf.intercept_ is bias
    assert clf.prior_.tolist() == [0.2] * 5


def test_scores_of_unknown_meaning_ask_for_calibration():
    clf = mc.StochasticClassifier("ovr", early_stopping=False, max_epochs=2, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="call calibrate first"):
        clf.set_prior("uniform")
    clf.calibrate(XT, YT).set_prior("uniform")


def test_a_class_of_which_nothing_is_known_has_no_prior():
    clf = mc.StochasticClassifier("softmax", random_state=0).partial_fit(X, Y, classes=range(6))
    with pytest.raises(ValueError, match=r"got none of the class 5"):
        clf.set_prior("uniform")


def test_a_path_counts_the_classes_of_its_best():
    path = mc.TraceNormPath(2, 1, tolerance=1e-2, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(path.best_.class_counts_, SIZES)
    path.best_.set_prior("uniform")


def test_classes_with_other_names_keep_prior_and_sets():
    clf = fitted("closed form").set_prior("uniform")
    sets, before = clf.predict_set(XT, 0.8), clf.predict(XT)
    weights = clf.held_out_["weights"].copy()
    clf.rename_classes({0: 9})
    np.testing.assert_array_equal(clf.held_out_["weights"], weights)
    np.testing.assert_array_equal(clf.predict(XT), np.where(before == 0, 9, before))
    for old, new in zip(sets, clf.predict_set(XT, 0.8), strict=True):
        np.testing.assert_array_equal(new, np.where(old == 0, 9, old))


def test_sets_keep_their_promise_where_rare_classes_become_frequent():
    sizes = [400, 200, 80, 40, 20]
    clf = mc.LinearClassifier(penalty=mc.Ridge(1e-2)).fit(*long_tail(0, sizes)).calibrate(*long_tail(4, sizes))
    Xn, yn = long_tail(5, [2000] * 5)

    def covered():
        return np.mean([label in found for label, found in zip(yn, clf.predict_set(Xn, 0.9), strict=True)])

    assert covered() < 0.8
    clf.set_prior("uniform")
    assert abs(covered() - 0.9) < 0.06
    same = [found.tolist() for found in clf.predict_set(Xn[:50], 0.9)]
    clf.set_prior(clf.class_prior_)
    p_values = clf.unknown_p_values(Xn[:50])
    np.testing.assert_allclose(clf.set_prior(None).unknown_p_values(Xn[:50]), p_values, rtol=1e-5)
    assert same != [found.tolist() for found in clf.predict_set(Xn[:50], 0.9)]


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=20))
def test_shares_add_up_to_one_and_keep_their_ratios(numbers):
    found = as_prior(numbers, np.arange(len(numbers)))
    assert found.sum() == pytest.approx(1)
    np.testing.assert_allclose(found / found[0], np.array(numbers) / numbers[0], rtol=1e-9)


@pytest.mark.parametrize(
    ("prior", "words"),
    [
        ("even", "prior must be 'uniform', None, or a number above 0 for each class; got 'even'"),
        ([1, 2], "prior must have a number for each of 3 classes; got shape"),
        ([1, 0, 2], "prior must hold numbers above 0; got 0 for the class 'b'"),
        ([1, np.inf, 2], "prior must hold numbers above 0; got inf for the class 'b'"),
        ([1e-300, 1, 1e300], "prior must hold numbers above 0; got 1e-300 for the class 'a'"),
        ({"a": 1, "b": 1}, "got none for 'c'"),
        ({"a": 1, "b": 1, "c": 1, "d": 1}, "got 'd', which is none of them"),
        (["x", 1, 2], "prior must be 'uniform', None"),
    ],
)
def test_what_is_no_prior_is_refused_in_a_sentence(prior, words):
    with pytest.raises(ValueError, match=words):
        as_prior(prior, np.array(["a", "b", "c"]))


@pytest.mark.parametrize("name", ["trace norm", "batch softmax", "closed form", "one-vs-rest"])
def test_classes_that_come_and_go_are_counted_and_saved(name, tmp_path):
    clf = fitted(name).set_prior("uniform")
    clf.imprint_classes(*long_tail(5, [0, 0, 0, 0, 0, 6, 5]))
    np.testing.assert_array_equal(clf.class_counts_, [*SIZES, 6, 5])
    np.testing.assert_array_equal(clf.class_weights_, [*SIZES, 6, 5])
    assert not hasattr(clf, "prior_")
    clf.save(tmp_path / "model")
    np.testing.assert_array_equal(mc.load(tmp_path / "model").class_counts_, clf.class_counts_)
