"""The linear probe: the objective is scikit-learn's, and the strength is that of the best validation."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import manyclass as mc
from manyclass.runs.probing import linear_probe
from manyclass.runs.probing.linear_probe import Tried, fit_linear_probe, judge


def blobs(n=300, k=6, d=8, spread=0.6, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    return (np.random.default_rng(99).normal(size=(k, d))[y] + spread * rng.normal(size=(n, d))).astype(np.float32), y


def halves(n):
    return np.flatnonzero(np.arange(n) % 3), np.flatnonzero(np.arange(n) % 3 == 0)


def test_the_objective_is_that_of_logistic_regression():
    X, y = blobs()
    model, strength, tried = fit_linear_probe(mc.DenseMatrix(X), y, 6, *halves(len(y)))
    peer = LogisticRegression(C=1 / (2 * len(y) * strength), max_iter=2000, tol=1e-8).fit(X, y)
    assert np.mean(model.predict(X) == peer.predict(X)) > 0.99
    assert any(one.strength == strength for one in tried)


def test_the_strength_is_the_best_of_those_that_were_tried():
    X, y = blobs(spread=1.5)
    _, strength, tried = fit_linear_probe(mc.DenseMatrix(X), y, 6, *halves(len(y)))
    chosen = next(one for one in tried if one.strength == strength)
    most = max(one.accuracy for one in tried)
    assert chosen.accuracy >= most - 0.5 * np.sqrt(most * (1 - most) / 100)
    assert [one.strength for one in tried] == sorted((one.strength for one in tried), reverse=True)


def test_few_rows_of_very_many_columns_are_seen_in_their_span(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.arange(180) % 3
    X = (rng.normal(size=(3, 12000))[y] + 3 * rng.normal(size=(180, 12000))).astype(np.float32)
    seen = []
    fit = linear_probe._fit
    monkeypatch.setattr(linear_probe, "_fit", lambda model, X, *rest: seen.append(X.shape[1]) or fit(model, X, *rest))
    model, *_ = fit_linear_probe(mc.DenseMatrix(X), y, 3, *halves(180))
    assert max(seen[:-1]) <= 120
    assert model.coef_.shape == (3, 12000)
    assert model.score(X, y) > 0.9


def test_without_rows_held_out_a_usual_strength_is_taken():
    X, y = blobs(12)
    model, _, tried = fit_linear_probe(mc.DenseMatrix(X), y, 6, np.arange(12), np.arange(0))
    assert tried == []
    assert model.score(X, y) > 0.9


def test_the_way_ends_where_two_in_a_row_are_no_better():
    path = linear_probe._Path(mc.DenseMatrix(np.eye(2)), np.arange(2), mc.DenseMatrix(np.eye(2)), np.arange(2), 1.0)
    path.tried = [Tried(1.0, 0.0, 0.5), Tried(0.1, 0.0, 0.6)]
    assert not path.is_over()
    path.tried.append(Tried(0.01, 0.0, 0.5))
    assert path.is_over()
    path.tried[-1] = Tried(0.01, 0.0, 0.4)
    assert not path.is_over()
    path.tried[-1] = Tried(0.01, 1.0, 0.7)
    assert not path.is_over()


@pytest.mark.parametrize("k", [2, 5])
def test_accuracy_and_loss_are_those_of_probabilities(k, monkeypatch):
    monkeypatch.setattr(linear_probe, "_SCORES", 3 * k)  # a few rows at a time
    X, y = blobs(40, k)
    model = mc.LinearClassifier(penalty=mc.Ridge(0.01)).fit(X, y)
    accuracy, loss = judge(model, mc.DenseMatrix(X), y)
    assert accuracy == pytest.approx(model.score(X, y))
    assert loss == pytest.approx(-np.log(model.predict_proba(X)[np.arange(40), y]).mean(), rel=1e-5)
