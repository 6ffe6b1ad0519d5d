"""Sets cover as often as they promise, hold the best class, and are the same however rows come."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.estimators.uncertainty import prediction_sets
from manyclass.estimators.uncertainty.held_out import HeldOut
from manyclass.estimators.uncertainty.prediction_sets import cluster_thresholds
from tests.estimators.problems import blobs

X, Y = blobs(k=6, per_class=60, spread=2.0)


def drawn(seed, n=3000, k=8, d=12):
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    return (np.random.default_rng(9).normal(size=(k, d))[y] + 1.6 * rng.normal(size=(n, d))).astype(np.float32), y


def squares():
    return mc.SquareLossClassifier().fit(X, Y)


@pytest.mark.parametrize("by", ["all", "cluster"])
@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_a_set_has_the_classes_whose_loss_is_within_the_threshold_and_the_best_first(by, coverage):
    fitted = squares()
    held_out, P = HeldOut.of_model(fitted), fitted.predict_proba(X)
    most = held_out.threshold(coverage) if by == "all" else cluster_thresholds(held_out, 6, coverage)
    for found, p in zip(fitted.predict_set(X, coverage, by=by), P, strict=True):
        twin = set(np.flatnonzero(-np.log(p) <= most + 1e-6)) | {p.argmax()}
        assert set(found) == twin
        assert (np.diff(p[np.searchsorted(fitted.classes_, found)]) <= 0).all()


def test_sets_of_rows_like_those_of_calibrate_cover_as_often_as_they_promise():
    fitted = mc.LinearClassifier(penalty=mc.Ridge(1e-3)).fit(*drawn(0, 400))
    covered = []
    for seed in range(1, 31):
        fitted.calibrate(*drawn(seed, 300))
        Xt, yt = drawn(100 + seed, 1000)
        covered.append(mc.evaluation.set_coverage(yt, fitted.predict_set(Xt, 0.9)).coverage)
    # Of 300 rows, 0.9 within 1 / 301; each has a deviation of 0.017 by the rows of calibrate.
    assert np.mean(covered) == pytest.approx(0.9, abs=0.01)
    assert 0.008 < np.std(covered) < 0.035


@pytest.mark.parametrize("make", [lambda: mc.StochasticClassifier("ovr", random_state=0), mc.SquareLossClassifier])
def test_sets_of_rows_that_a_fit_held_out_cover_about_as_often(make):
    Xt, yt = drawn(77, 3000)
    covered = [
        mc.evaluation.set_coverage(yt, make().fit(*drawn(seed, 800)).predict_set(Xt, 0.9)).coverage for seed in range(4)
    ]
    assert np.mean(covered) == pytest.approx(0.9, abs=0.03)


def test_clusters_bring_hard_classes_nearer_to_the_promise():
    """Half of the classes are far harder; one threshold covers them too seldom."""

    def uneven(seed, n=4000):
        rng = np.random.default_rng(seed)
        y = rng.integers(8, size=n)
        noise = np.where(y < 4, 0.6, 2.0)[:, None]
        return (np.random.default_rng(3).normal(size=(8, 10))[y] + noise * rng.normal(size=(n, 10))), y

    fitted = mc.LinearClassifier(penalty=mc.Ridge(1e-3)).fit(*uneven(0, 2000)).calibrate(*uneven(1))
    Xt, yt = uneven(2)
    gaps = {}
    for by in ("all", "cluster"):
        held = np.array([label in found for label, found in zip(yt, fitted.predict_set(Xt, 0.9, by=by), strict=True)])
        gaps[by] = np.mean([abs(held[yt == label].mean() - 0.9) for label in range(8)])
    assert gaps["cluster"] < 0.6 * gaps["all"]


def test_a_cluster_is_judged_by_rows_that_had_no_part_in_making_it(monkeypatch):
    losses, seen = np.random.default_rng(0).permutation(200).astype(np.float32), []
    held_out = HeldOut(losses, losses, losses, np.arange(200, dtype=np.int32) % 2, np.ones(200, np.float32))

    def clusters(rows, k, coverage):
        seen.append(rows.losses)
        return np.zeros(k, np.intp)

    monkeypatch.setattr(prediction_sets, "cluster_classes", clusters)
    found = cluster_thresholds(held_out, 2, 0.9)
    others = np.setdiff1d(losses, seen[0])
    assert len(seen[0]) == len(others) == 100
    assert found.tolist() == [np.sort(others)[90]] * 2


def test_too_few_rows_for_a_promise_give_sets_of_all_classes():
    fitted = mc.LinearClassifier().fit(X, Y).calibrate(X[:10], Y[:10])
    assert {len(found) for found in fitted.predict_set(X[:4], 0.95)} == {6}


def test_two_classes_and_text_have_sets_too():
    y = np.where(Y < 3, "low", "high")
    found = mc.SquareLossClassifier().fit(X, y).predict_set(X[:50], 0.9)
    assert {label for one in found for label in one} == {"low", "high"}
    assert min(map(len, found)) == 1


def test_sets_have_the_same_bits_for_any_number_of_threads_and_rows_at_once():
    fitted = squares()
    alone = fitted.predict_set(X)
    with mc.threads(2):
        again = fitted.predict_set(mc.DenseMatrix(X))
    assert [one.tolist() for one in again] == [one.tolist() for one in alone]
    assert [one.tolist() for one in fitted.predict_set(X[:7])] == [one.tolist() for one in alone[:7]]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"coverage": 1.0}, "coverage must be a number between 0 and 1"),
        ({"by": "class"}, "by must be one of all, clus"),
    ],
)
def test_what_is_no_coverage_is_refused(asked, words):
    with pytest.raises(ValueError, match=words):
        squares().predict_set(X, **asked)


def test_without_held_out_rows_there_are_no_sets_and_the_error_says_what_to_do():
    fitted = mc.LinearClassifier().fit(X, Y)
    assert not hasattr(fitted, "predict_set")
    with pytest.raises(AttributeError) as raised:
        fitted.predict_set(X)
    assert "call calibrate with such rows" in str(raised.value.__cause__)
