"""Steps and numbers of negatives, given or found."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import manyclass as mc
from manyclass.estimators import _stochastic_plan, stochastic
from manyclass.solvers.sgd.descent import mean_class_accuracy
from tests.estimators.problems import blobs

X, Y = blobs(k=6, per_class=20, spread=0.6)
OBJECTIVES = ["ovr", "multiclass", "ranking", "warp", "softmax"]


def model(**settings):
    return mc.StochasticClassifier(**{"max_epochs": 10, "n_threads": 1, "random_state": 0, **settings})


@pytest.mark.parametrize("power", [-20, 20])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_unit_of_x_changes_no_bit_of_the_scores(objective, power):
    scale = np.float32(2.0**power)
    plain, scaled = model(objective=objective).fit(X, Y), model(objective=objective).fit(scale * X, Y)
    np.testing.assert_array_equal(scaled.coef_ * scale, plain.coef_)
    np.testing.assert_array_equal(scaled.intercept_, plain.intercept_)
    assert scaled.step_ == plain.step_ / float(scale) ** 2


@pytest.mark.parametrize("size", [1e-6, 1e6])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_automatic_step_copes_with_features_of_any_size(objective, size):
    assert model(objective=objective).fit(X * np.float32(size), Y).score(X * np.float32(size), Y) > 0.85


@pytest.mark.parametrize(("objective", "loss"), [("ovr", "squared"), ("ovr", "squared_hinge")])
def test_a_step_that_is_too_large_says_so(objective, loss):
    words = "the weights overflowed float32 in epoch 1 with step 1e.30; use a smaller step or scale X"
    with pytest.raises(FloatingPointError, match=words):
        model(objective=objective, loss=loss, step=1e30).fit(X, Y)


@given(beta=st.one_of(st.none(), st.floats(0.1, 20), st.integers(1, 20)), k=st.integers(2, 9))
def test_any_number_of_negatives_will_do(beta, k):
    rows, y = blobs(k=k)
    fitted = model(beta=beta, max_epochs=3).fit(rows, y)
    assert fitted.beta_ == beta
    assert fitted.score(rows, y) > 0.7


def test_a_step_and_beta_that_are_given_are_used():
    fitted = model(step=0.125, beta=2).fit(X, Y)
    assert (fitted.step_, fitted.beta_) == (0.125, 2)


def test_other_objectives_have_no_beta():
    assert model(objective="multiclass").fit(X, Y).beta_ is None


def test_batches_after_fit_keep_its_step_and_beta():
    fitted = model().fit(X, Y)
    found = fitted.step_, fitted.beta_
    fitted.partial_fit(X[:2], Y[:2])
    assert (fitted.step_, fitted.beta_) == found
    assert fitted._running.plan.schedule.step == found[0]


@pytest.mark.parametrize(("offset", "warns"), [(0.0, False), (10.0, False), (1e3, True)])
def test_rows_that_differ_by_little_of_their_length_are_told_of(offset, warns):
    X, y = blobs(k=5, per_class=20)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        mc.StochasticClassifier("ovr", max_epochs=2, n_threads=1, random_state=0).fit(X + np.float32(offset), y)
    assert ["subtract the mean" in str(one.message) for one in told] == [True] * warns


@pytest.mark.parametrize("given_set", [False, True])
def test_many_rows_are_judged_by_some_of_them(monkeypatch, given_set):
    seen = []

    def judge(problem):
        seen.append(problem)
        return mean_class_accuracy(problem)

    monkeypatch.setattr(_stochastic_plan, "_JUDGED", 30)
    monkeypatch.setattr(stochastic, "mean_class_accuracy", judge)
    X, y = blobs(per_class=100, spread=0.5)
    settings = {"step": 0.1, "beta": 2, "max_epochs": 3, "validation_fraction": 0.3, "random_state": 0}
    clf = mc.StochasticClassifier(**settings).fit(X, y, validation=(X, y) if given_set else None)
    (judged,) = seen
    assert set(judged.sizes) == {5}
    assert {round(30 * record["accuracy"], 6) % 1 for record in clf.history_ if "accuracy" in record} == {0}
