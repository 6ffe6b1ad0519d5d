"""Distances to classes are those of the formula, and tell strangers better than probabilities do."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.data.dense import DenseMatrix
from manyclass.estimators.uncertainty import known_classes
from manyclass.estimators.uncertainty.known_classes import KnownClasses

RNG = np.random.default_rng(0)
Y = np.repeat(np.arange(4), [30, 10, 20, 40])
X = (RNG.normal(size=(4, 6))[Y] + 0.5 * RNG.normal(size=(100, 6))).astype(np.float32)
ROWS = RNG.normal(size=(15, 6)).astype(np.float32)


def unit(Z):
    return Z / np.linalg.norm(Z, axis=1, keepdims=True)


def twin(X, y, rows):
    """The formula, with inverses."""
    U, R = unit(X.astype(float)), unit(rows.astype(float))
    means, mean = np.array([U[y == c].mean(axis=0) for c in range(4)]), U.mean(axis=0)
    found = []
    for Z, places in ((U - means[y], means), (U - mean, mean[None])):
        A = Z.T @ Z / len(Z)
        P = np.linalg.inv(A + np.trace(A) / len(A) * np.eye(len(A)))
        found.append(np.array([min((r - m) @ P @ (r - m) for m in places) for r in R]))
    return found[1] - found[0]


def test_scores_are_relative_mahalanobis_distances_of_unit_rows():
    judge = KnownClasses.of_rows(DenseMatrix(X), Y, 4).judge()
    np.testing.assert_allclose(judge.scores(ROWS), twin(X, Y, ROWS), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(judge.scores(7 * ROWS), judge.scores(ROWS), rtol=1e-5)


def test_of_rows_that_are_kept_the_nearest_counts_in_the_metric_of_classes():
    known, row_classes = KnownClasses.of_rows(DenseMatrix(X), Y, 4).with_rows(DenseMatrix(X), Y)
    np.testing.assert_array_equal(row_classes, Y)
    U, R = unit(X.astype(float)), unit(ROWS.astype(float))
    Z = U - np.array([U[c == Y].mean(axis=0) for c in range(4)])[Y]
    A = Z.T @ Z / len(Z)
    P = np.linalg.inv(A + np.trace(A) / len(A) * np.eye(len(A)))
    nearest = [min((r - u) @ P @ (r - u) for u in U) for r in R]
    np.testing.assert_allclose(-known.judge().scores(ROWS), nearest, rtol=5e-3, atol=5e-3)  # kept in half precision


def test_they_are_the_same_however_few_rows_are_worked_on(monkeypatch):
    whole = KnownClasses.of_rows(DenseMatrix(X), Y, 4).judge().all_scores(DenseMatrix(ROWS))
    monkeypatch.setattr(known_classes, "_BYTES", 500)
    parts = KnownClasses.of_rows(DenseMatrix(X), Y, 4).judge().all_scores(DenseMatrix(ROWS))
    np.testing.assert_allclose(parts, whole, rtol=1e-4, atol=1e-4)


def test_of_very_many_rows_some_of_each_class_are_learned_from(monkeypatch):
    monkeypatch.setattr(known_classes, "_MOST", 10)
    monkeypatch.setattr(known_classes, "_OF_EACH", 5)
    found = KnownClasses.of_rows(DenseMatrix(X), Y, 4)
    np.testing.assert_allclose(found.shares, [0.3, 0.1, 0.2, 0.4], atol=0.051)


def test_rows_of_every_class_are_needed():
    with pytest.raises(ValueError, match="known must have rows of all 5 classes; got none of 1"):
        KnownClasses.of_rows(DenseMatrix(X), Y, 5)


def test_rows_that_are_all_alike_have_scores_too():
    same = np.ones((4, 3), np.float32)
    assert np.isfinite(KnownClasses.of_rows(DenseMatrix(same), np.arange(4), 4).judge().scores(ROWS[:, :3])).all()


def many(seed, n=900, k=30, d=24, classes=slice(None)):
    rng = np.random.default_rng(seed)
    centers = np.random.default_rng(5).normal(size=(k, d))
    y = rng.choice(np.arange(k)[classes], n)
    return (centers[y] + 0.9 * rng.normal(size=(n, d))).astype(np.float32), y


def test_a_classifier_that_was_told_what_it_learned_tells_strangers_better_and_as_many_false_alarms(tmp_path):
    shown, strange = slice(0, 20), slice(20, 30)
    train, held = many(1, classes=shown), many(2, 400, classes=shown)
    fitted = mc.SquareLossClassifier().fit(*train)
    rows, strangers = many(3, classes=shown)[0], many(4, classes=strange)[0]
    found = {}
    for known in (None, train):
        fitted.calibrate(*held, known=known)
        found[known is None] = [fitted.unknown_p_values(some) for some in (rows, strangers)]
        assert (found[known is None][0] <= 0.1).mean() == pytest.approx(0.1, abs=0.04)
    assert mc.evaluation.auroc(*found[False]) > mc.evaluation.auroc(*found[True]) + 0.02
    fitted.save(tmp_path / "m")
    np.testing.assert_array_equal(mc.load(tmp_path / "m").unknown_p_values(rows), found[False][0])


def test_what_was_told_of_classes_goes_when_these_change(tmp_path):
    fitted = mc.SquareLossClassifier().fit(X, Y).calibrate(X, Y, known=(X, Y))
    fitted.remove_classes(X[Y == 1], Y[Y == 1])
    assert not hasattr(fitted, "known_classes_")
    np.testing.assert_array_equal(fitted.held_out_["near"], fitted.held_out_["sure"])  # which alone tells now
    assert not hasattr(fitted.fit(X, Y), "known_classes_")
    fitted.calibrate(X, Y, known=(X, Y)).known_classes_["means"] = np.zeros((2, 6), np.float32)
    fitted.save(tmp_path / "m")
    with pytest.raises(ValueError, match="known_classes_ must be arrays called mean, means, shares, within, rows and"):
        mc.load(tmp_path / "m")
    fitted.calibrate(X, Y, known=(X, Y))
    fitted.known_classes_ = KnownClasses.of_rows(DenseMatrix(X[:, :3]), Y, 4)._asdict()
    with pytest.raises(ValueError, match=r"means of shape \(4, 6\); got \(4, 3\)"):
        fitted.unknown_p_values(X)


def test_what_is_no_pair_of_rows_and_labels_is_refused():
    fitted = mc.SquareLossClassifier().fit(X, Y)
    for known, words in ((X, "known must be"), ((X, Y + 9), "known must be .X, y. like those of fit: labels must be")):
        with pytest.raises(ValueError, match=words):
            fitted.calibrate(X, Y, known=known)
        assert hasattr(fitted, "predict_set"), "what was there stays"
