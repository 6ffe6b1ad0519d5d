"""Thresholds are those of the best F1, drawn to those of all classes where rows are few."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score

from manyclass._core.label_lists import LabelLists
from manyclass.estimators.multilabel import thresholds
from manyclass.estimators.multilabel.thresholds import ScoreRules


def scored(n, sizes, seed=0, gap=2.0):
    """Scores (k, n) of classes with these numbers of rows, in units of their own, and an indicator matrix."""
    rng = np.random.default_rng(seed)
    Y = np.zeros((n, len(sizes)), int)
    for c, size in enumerate(sizes):
        Y[rng.permutation(n)[:size], c] = 1
    S = rng.normal(size=(n, len(sizes))) + gap * Y
    return (S * rng.uniform(0.1, 9, len(sizes)) + rng.normal(size=len(sizes))).T, Y


def learn(S, Y, weights=None):
    return ScoreRules.learn(lambda classes: S[classes], LabelLists.of_pairs(*np.nonzero(Y), len(Y)), len(S), weights)


def best_f1(s, y):
    """Of every score as a threshold, by counting."""
    hits = y[np.argsort(-s)].cumsum()
    return (2 * hits / (np.arange(1, len(s) + 1) + y.sum())).max()


def test_of_many_rows_a_threshold_has_the_best_f1_of_its_class():
    S, Y = scored(3000, [900, 300, 150])
    rules = learn(S, Y)
    for c in range(3):
        assert f1_score(Y[:, c], S[c] > rules.thresholds[c]) == pytest.approx(best_f1(S[c], Y[:, c]), abs=0.01)


def test_with_endless_rows_more_all_classes_have_one_threshold_in_their_own_units(monkeypatch):
    monkeypatch.setattr(thresholds, "PRIOR", 1e9)
    S, Y = scored(2000, [200] * 6 + [10])
    rules = learn(S, Y)
    assert np.ptp((rules.thresholds - S.mean(axis=1)) / S.std(axis=1)) < 1e-6


def test_a_class_without_rows_is_seldom_predicted():
    S, Y = scored(2000, [200] * 6 + [0])
    rules = learn(S, Y)
    assert np.mean(S[6] > rules.thresholds[6]) < 0.5 * np.mean(S[5] > rules.thresholds[5])


def test_rare_classes_do_better_on_other_rows_with_what_all_know(monkeypatch):
    """Where a class has two rows to learn by, its own best threshold is chance."""
    S, Y = scored(4000, [8] * 120, gap=3.0)
    train, test = slice(0, 1000), slice(1000, None)
    found = {}
    for prior in (1e-3, thresholds.PRIOR):
        monkeypatch.setattr(thresholds, "PRIOR", prior)
        rules = learn(S[:, train], Y[train])
        found[prior] = f1_score(Y[test], rules.thresholds < S[:, test].T, average="micro", zero_division=0)
    assert found[thresholds.PRIOR] > found[1e-3] + 0.02


def test_probabilities_of_many_rows_are_those_of_logistic_regression():
    S, Y = scored(20_000, [9000, 4000])
    rules = learn(S, Y)
    for c in range(2):
        peer = LogisticRegression(C=1e9, tol=1e-8).fit(S[c][:, None], Y[:, c])
        logits = rules.slopes[c] * S[c] + rules.offsets[c]
        found, expected = 1 / (1 + np.exp(-logits)), peer.predict_proba(S[c][:, None])[:, 1]
        np.testing.assert_allclose(found, expected, atol=0.02)


def test_weights_of_rows_count_as_so_many_rows():
    S, Y = scored(400, [90, 50])
    twice = np.repeat(np.arange(400), 1 + (np.arange(400) % 3 == 0))
    weighted = learn(S, Y, np.bincount(twice).astype(float))
    repeated = learn(S[:, twice], Y[twice])
    # Edges of bins are quantiles of other rows, so that only what they are worth is the same.
    for c in range(2):
        y, w = Y[:, c], np.bincount(twice)
        worth = [f1_score(y, S[c] > rules.thresholds[c], sample_weight=w) for rules in (weighted, repeated)]
        assert worth[0] == pytest.approx(worth[1], abs=0.01)
    np.testing.assert_allclose(weighted.slopes, repeated.slopes, rtol=0.05)


def test_rows_that_are_told_apart_completely_have_finite_rules():
    Y = np.repeat(np.eye(2, dtype=int), 20, axis=0)
    rules = learn(np.where(Y.T, 1.0, -1.0), Y)
    assert all(np.isfinite(values).all() for values in rules)
    np.testing.assert_array_equal(np.where(Y, 1.0, -1.0) > rules.thresholds, Y == 1)


def test_scores_that_do_not_vary_are_borne():
    S, Y = scored(200, [40, 40])
    S[1] = 3.0
    assert all(np.isfinite(values).all() for values in learn(S, Y))


def test_a_class_that_all_rows_have_is_borne():
    S, Y = scored(50, [50, 10])
    assert all(np.isfinite(values).all() for values in learn(S, Y))
    S[0] = 1.0
    assert all(np.isfinite(values).all() for values in learn(S, Y))


def test_classes_of_unlike_sizes_do_not_share_what_they_know(monkeypatch):
    """The deviation of a class that a third of the rows have is made by these, and that of a rare one is not."""
    monkeypatch.setattr(thresholds, "PRIOR", 1e9)
    S, Y = scored(3000, [1000] * 5 + [20] * 20, gap=4.0)
    rules = learn(S, Y)
    for c in (0, 10):
        assert f1_score(Y[:, c], S[c] > rules.thresholds[c]) > best_f1(S[c], Y[:, c]) - 0.1


def test_rows_without_labels_teach_nothing():
    rules = learn(np.zeros((3, 5)), np.zeros((5, 3), int))
    assert rules.thresholds.tolist() == [0, 0, 0]
    assert not len(rules.slopes)


def test_rules_go_through_arrays_and_others_are_refused():
    rules = learn(*scored(200, [40, 40]))
    again = ScoreRules.of_arrays(rules.arrays(), 2)
    for a, b in zip(rules, again, strict=True):
        np.testing.assert_array_equal(a, b)
    with pytest.raises(ValueError, match="thresholds of 3 classes"):
        ScoreRules.of_arrays(rules.arrays(), 3)
