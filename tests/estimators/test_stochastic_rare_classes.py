"""Rare classes, helped by weights or by drawing them more often."""

import numpy as np
import pytest

import manyclass as mc
from tests.estimators.problems import blobs

OBJECTIVES = ["ovr", "multiclass", "ranking", "warp", "softmax"]


def imbalanced():
    """Two classes that lie close, of which the second has a twentieth of the examples."""
    X, y = blobs(k=4, per_class=400, d=6, spread=2.0)
    keep = (y > 0) | (np.cumsum(y == 0) % 20 == 1)
    return X[keep], y[keep]


X, Y = imbalanced()
SETTINGS = {"max_epochs": 15, "early_stopping": False, "step": 0.05, "random_state": 0, "n_threads": 1}


def recall(**settings):
    """Of the rare class."""
    return np.mean(mc.StochasticClassifier(**{**SETTINGS, **settings}).fit(X, Y).predict(X[Y == 0]) == 0)


@pytest.mark.parametrize("help", [{"class_weight": "balanced"}, {"sampling": "balanced"}], ids=["weights", "draws"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_rare_class_is_found_more_often(objective, help):
    assert recall(objective=objective, **help) > recall(objective=objective) + 0.2


def test_balanced_classes_change_nothing_else_than_the_order():
    even, y = blobs()
    one, other = (mc.StochasticClassifier(sampling=s, random_state=0).fit(even, y) for s in ("uniform", "balanced"))
    assert [r["examples"] for r in one.history_[:2]] == [r["examples"] for r in other.history_[:2]]
    assert other.score(even, y) > 0.9


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_killed_fit_of_balanced_classes_goes_on_to_the_same_bits(tmp_path, monkeypatch, objective):
    monkeypatch.setattr("manyclass.solvers.sgd.checkpoint._SECONDS", 0.0)
    monkeypatch.setattr("manyclass.solvers.sgd.checkpoint._TIMES", 0.0)
    settings = {**SETTINGS, "objective": objective, "sampling": "balanced", "max_epochs": 4}

    def killed(record):
        if record["epoch"] == 3:
            raise KeyboardInterrupt

    path = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        mc.StochasticClassifier(**settings, callbacks=[killed], checkpoint=path).fit(X, Y)
    assert path.exists()
    resumed = mc.StochasticClassifier(**settings, checkpoint=path).fit(X, Y)
    np.testing.assert_array_equal(resumed.coef_, mc.StochasticClassifier(**settings).fit(X, Y).coef_)


def test_a_checkpoint_of_unbalanced_classes_is_of_another_fit(tmp_path):
    def killed(record):
        raise KeyboardInterrupt

    path = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        mc.StochasticClassifier(**SETTINGS, callbacks=[killed], checkpoint=path).fit(X, Y)
    with pytest.raises(ValueError, match="differs in sampling"):
        mc.StochasticClassifier(**SETTINGS, sampling="balanced", checkpoint=path).fit(X, Y)
