"""Whitened components have equal variance, and agree with scikit-learn's."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

import manyclass as mc
from tests.exemplar.problems import pool, unit


@pytest.mark.parametrize("p", [1, 3, 7, None])
def test_codes_are_the_whitened_components_of_scikit_learn(p):
    X, Q = pool()
    enc = mc.WhitenedPCA(n_components=p).fit(X)
    expected = unit(PCA(n_components=p, whiten=True).fit(X).transform(Q))
    assert enc.n_features_out_ == (p or 7)
    np.testing.assert_allclose(np.abs(enc.transform(Q)), np.abs(expected), atol=1e-6)


@pytest.mark.parametrize(("power", "variances"), [(0.5, lambda s: np.ones_like(s)), (0, lambda s: s), (0.25, np.sqrt)])
def test_components_of_the_negatives_have_the_variances_that_the_power_leaves(power, variances):
    X, _ = pool()
    enc = mc.WhitenedPCA(power=power).fit(X)
    Z = (X - enc.mean_) @ enc.projection_
    np.testing.assert_allclose(np.cov(Z.T, bias=True), np.diag(variances(enc.variances_)), atol=1e-9)


def test_only_directions_in_which_the_negatives_differ_are_kept():
    X, _ = pool(n=5, d=20)
    assert mc.WhitenedPCA().fit(X).n_features_out_ == 4
    with pytest.raises(ValueError, match=r"n_components must be at most the 4 directions in which .* vary; got 5"):
        mc.WhitenedPCA(n_components=5).fit(X)


def test_all_components_compare_images_as_the_inverse_covariance_does():
    X, Q = pool()
    C = mc.WhitenedPCA(n_components=None).fit(X).transform(Q)
    D = Q - X.mean(axis=0)
    K = D @ np.linalg.inv(np.cov(X.T, bias=True)) @ D.T
    np.testing.assert_allclose(C @ C.T, K / np.sqrt(np.outer(K.diagonal(), K.diagonal())), atol=1e-6)


@pytest.mark.parametrize("settings", [{"n_components": 0}, {"n_components": 1.5}, {"power": -1}], ids=str)
def test_settings_that_are_none_are_refused(settings):
    (name,) = settings
    with pytest.raises(ValueError, match=f"{name} must be"):
        mc.WhitenedPCA(**settings).fit(pool()[0])


def test_components_to_choose_from_are_no_more_than_the_negatives_differ_in():
    X = np.random.default_rng(0).normal(size=(41, 80))  # 40 directions
    grid = mc.WhitenedPCA().default_grid(mc.as_matrix(X))
    assert grid == {"n_components": ["auto", 16, 32, None]}
    assert mc.WhitenedPCA().default_grid(mc.as_matrix(X[:5])) == {"n_components": ["auto", None]}


def test_components_of_little_variance_are_left_out_where_nobody_says():
    X = np.diag([30.0, 10.0, 5.6, 5.3])  # variances about the mean are not these, but in their order
    X = np.vstack([X, -X])
    s = np.sort(np.linalg.eigvalsh(np.cov(X.T, bias=True)))[::-1]
    enc = mc.WhitenedPCA().fit(X)
    assert enc.n_features_out_ == np.count_nonzero(s >= s[0] / 30) == 3
    np.testing.assert_allclose(enc.variances_, s[:3])
