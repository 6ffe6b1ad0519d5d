"""What the pages on sets and on unknowns compute, on a few rows."""

import numpy as np
import pytest

import manyclass as mc
from experiments.prediction_sets import Judged, _judged, _mapie, _off
from experiments.sources import Split
from experiments.unknowns import _by_scores, _mahalanobis
from tests.estimators.problems import blobs

X, Y = blobs(k=4, per_class=30, spread=1.5)


def test_a_class_is_off_by_how_far_its_own_share_is_from_the_promise():
    drawn = Split(X, Y, X[:4], np.array([0, 0, 1, 1]))
    found = _judged(drawn, [[0], [1], [1], [1, 0]], 0.9, 75.0)
    assert (found.covered, found.size) == (75.0, 1.25)
    assert found.gap == pytest.approx((40 + 10) / 2)


def test_sets_are_expected_to_hold_the_right_class_as_often_as_the_best_is_right():
    some = [Judged(92.0, 1.0, 0.0, accuracy) for accuracy in (80.0, 91.0)]
    assert _off(some, 0.9).mean == pytest.approx((2.0 + 1.0) / 2)


def test_mapie_has_the_same_sets_by_the_same_score_but_for_empty_ones():
    pytest.importorskip("mapie")
    fitted = mc.SquareLossClassifier().fit(X[::2], Y[::2]).calibrate(X[1::4], Y[1::4])
    part = Split(X[::2], Y[::2], X[1::4], Y[1::4])
    ours = {promised: fitted.predict_set(X[3::4], promised) for promised in (0.9, 0.95)}
    found = [one for one in _mapie(fitted, part, X[3::4]) if one[0] == "lac"]
    assert len(found) == 2
    for _, promised, sets in found:
        assert [set(one) for one in sets if len(one)] == [
            set(mine) for mine, one in zip(ours[promised], sets, strict=True) if len(one)
        ]


def test_distances_are_those_of_the_inverse_covariance():
    means = np.array([X[label == Y].mean(axis=0) for label in range(4)])
    R = X - means[Y]
    A = R.T @ R / len(R)
    P = np.linalg.inv(A + 0.1 * A.trace() / len(A) * np.eye(len(A)))
    twin = [-min((row - mean) @ P @ (row - mean) for mean in means) for row in X[:5]]
    np.testing.assert_allclose(_mahalanobis(X, Y, X[:5], 0.1), twin, rtol=1e-3)


def test_energy_is_the_logarithm_of_the_sum_and_the_best_probability_what_it_leaves():
    fitted = mc.SquareLossClassifier().fit(X, Y)
    found = _by_scores(fitted, X[:6])
    S = fitted.decision_function(X[:6]) / fitted.temperature_
    np.testing.assert_allclose(found["energy"], np.log(np.exp(S).sum(axis=1)), rtol=1e-4)
    best = np.log(fitted.predict_proba(X[:6]).max(axis=1))
    np.testing.assert_allclose(found["best probability"], best, rtol=1e-3, atol=1e-5)
