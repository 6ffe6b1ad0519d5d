"""The closed form around a center: the exact solution, rows left out, the scale, and rows that come and go."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import manyclass as mc
from manyclass.estimators.centers import as_center, check_center_scale

K = 4


def rows(n, d, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % K)
    means = np.random.default_rng(5).normal(size=(K, d))
    return means[y] + 1.5 * rng.normal(size=(n, d)), y, rng.normal(size=(K, d)), means


def twin(X, y, strength, center, weights=None):
    """Normal equations, term by term."""
    p = np.ones(len(y)) if weights is None else weights.astype(np.float32).astype(np.float64)
    p /= p.sum()
    T = np.where(y[:, None] == np.arange(K), 1.0, -1.0)
    mu = p @ X
    Z = X - mu
    A, B = (Z * p[:, None]).T @ Z, (Z * p[:, None]).T @ (T - p @ T)
    W = np.linalg.solve(A + strength * np.eye(X.shape[1]), B + strength * center.T)
    return W.T, p @ T - mu @ W


SHAPES = pytest.mark.parametrize(("n", "d"), [(80, 6), (24, 40)], ids=["columns", "rows"])


@SHAPES
@given(seed=st.integers(0, 1000), strength=st.floats(1e-2, 10))
def test_the_weights_solve_the_normal_equations(n, d, seed, strength):
    X, y, center, _ = rows(n, d, seed)
    weights = np.random.default_rng(seed).random(n) + 0.2
    clf = mc.SquareLossClassifier(strength, center=center, center_scale=1.0).fit(X, y, sample_weight=weights)
    W, b = twin(X, y, strength, center, weights)
    np.testing.assert_allclose(clf.coef_, W, atol=1e-8)
    np.testing.assert_allclose(clf.intercept_, b, atol=1e-8)


@SHAPES
def test_a_scale_multiplies_the_center(n, d):
    X, y, center, _ = rows(n, d)
    clf = mc.SquareLossClassifier(0.3, center=center, center_scale=2.5).fit(X, y)
    np.testing.assert_allclose(clf.coef_, twin(X, y, 0.3, 2.5 * center)[0], atol=1e-8)


@SHAPES
def test_rows_left_out_are_exact(n, d):
    X, y, center, _ = rows(n, d)
    c = np.random.default_rng(1).random(n) + 0.2
    clf = mc.SquareLossClassifier(0.3, center=center, center_scale=1.0).fit(X, y, sample_weight=c)
    found = clf.leave_one_out(X, y, c)
    for i in (0, 3, n - 1):
        keep = np.arange(n) != i
        other = mc.SquareLossClassifier(0.3 * c.sum() / c[keep].sum(), center=center, center_scale=1.0)
        np.testing.assert_allclose(
            found[i], other.fit(X[keep], y[keep], sample_weight=c[keep]).decision_function(X[i : i + 1])[0], atol=1e-6
        )


@SHAPES
@pytest.mark.parametrize("strengths", [0.1, "auto"])
def test_a_center_of_zeros_gives_the_bits_of_none(n, d, strengths):
    X, y, center, _ = rows(n, d)
    plain = mc.SquareLossClassifier(strengths).fit(X, y)
    zero = mc.SquareLossClassifier(strengths, center=0 * center).fit(X, y)
    none = mc.SquareLossClassifier(strengths, center=center, center_scale=0.0).fit(X, y)
    for other in (zero, none):
        np.testing.assert_array_equal(other.coef_, plain.coef_)
        np.testing.assert_array_equal(other.intercept_, plain.intercept_)
        assert other.temperature_ == plain.temperature_


@SHAPES
def test_a_strength_without_bounds_gives_the_center(n, d):
    X, y, center, _ = rows(n, d)
    clf = mc.SquareLossClassifier(1e12, center=center, center_scale=1.0).fit(X, y)
    np.testing.assert_allclose(clf.coef_, center, atol=1e-8)


@SHAPES
def test_the_scale_has_the_least_squared_error_on_rows_left_out(n, d):
    X, y, _, means = rows(n, d)
    center = 50 * (means - means.mean(axis=0))
    clf = mc.SquareLossClassifier(1.0, center=center).fit(X, y)
    T = np.where(y[:, None] == np.arange(K), 1.0, -1.0)

    def error(scale):
        other = mc.SquareLossClassifier(1.0, center=center, center_scale=scale).fit(X, y)
        return np.square(T - other.leave_one_out(X, y)).mean()

    best = clf.center_scale_
    assert 0 < best < 0.1
    assert error(best) <= min(error(0.9 * best), error(1.1 * best), error(0.0))
    assert clf.path_[0]["loss"] == pytest.approx(error(best), rel=1e-4)


@SHAPES
def test_a_center_that_points_the_wrong_way_is_left_alone(n, d):
    X, y, _, means = rows(n, d)
    clf = mc.SquareLossClassifier(center=-(means - means.mean(axis=0))).fit(X, y)
    assert clf.center_scale_ == 0
    np.testing.assert_array_equal(clf.coef_, mc.SquareLossClassifier(clf.regularization_).fit(X, y).coef_)


def test_one_example_of_a_class_is_enough_beside_a_good_center():
    X, y, _, means = rows(4000, 30)
    first = np.unique(y, return_index=True)[1]
    plain = mc.SquareLossClassifier().fit(X[first], y[first]).score(X, y)
    helped = mc.SquareLossClassifier(center=means - means.mean(axis=0)).fit(X[first], y[first])
    assert helped.center_scale_ > 0
    assert helped.score(X, y) > plain + 0.1


def test_rows_that_come_and_go_keep_the_center():
    X, y, center, _ = rows(80, 6)
    clf = mc.SquareLossClassifier(0.3, center=center, center_scale=1.0).fit(X[:60], y[:60])
    clf.add_rows(X[60:], y[60:])
    np.testing.assert_allclose(clf.coef_, twin(X, y, 0.3, center)[0], atol=1e-8)
    clf.remove_rows(X[:20], y[:20])
    np.testing.assert_allclose(clf.coef_, twin(X[20:], y[20:], 0.3, center)[0], atol=1e-8)


def test_classes_that_come_find_their_rows_by_label():
    X, y, center, _ = rows(80, 6)
    known = dict(enumerate(center))
    clf = mc.SquareLossClassifier(0.3, center=known, center_scale=1.0).fit(X[y < 3], y[y < 3])
    np.testing.assert_allclose(clf.add_classes(X[y == 3], y[y == 3]).coef_, twin(X, y, 0.3, center)[0], atol=1e-8)
    short = mc.SquareLossClassifier(0.3, center=center[:3], center_scale=1.0).fit(X[y < 3], y[y < 3])
    with pytest.raises(ValueError, match=r"can be given as a dictionary of labels"):
        short.add_classes(X[y == 3], y[y == 3])
    assert len(short.classes_) == 3


@pytest.mark.parametrize("by_label", [False, True])
def test_classes_that_go_take_their_centers_along(by_label):
    X, y, center, _ = rows(80, 6)
    given_as = dict(enumerate(center)) if by_label else center
    clf = mc.SquareLossClassifier(0.3, center=given_as, center_scale=1.0).fit(X, y)
    clf.remove_classes(X[y == 0], y[y == 0])
    kept = mc.SquareLossClassifier(0.3, center=dict(enumerate(center)), center_scale=1.0).fit(X[y > 0], y[y > 0])
    np.testing.assert_allclose(clf.coef_, kept.coef_, atol=1e-8)


def test_centers_of_classes_that_are_not_there_yet_stay():
    X, y, center, _ = rows(80, 6)
    clf = mc.SquareLossClassifier(0.3, center=dict(enumerate(center)), center_scale=1.0).fit(X[y < 3], y[y < 3])
    clf.rename_classes({0: 7}).add_classes(X[y == 3], y[y == 3])
    np.testing.assert_allclose(clf.coef_, twin(X, y, 0.3, center)[0][[1, 2, 3, 0]], atol=1e-8)


def test_labels_that_are_missing_are_drawn_to_zero():
    X, y, center, _ = rows(80, 6)
    some = np.where(np.arange(K)[:, None] < 2, center, 0)
    clf = mc.SquareLossClassifier(0.3, center={0: center[0], 1: center[1], 9: center[2]}, center_scale=1.0).fit(X, y)
    np.testing.assert_allclose(clf.coef_, twin(X, y, 0.3, some)[0], atol=1e-8)


@pytest.mark.parametrize("by_label", [False, True])
def test_a_file_keeps_the_center(tmp_path, by_label):
    X, y, center, _ = rows(80, 6)
    given_as = dict(enumerate(center)) if by_label else center
    clf = mc.SquareLossClassifier(0.3, center=given_as, center_scale=1.0).fit(X[:60], y[:60])
    clf.save(tmp_path / "model")
    again = mc.load(tmp_path / "model").add_rows(X[60:], y[60:])
    np.testing.assert_allclose(again.coef_, twin(X, y, 0.3, center)[0], atol=1e-8)


@pytest.mark.parametrize(
    ("center", "words"),
    [
        (np.zeros((3, 2)), r"a row for each of 2 classes and 2 columns, as X has; got shape \(3, 2\)"),
        ({"x": [1.0, 2.0]}, "center must have a row of one class at least"),
        ({"a": [1.0]}, r"center must have 2 numbers for a class, as X has columns; got shape \(1,\)"),
        ([["x", "y"], ["z", "w"]], "center must hold real numbers"),
        ([[1.0, np.nan], [0.0, 0.0]], "center"),
    ],
)
def test_what_is_no_center_is_refused(center, words):
    with pytest.raises(ValueError, match=words):
        as_center(center, np.array(["a", "b"]), 2)


@pytest.mark.parametrize("scale", ["best", -1.0, None, np.nan])
def test_what_is_no_scale_is_refused(scale):
    with pytest.raises(ValueError, match="center_scale must be 'auto' or a number, at least 0; got"):
        check_center_scale(scale)


@pytest.mark.parametrize("by_label", [False, True])
def test_classes_with_other_names_keep_their_centers(by_label):
    X, y, center, _ = rows(80, 6)
    given_as = dict(enumerate(center)) if by_label else center
    clf = mc.SquareLossClassifier(0.3, center=given_as, center_scale=1.0).fit(X[:60], y[:60])
    clf.rename_classes({0: 7})
    clf.add_rows(X[60:], np.where(y[60:] == 0, 7, y[60:]))
    assert clf.classes_.tolist() == [1, 2, 3, 7]
    np.testing.assert_allclose(clf.coef_, twin(X, y, 0.3, center)[0][[1, 2, 3, 0]], atol=1e-8)
