"""Probabilities sum to one, and exist only where they mean something."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.estimators import probabilities, stochastic
from manyclass.estimators.probabilities import held_out_temperature
from manyclass.losses.multiclass import best_temperature
from manyclass.solvers.sgd.descent import run_sgd
from tests.estimators.problems import blobs

X, Y = blobs(k=5, per_class=20, spread=1.0)
SETTINGS = [{"objective": "softmax"}, {"loss": "logistic"}]
UNCALIBRATED = [{}, {"loss": "squared_hinge"}, {"objective": "multiclass", "loss": "logistic"}, {"objective": "warp"}]


def model(**settings):
    return mc.StochasticClassifier(max_epochs=5, n_threads=1, random_state=0, **settings)


@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("settings", SETTINGS)
def test_probabilities_sum_to_one_and_order_classes_as_scores_do(settings, k):
    rows, y = X[k > Y], Y[k > Y]
    fitted = model(**settings).fit(rows, y)
    P = fitted.predict_proba(rows)
    assert P.min() >= 0
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_array_equal(fitted.classes_[P.argmax(axis=1)], fitted.predict(rows))


def test_logistic_machines_give_the_share_of_each_in_the_sum_of_their_probabilities():
    fitted = model(loss="logistic", early_stopping=False).fit(X, Y)
    P = 1 / (1 + np.exp(-fitted.decision_function(X).astype(np.float64)))
    np.testing.assert_allclose(fitted.predict_proba(X), P / P.sum(axis=1, keepdims=True), rtol=1e-4)


@pytest.mark.parametrize("shift", [-500, 500])
@pytest.mark.parametrize("settings", SETTINGS)
def test_probabilities_of_extreme_scores_sum_to_one(settings, shift):
    fitted = model(**settings).fit(X, Y)
    fitted.intercept_ = fitted.intercept_ + np.float32(shift)
    np.testing.assert_allclose(fitted.predict_proba(X).sum(axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize("settings", UNCALIBRATED)
def test_scores_that_are_no_probabilities_are_not_called_so(settings):
    fitted = model(**settings, early_stopping=False).fit(X, Y)
    assert not hasattr(fitted, "predict_proba")
    with pytest.raises(AttributeError) as raised:
        fitted.predict_proba(X)
    words = "needs early_stopping=True, objective='softmax', loss='logistic' or a call to calibrate"
    assert words in str(raised.value.__cause__)


def hard(seed, n=600, k=6, d=10):
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    return (np.random.default_rng(9).normal(size=(k, d))[y] + 1.5 * rng.normal(size=(n, d))).astype(np.float32), y


@pytest.mark.parametrize("settings", UNCALIBRATED)
def test_a_fit_that_stops_by_held_out_examples_finds_a_temperature_that_holds_for_others(settings):
    fitted = mc.StochasticClassifier(max_epochs=20, random_state=0, **settings).fit(*hard(0))
    Xt, yt = hard(1, 3000)
    P = fitted.predict_proba(Xt)
    # The share that is right and the mean of what it says of itself, which no temperature at all would miss by far.
    assert abs(P.max(axis=1).mean() - fitted.score(Xt, yt)) < 0.06
    best = mc.StochasticClassifier(max_epochs=20, random_state=0, **settings).fit(*hard(0)).calibrate(Xt, yt)
    assert abs(np.log(fitted.temperature_ / best.temperature_)) < 0.35


@pytest.mark.parametrize("settings", SETTINGS)
def test_linked_machines_find_a_temperature_too_and_err_less_by_it(settings):
    fitted = mc.StochasticClassifier(max_epochs=20, random_state=0, **settings).fit(*hard(0))
    Xt, yt = hard(1, 3000)
    losses = []
    for _ in range(2):
        P = fitted.predict_proba(Xt)
        losses.append(-np.log(P[np.arange(len(yt)), yt]).mean())
        fitted.__dict__.pop("temperature_", None)
    assert losses[0] < losses[1] + 0.01


def test_the_temperature_is_that_of_the_machines_that_have_not_seen_the_examples():
    Xh, yh = hard(0)
    seen = mc.StochasticClassifier("ovr", max_epochs=20, random_state=0, refit=False).fit(Xh, yh, validation=hard(2))
    twin = seen.decision_function(hard(2)[0]).astype(np.float64)
    y, n = hard(2)[1], len(hard(2)[1])

    def loss(T):
        logs = twin / T - np.logaddexp.reduce(twin / T, axis=1)[:, None]
        targets = np.full(twin.shape, 1 / (n + 1) / twin.shape[1])
        targets[np.arange(n), y] += 1 - 1 / (n + 1)
        return -(targets * logs).sum()

    at = seen.temperature_
    assert loss(at) <= min(loss(1.01 * at), loss(0.99 * at))


def test_examples_that_are_all_right_leave_some_doubt():
    Xe, ye = blobs(k=5, per_class=40, spread=0.01)
    P = mc.StochasticClassifier(max_epochs=20, random_state=0).fit(Xe, ye).predict_proba(Xe)
    assert (P.argmax(axis=1) == ye).all()
    assert 0.6 < P.max(axis=1).mean() < 0.9999


def test_a_killed_fit_keeps_its_temperature(tmp_path):
    whole = mc.StochasticClassifier(max_epochs=6, random_state=0).fit(*hard(0))

    def stop(record):
        if record["phase"] == "refit":
            raise KeyboardInterrupt

    path, again = tmp_path / "checkpoint", {"max_epochs": 6, "random_state": 0, "checkpoint": tmp_path / "checkpoint"}
    with pytest.raises(KeyboardInterrupt):
        mc.StochasticClassifier(**again, callbacks=[stop]).fit(*hard(0))
    assert path.exists()
    assert mc.StochasticClassifier(**again).fit(*hard(0)).temperature_ == whole.temperature_


@pytest.mark.parametrize("settings", [*SETTINGS, *UNCALIBRATED])
def test_calibrated_probabilities_sum_to_one_and_fit_better_than_plain_softmax(settings):
    Xc, yc = blobs(k=5, per_class=40, spread=1.0)
    fitted = model(**settings).fit(X, Y)
    S = fitted.decision_function(Xc).astype(np.float64)
    plain = S[np.arange(len(yc)), yc] - np.logaddexp.reduce(S, axis=1)
    P = fitted.calibrate(Xc, yc).predict_proba(Xc)
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-5)
    assert np.log(P[np.arange(len(yc)), yc]).mean() >= plain.mean() - 1e-6


def test_the_temperature_divides_the_scores():
    fitted = model().fit(X, Y).calibrate(X, Y)
    S = fitted.decision_function(X) / fitted.temperature_
    np.testing.assert_allclose(fitted.predict_proba(X), np.exp(S) / np.exp(S).sum(axis=1, keepdims=True), rtol=1e-4)


@pytest.mark.parametrize(
    "change",
    [
        lambda fitted: fitted.fit(X, Y),
        lambda fitted: fitted.partial_fit(X, Y),
        lambda fitted: fitted.add_classes(X, Y + 2),
    ],
)
def test_machines_that_change_are_no_longer_calibrated(change):
    fitted = model(early_stopping=False).fit(X, Y).calibrate(X, Y)
    change(fitted)
    assert not hasattr(fitted, "predict_proba")


@pytest.mark.parametrize("settings", SETTINGS)
def test_probabilities_are_those_of_what_was_trained_whatever_is_set_now(settings):
    fitted = model(**settings).fit(X, Y)
    P = fitted.predict_proba(X)
    for change in ({"objective": "softmax"}, {"objective": "ovr", "loss": "logistic"}, {"loss": "hinge"}):
        np.testing.assert_array_equal(fitted.set_params(**change).predict_proba(X), P)
    assert not hasattr(model(early_stopping=False).fit(X, Y).set_params(loss="logistic"), "predict_proba")


def test_labels_that_the_classifier_does_not_know_cannot_calibrate_it():
    with pytest.raises(ValueError, match="labels must be among the 5 classes"):
        model().fit(X, Y).calibrate(X, Y + 1)


def test_the_temperature_is_the_same_with_and_without_a_callback():
    settings = {"max_epochs": 20, "random_state": 0, "objective": "multiclass"}
    plain = mc.StochasticClassifier(**settings).fit(*hard(0))
    watched = mc.StochasticClassifier(**settings, callbacks=[lambda record: None]).fit(*hard(0))
    np.testing.assert_array_equal(plain.coef_, watched.coef_)
    assert plain.temperature_ == watched.temperature_


@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_scores_of_any_size_have_the_probabilities_that_fit(scale):
    rng = np.random.default_rng(0)
    S, y = rng.normal(size=(500, 6)), rng.integers(6, size=500)
    S[np.arange(500), y] += 1
    T = best_temperature(S, y)
    assert best_temperature(scale * S, y) == pytest.approx(scale * T, rel=1e-3)


def test_a_calibration_on_rows_that_are_all_right_leaves_some_doubt():
    Xe, ye = blobs(k=5, per_class=40, spread=0.01)
    P = mc.StochasticClassifier(max_epochs=20, random_state=0).fit(Xe, ye).calibrate(Xe[:60], ye[:60]).predict_proba(Xe)
    assert 0.6 < P.max(axis=1).mean() < 0.9999


@pytest.mark.parametrize("refit", [True, False])
def test_the_temperature_is_of_the_mean_before_a_refit_and_else_of_what_is_kept(refit, monkeypatch):
    # A callback that may end the fit has the best kept, of which a refit knows nothing.
    descents, judged = [], []

    def descend(descent, *rest):
        descents.append(descent)
        return run_sgd(descent, *rest)

    def temperature(machines, problem):
        judged.append(machines)
        return held_out_temperature(machines, problem)

    monkeypatch.setattr(stochastic, "run_sgd", descend)
    monkeypatch.setattr(probabilities, "held_out_temperature", temperature)
    settings = {"max_epochs": 20, "random_state": 0, "refit": refit, "callbacks": [lambda record: None]}
    mc.StochasticClassifier("ovr", **settings).fit(*hard(0))
    weights = descents[0].weights
    assert weights.best is not None
    (found,) = judged
    assert found.W is (weights.mean if refit else weights.best).W
