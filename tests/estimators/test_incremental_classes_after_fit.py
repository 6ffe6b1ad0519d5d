"""Classes that are added later are as good as those that were there from the start."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.estimators import _incremental
from manyclass.solvers.sgd import descent as _descent


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


@pytest.mark.parametrize("n_new", [1, 10])
def test_each_new_class_meets_beta_negatives_for_every_positive(rows, n_new, monkeypatch):
    X, y = rows
    old, met = y < 60 - n_new, []

    def descend(descent, *rest):
        _descent.run_sgd(descent, *rest)
        met.append(descent.weights.machines.steps[:n_new])

    clf = mc.StochasticClassifier(beta=8, step=0.1, early_stopping=False, max_epochs=10, random_state=0)
    clf.fit(X[old], y[old])
    monkeypatch.setattr(_incremental, "run_sgd", descend)
    clf.add_classes(X, y)
    positives = 10 * np.bincount(y)[60 - n_new :]
    np.testing.assert_allclose(met[0] / positives, 1 + 8, rtol=0.1)
