"""Steps and numbers of negatives, given or found."""

import warnings
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import manyclass as mc
from manyclass.estimators import _stochastic_plan, stochastic
from manyclass.solvers.sgd.judging import mean_class_accuracy
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


class TestManyRows:
    """Where few of the examples are enough to judge by, all others are learned from, and once."""

    X, Y = blobs(k=6, per_class=100, spread=0.8)
    SETTINGS: ClassVar = {"step": 0.1, "beta": 2, "max_epochs": 12, "patience": 2, "validation_fraction": 0.3}

    def fit(self, monkeypatch, judged, **settings):
        monkeypatch.setattr(_stochastic_plan, "_JUDGED", judged)
        scores = iter([0.5, 0.9, *[0.2] * 12])  # the second epoch is the best
        monkeypatch.setattr(stochastic, "mean_class_accuracy", lambda problem: lambda machines: next(scores))
        return mc.StochasticClassifier(**{**self.SETTINGS, **settings}, random_state=0).fit(self.X, self.Y)

    def phases(self, fitted):
        return {record["phase"] for record in fitted.history_}

    def test_examples_that_judge_nothing_are_learned_from(self, monkeypatch):
        fitted = self.fit(monkeypatch, 24)
        assert {record["examples"] for record in fitted.history_} == {len(self.X) - 24}

    def test_few_that_were_held_out_are_no_reason_to_train_again(self, monkeypatch):
        assert self.phases(self.fit(monkeypatch, 24)) == {"train"}
        assert self.phases(self.fit(monkeypatch, 60)) == {"train", "refit"}

    def test_the_best_machines_are_those_that_are_kept(self, monkeypatch):
        fitted, without = self.fit(monkeypatch, 24), self.fit(monkeypatch, 24, refit=False)
        np.testing.assert_array_equal(fitted.coef_, without.coef_)
        assert fitted.temperature_ == without.temperature_
        assert (fitted.n_epochs_, len(fitted.history_)) == (2, 4)

    def test_large_weights_are_held_twice_and_trained_again_if_the_last_are_not_the_best(self, monkeypatch):
        monkeypatch.setattr(stochastic, "SMALL_WEIGHTS", 0)
        fitted = self.fit(monkeypatch, 24)
        assert [record["phase"] for record in fitted.history_] == ["train"] * 4 + ["refit"] * 2

    def test_large_weights_stay_if_the_last_are_the_best(self, monkeypatch):
        monkeypatch.setattr(stochastic, "SMALL_WEIGHTS", 0)
        fitted = self.fit(monkeypatch, 24, max_epochs=2)
        assert self.phases(fitted) == {"train"}

    def test_a_callback_that_only_listens_changes_nothing(self, monkeypatch):
        monkeypatch.setattr(stochastic, "SMALL_WEIGHTS", 0)
        alone, heard = self.fit(monkeypatch, 24), self.fit(monkeypatch, 24, callbacks=[lambda record: None])
        np.testing.assert_array_equal(heard.coef_, alone.coef_)

    def test_who_asks_for_few_to_be_held_out_has_the_refit(self, monkeypatch):
        assert self.phases(self.fit(monkeypatch, 20_000, validation_fraction=0.03)) == {"train", "refit"}
