"""Classes that are added later are as good as those that were there from the start."""

import numpy as np
import pytest

import manyclass as mc


@pytest.fixture(scope="module")
def rows():
    X = mc.datasets.low_rank_classes(3000, 64, 60, noise=0.1)
    return X.toarray(), X.y


@pytest.mark.parametrize("batches", [0, 1])
@pytest.mark.parametrize("n_new", [1, 10])
def test_new_classes_are_recognized_nearly_as_well_as_if_trained_together(rows, n_new, batches):
    X, y = rows
    train = np.arange(len(y)) < 2400
    old = y < 60 - n_new
    settings = {"beta": 8, "random_state": 0}
    grown = mc.StochasticClassifier(**settings).fit(X[train & old], y[train & old])
    for _ in range(batches):
        grown.partial_fit(X[train & old], y[train & old])
    grown.add_classes(X[train], y[train])
    together = mc.StochasticClassifier(**settings).fit(X[train], y[train])
    test = ~train & ~old
    grown_right, together_right = (np.mean(clf.predict(X[test]) == y[test]) for clf in (grown, together))
    assert grown_right > together_right - 0.15


def test_each_new_class_meets_a_row_as_often_as_an_old_one_did(rows, monkeypatch):
    from manyclass.estimators import stochastic

    X, y = rows
    old, seen, real = y < 50, [], stochastic.known_plan

    def known_plan(settings, step, beta, problem, seed):
        seen.append((beta, problem.k))
        return real(settings, step, beta, problem, seed)

    clf = mc.StochasticClassifier(beta=8, step=0.1, max_epochs=2, random_state=0).fit(X[old], y[old])
    monkeypatch.setattr(stochastic, "known_plan", known_plan)
    clf.add_classes(X, y)
    [(beta, k)] = seen
    assert beta / (k - 1) == pytest.approx(8 / (60 - 1))
