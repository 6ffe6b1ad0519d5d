"""Thresholds and p-values of held-out rows, against counting, and that those of a fit are of rows it has not seen."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyclass as mc
from manyclass.estimators import probabilities
from manyclass.estimators.uncertainty.held_out import HeldOut, log_softmax, rows_at_once, some_rows
from tests.estimators.problems import blobs

X, Y = blobs(k=5, per_class=40, spread=1.5)


def rows(losses, near=None, classes=None, weights=None):
    m = len(losses)
    given = (losses, losses, losses if near is None else near, np.zeros(m) if classes is None else classes)
    kinds = (np.float32, np.float32, np.float32, np.int32)
    vectors = (np.asarray(one, kind) for one, kind in zip(given, kinds, strict=True))
    return HeldOut(*vectors, np.ones(m, np.float32) if weights is None else np.asarray(weights, np.float32))


@settings(deadline=None)
@given(losses=st.lists(st.integers(0, 9), min_size=1, max_size=40), coverage=st.sampled_from([0.1, 0.5, 0.9, 0.95]))
def test_the_threshold_is_the_order_statistic_that_conformal_prediction_takes(losses, coverage):
    place = int(np.ceil((len(losses) + 1) * coverage - 1e-6))
    expected = sorted(losses)[place - 1] if place <= len(losses) else np.inf
    assert rows(losses).threshold(coverage) == expected


def test_nineteen_rows_are_the_fewest_that_tell_ninety_five_percent():
    assert rows(np.arange(19)).threshold(0.95) == 18
    assert rows(np.arange(18)).threshold(0.95) == np.inf


@settings(deadline=None)
@given(times=st.lists(st.integers(1, 5), min_size=1, max_size=12), coverage=st.sampled_from([0.3, 0.5, 0.8]))
def test_a_row_of_twice_the_weight_counts_as_two(times, coverage):
    losses = np.arange(len(times))
    found = rows(losses, weights=times).threshold(coverage)
    total = sum(times)
    covered = [loss for loss in losses if sum(times[: loss + 1]) >= coverage * (total + total / len(times)) - 1e-6]
    assert found == (covered[0] if covered else np.inf)


@settings(deadline=None)
@given(sure=st.lists(st.integers(0, 5), min_size=1, max_size=30), score=st.integers(-1, 6))
def test_a_p_value_counts_the_rows_that_look_no_more_known_and_the_row_itself(sure, score):
    found = rows(sure).p_values(np.float32([score]), np.float32([score]))
    assert found[0] == pytest.approx((1 + sum(one <= score for one in sure)) / (1 + len(sure)))


def test_both_together_are_ranked_by_the_product_of_their_ranks():
    rng = np.random.default_rng(0)
    sure, near, asked, other = rng.normal(size=(4, 40)).astype(np.float32)
    found = rows(sure, near).p_values(asked, other)
    own = [(sure <= a).mean() * (near <= b).mean() for a, b in zip(sure, near, strict=True)]
    for p, a, b in zip(found, asked, other, strict=True):
        told = (1 + (sure <= a).sum()) * (1 + (near <= b).sum()) / 41**2
        assert p == pytest.approx((1 + sum(one <= told for one in own)) / 41)


def test_halves_have_every_other_row_of_each_class():
    held_out = rows(np.arange(7), classes=[1, 0, 1, 0, 1, 2, 0])
    second, first = held_out.halves()
    assert first.losses.tolist() == [0, 1, 4, 5, 6]
    assert second.losses.tolist() == [2, 3]


def test_losses_are_those_of_the_probabilities():
    rng = np.random.default_rng(0)
    S, y = rng.normal(size=(9, 4)), rng.integers(4, size=9)
    found = HeldOut.by_scores(lambda at: S[at].copy(), 3, y, 0.5)
    P = np.exp(2 * S) / np.exp(2 * S).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found.losses, -np.log(P[np.arange(9), y]), rtol=1e-5)
    np.testing.assert_allclose(log_softmax(S, 0.5), np.log(P), rtol=1e-9)
    np.testing.assert_array_equal(found.weights, 1)


def test_classes_count_by_their_sizes_in_whatever_shares_they_were_held_out():
    found = HeldOut.by_scores(lambda at: np.zeros((6, 2))[at], 3, np.array([0, 0, 0, 1, 1, 1]), 1.0, np.array([30, 10]))
    np.testing.assert_allclose(found.weights, [1.5, 1.5, 1.5, 0.5, 0.5, 0.5])


def test_scores_of_very_many_classes_are_looked_at_for_some_rows():
    assert len(some_rows(50_000, 100)) == 50_000
    assert len(some_rows(50_000, 1 << 20)) == 1000
    assert some_rows(5, 10).tolist() == [0, 1, 2, 3, 4]
    assert rows_at_once(100, 1 << 20) == 32


def machines_of(fitted):
    return {name: values.tolist() for name, values in fitted.held_out_.items()}


def test_a_fit_keeps_what_machines_that_have_not_seen_the_examples_say_of_them(monkeypatch):
    told = []
    whole = probabilities.held_out_examples

    def listen(machines, judged, temperature, sizes):
        found = whole(machines, judged, temperature, sizes)
        told.append((machines.W.copy(), judged, temperature, found))
        return found

    monkeypatch.setattr(probabilities, "held_out_examples", listen)
    fitted = mc.StochasticClassifier("ovr", max_epochs=5, random_state=0).fit(X, Y)
    ((W, judged, temperature, found),) = told
    assert not np.allclose(W, fitted.coef_), "the refit has other machines"
    assert len(judged) == len(found.losses) == 20
    np.testing.assert_array_equal(fitted.held_out_["losses"], found.losses)
    np.testing.assert_array_equal(fitted.held_out_["classes"], judged.y[judged.index])
    assert fitted.temperature_ == pytest.approx(temperature * np.linalg.norm(fitted.coef_), rel=1e-5)


def test_a_closed_form_keeps_what_is_said_of_rows_that_are_left_out():
    fitted = mc.SquareLossClassifier().fit(X, Y)
    L = log_softmax(fitted.leave_one_out(X, Y) / fitted.temperature_)
    twin = np.sort(-L[np.arange(len(Y)), Y])
    np.testing.assert_allclose(np.sort(fitted.held_out_["losses"]), twin, rtol=1e-3, atol=1e-4)


def test_calibrate_keeps_what_is_said_of_its_rows():
    fitted = mc.LinearClassifier().fit(X, Y)
    assert not hasattr(fitted, "held_out_")
    fitted.calibrate(X, Y)
    P = fitted.predict_proba(X)[np.arange(len(Y)), Y]
    np.testing.assert_allclose(fitted.held_out_["losses"], -np.log(P), rtol=1e-3, atol=1e-5)
    assert not hasattr(fitted.fit(X, Y), "held_out_"), "a fit forgets it"


@pytest.mark.parametrize("forget", ["partial_fit", "add_classes"])
def test_machines_that_change_forget_what_was_said(forget):
    fitted = mc.StochasticClassifier("ovr", max_epochs=3, random_state=0).fit(X, Y)
    getattr(fitted, forget)(X, Y if forget == "partial_fit" else np.where(Y == 0, 9, Y))
    assert not hasattr(fitted, "held_out_")
    assert not hasattr(fitted, "predict_set")


def test_classes_that_come_and_go_move_those_that_were_left_out():
    fitted = mc.SquareLossClassifier().fit(X[Y != 2], Y[Y != 2])
    before = dict(zip(fitted.held_out_["losses"].tolist(), fitted.classes_[fitted.held_out_["classes"]], strict=True))
    fitted.add_classes(X[Y == 2], Y[Y == 2])
    now = dict(zip(fitted.held_out_["losses"].tolist(), fitted.classes_[fitted.held_out_["classes"]], strict=True))
    assert now == before
    fitted.remove_classes(X[Y == 1], Y[Y == 1])
    left = dict(zip(fitted.held_out_["losses"].tolist(), fitted.classes_[fitted.held_out_["classes"]], strict=True))
    assert left == {loss: label for loss, label in before.items() if label != 1}


def test_a_file_keeps_it_and_one_that_makes_no_sense_is_refused(tmp_path):
    fitted = mc.SquareLossClassifier().fit(X, Y)
    fitted.save(tmp_path / "m")
    assert machines_of(mc.load(tmp_path / "m")) == machines_of(fitted)
    fitted.held_out_ = {**fitted.held_out_, "classes": fitted.held_out_["classes"][:3]}
    fitted.save(tmp_path / "n")
    with pytest.raises(ValueError, match="held_out_ must be vectors of one length"):
        mc.load(tmp_path / "n")
    fitted.held_out_ = {**machines_and(fitted, 7)}
    with pytest.raises(ValueError, match=r"classes in \[0, 5\)"):
        fitted.predict_set(X)


def machines_and(fitted, label):
    m = len(fitted.held_out_["losses"])
    return {**fitted.held_out_, "classes": np.full(m, label, np.int32)}
