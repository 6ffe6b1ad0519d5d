"""SquareLossClassifier: the normal equations, the strength that leave-one-out chooses, probabilities, files."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import RidgeClassifier

import manyclass as mc
from manyclass.data.views import RowSelection
from tests.contracts.matrix import every_matrix
from tests.estimators.problems import blobs
from tests.solvers import ridge_twin


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [8, 100])
def test_weights_are_those_of_the_normal_equations(d, dtype):
    X, y = blobs(d=d)
    clf = mc.SquareLossClassifier(0.01).fit(X.astype(dtype), y)
    W, b = ridge_twin.ridge(X, y, 6, 0.01)
    assert clf.coef_.dtype == clf.intercept_.dtype == dtype
    exact = {"rtol": 1e-4, "atol": 1e-4} if dtype == np.float32 else {"rtol": 1e-8, "atol": 1e-9}
    np.testing.assert_allclose(clf.coef_, W.T, **exact)
    np.testing.assert_allclose(clf.intercept_, b, **exact)


def test_weights_are_those_of_scikit_learn():
    X, y = blobs()
    theirs = RidgeClassifier(alpha=0.1 * len(y)).fit(X.astype(np.float64), y)
    clf = mc.SquareLossClassifier(0.1).fit(X.astype(np.float64), y)
    np.testing.assert_allclose(clf.coef_, theirs.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(clf.intercept_, theirs.intercept_, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("d", [4, 40])
def test_leave_one_out_is_equal_to_n_fits_of_its_own(d):
    X, y = blobs(k=3, per_class=8, d=d)
    X = X.astype(np.float64)
    clf = mc.SquareLossClassifier().fit(X, y)
    found = clf.leave_one_out(X, y)
    for i in range(len(y)):
        others = np.arange(len(y)) != i
        strength = clf.regularization_ * len(y) / (len(y) - 1)
        one = mc.SquareLossClassifier(strength).fit(X[others], y[others])
        np.testing.assert_allclose(found[i], one.decision_function(X[i : i + 1])[0], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("d", [8, 100])
def test_weights_count_as_rows_do(d):
    X, y = blobs(d=d)
    X = X.astype(np.float64)
    times = 1 + np.arange(len(y)) % 3
    weighted = mc.SquareLossClassifier(0.05).fit(X, y, sample_weight=times)
    repeated = mc.SquareLossClassifier(0.05).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-8, atol=1e-9)


def test_weights_of_classes_are_weights_of_their_rows():
    X, y = blobs()
    by_class = mc.SquareLossClassifier(0.05, class_weight={2: 5.0}).fit(X, y)
    by_row = mc.SquareLossClassifier(0.05).fit(X, y, sample_weight=np.where(y == 2, 5.0, 1.0))
    np.testing.assert_array_equal(by_class.coef_, by_row.coef_)


def test_rows_of_weight_zero_are_as_if_they_were_not_there():
    X, y = blobs()
    some = np.arange(len(y)) % 3 > 0
    part = mc.SquareLossClassifier(0.05).fit(X[some], y[some])
    whole = mc.SquareLossClassifier(0.05).fit(X, y, sample_weight=some)
    np.testing.assert_allclose(whole.coef_, part.coef_, rtol=1e-5, atol=1e-6)


@every_matrix
def test_every_kind_of_matrix_is_fitted(make):
    X, y = make(np.random.default_rng(0), 24, 6), np.arange(24) % 4
    rows = X.rows(slice(0, 24)).astype(np.float64)
    strength = 0.1 * float(rows.var(axis=0).mean())
    clf = mc.SquareLossClassifier(strength).fit(X, y)
    W, b = ridge_twin.ridge(rows, y, 4, strength)
    np.testing.assert_allclose(clf.decision_function(X), rows @ W + b, rtol=1e-3, atol=1e-3)
    # The same with fewer rows than columns.
    few = mc.SquareLossClassifier(strength).fit(RowSelection(X, np.arange(5)), [0, 1, 0, 1, 2])
    W, b = ridge_twin.ridge(rows[:5], np.array([0, 1, 0, 1, 2]), 3, strength)
    np.testing.assert_allclose(few.decision_function(X), rows @ W + b, rtol=1e-3, atol=1e-3)


def test_sparse_rows_give_the_weights_of_dense_ones():
    X, y = blobs()
    X[np.abs(X) < 0.2] = 0
    dense, sparse = (mc.SquareLossClassifier(0.01).fit(rows, y) for rows in (X, csr_array(X)))
    np.testing.assert_allclose(dense.coef_, sparse.coef_, rtol=1e-5, atol=1e-6)


def test_the_strength_is_one_that_does_well_on_other_rows():
    X, y = blobs(k=10, per_class=40, d=30, spread=1.5)
    train = np.arange(len(y)) % 2 == 0
    clf = mc.SquareLossClassifier().fit(X[train], y[train])
    scores = [
        mc.SquareLossClassifier(clf.regularization_ * 10.0**e).fit(X[train], y[train]).score(X[~train], y[~train])
        for e in range(-3, 4)
    ]
    assert clf.score(X[~train], y[~train]) >= max(scores) - 0.03
    assert [one["regularization"] for one in clf.path_] == sorted(one["regularization"] for one in clf.path_)
    assert clf.regularization_ in [one["regularization"] for one in clf.path_]


def test_one_of_given_strengths_is_taken():
    X, y = blobs()
    clf = mc.SquareLossClassifier([10.0, 1e-3, 0.1]).fit(X, y)
    assert [one["regularization"] for one in clf.path_] == [1e-3, 0.1, 10.0]
    assert clf.regularization_ in (1e-3, 0.1)


def test_probabilities_come_from_rows_left_out():
    X, y = blobs(k=10, per_class=40, d=20, spread=1.5)
    train = np.arange(len(y)) % 2 == 0
    clf = mc.SquareLossClassifier().fit(X[train], y[train])
    P = clf.predict_proba(X[~train])
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-5)
    # As sure as it is right, within what 200 rows can tell.
    assert P.max(axis=1).mean() == pytest.approx(clf.score(X[~train], y[~train]), abs=0.1)
    before = clf.temperature_
    assert clf.calibrate(X[~train], y[~train]).temperature_ == pytest.approx(before, rel=0.3)


def test_threads_change_no_bit():
    X, y = blobs(k=20, per_class=200, d=10)
    one, two = (mc.SquareLossClassifier(n_threads=n).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    assert one.path_ == two.path_


@pytest.mark.parametrize("keep_sums", [True, False])
@pytest.mark.parametrize("d", [8, 100])
def test_a_file_gives_the_classifier_back(tmp_path, keep_sums, d):
    X, y = blobs(d=d)
    clf = mc.SquareLossClassifier(keep_sums=keep_sums).fit(X, np.array(list("abcdef"))[y])
    clf.save(tmp_path / "model")
    again = mc.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
    assert again.path_ == clf.path_
    assert hasattr(again, "scatter_") == (keep_sums and d == 8)


def test_directions_of_classes_are_embeddings_of_their_means():
    X, y = blobs(per_class=30, d=10)
    clf = mc.SquareLossClassifier().fit(X, y)
    encoder = mc.SquareLossExemplar(clf.regularization_).fit(X)
    means = np.stack([X[y == c].astype(np.float64).mean(axis=0) for c in range(6)])
    np.testing.assert_allclose(clf.class_embeddings(), encoder.transform(means), rtol=1e-3, atol=1e-4)


def test_a_gallery_of_classes_finds_the_class_of_an_image():
    X, y = blobs(per_class=30, d=10)
    names = np.array(list("abcdef"))
    clf = mc.SquareLossClassifier().fit(X, names[y])
    gallery = mc.Gallery()
    gallery.add(clf.class_embeddings(), ids=clf.classes_)
    found = gallery.search(X - clf.mean_, k=1).ids[:, 0]
    assert np.mean(found == clf.predict(X)) > 0.95


@pytest.mark.parametrize("wrong", [0, -1.0, "best", [], [1.0, 0.0], np.nan, None, True])
def test_strengths_that_are_none_are_refused(wrong):
    X, y = blobs()
    with pytest.raises(ValueError, match="regularization must be"):
        mc.SquareLossClassifier(wrong).fit(X, y)


def test_rows_that_are_all_the_same_teach_how_often_classes_are():
    clf = mc.SquareLossClassifier().fit(np.ones((6, 3)), [0, 0, 0, 0, 1, 1])
    assert clf.predict(np.ones((1, 3))).tolist() == [0]
    assert np.isfinite(clf.predict_proba(np.ones((1, 3)))).all()


def test_a_failed_fit_leaves_the_classifier_as_it_was():
    X, y = blobs()
    clf = mc.SquareLossClassifier().fit(X, y)
    before = dict(vars(clf))
    with pytest.raises(ValueError, match="two classes"):
        clf.fit(X, np.zeros(len(y)))
    assert all(vars(clf)[name] is value for name, value in before.items())


def test_one_row_per_class_is_learned_in_float32():
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(300, 64)).astype(np.float32)
    new = centers + 0.3 * rng.normal(size=centers.shape).astype(np.float32)
    assert mc.SquareLossClassifier().fit(centers, np.arange(300)).score(new, np.arange(300)) > 0.98


@pytest.mark.parametrize("case", ["far from zero", "one column"])
def test_fewer_rows_than_columns_are_learned_wherever_they_are(case):
    rng = np.random.default_rng(1)
    y = np.arange(200) % 4
    X = (0.5 * rng.normal(size=(4, 400))[y] + rng.normal(size=(200, 400))).astype(np.float32)
    X[:, slice(None) if case == "far from zero" else 5] += np.float32(1000 if case == "far from zero" else 1e6)
    assert mc.SquareLossClassifier().fit(X[:150], y[:150]).score(X[150:], y[150:]) > 0.95


def test_the_temperature_counts_rows_by_their_weights():
    rng = np.random.default_rng(2)
    y = np.arange(240) % 3
    noise = np.where(np.arange(240) < 120, 0.3, 3.0)[:, None]  # the first half is easy
    X = rng.normal(size=(3, 20))[y] + noise * rng.normal(size=(240, 20))
    easy, hard = (
        mc.SquareLossClassifier(1.0).fit(X, y, sample_weight=np.where((np.arange(240) < 120) == first, 1.0, 1e-3))
        for first in (True, False)
    )
    S = easy.leave_one_out(X, y, np.where(np.arange(240) < 120, 1.0, 1e-3))
    assert easy.temperature_ < hard.temperature_ / 2
    grid = np.exp(np.linspace(np.log(easy.temperature_) - 1, np.log(easy.temperature_) + 1, 41))
    c = np.where(np.arange(240) < 120, 1.0, 1e-3)
    losses = [np.average(np.log(np.exp(S / T).sum(axis=1)) - S[np.arange(240), y] / T, weights=c) for T in grid]
    assert abs(int(np.argmin(losses)) - 20) <= 1
