"""Sums under a mixture are those of a loop in float64; learning raises the likelihood and never gives NaN."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.mixture import GaussianMixture

import manyclass as mc
from manyclass import _native
from manyclass.features.aggregation.pyramid import Partition
from manyclass.features.aggregation.vocabulary import VARIANCE_FLOOR, DiagonalGmm, fit_gmm
from tests.features import twins


@given(n=st.integers(0, 150), d=st.integers(1, 40), k=st.integers(1, 40), spread=st.sampled_from([0.0, 0.3, 3.0]))
@pytest.mark.parametrize("level", _native.levels())
def test_sums_are_those_of_a_loop(level, any_level, n, d, k, spread):
    _native.set_level(level)
    mixture = twins.mixture_of(k, d, n, spread)
    X = twins.rows_of(mixture, n)
    sums, q = mixture.moments(X, Partition.single(n)), twins.posteriors(X, mixture)
    u = (X[:, None] - mixture.means) / np.sqrt(mixture.variances)
    np.testing.assert_allclose(sums.counts[0], q.sum(axis=0), atol=1e-4 * (1 + n))
    np.testing.assert_allclose(sums.first[0], np.einsum("ik,ikd->kd", q, u), atol=1e-5 * (1 + n))
    np.testing.assert_allclose(sums.second[0], np.einsum("ik,ikd->kd", q, u**2 - 1), atol=2e-5 * (1 + n))
    expected = np.logaddexp.reduce(twins.log_densities(X, mixture), axis=1).sum()
    np.testing.assert_allclose(sums.likelihood, expected, rtol=1e-5, atol=1e-3)


def test_cells_are_added_up_apart_and_share_posteriors():
    mixture = twins.mixture_of(7, 5)
    X, where = twins.rows_of(mixture, 3000), np.random.default_rng(1).integers(3, size=3000)
    apart, whole = mixture.moments(X, Partition.from_labels(where, 3)), mixture.moments(X, Partition.single(3000))
    np.testing.assert_allclose(apart.first.sum(axis=0), whole.first[0], atol=1e-3)
    np.testing.assert_allclose(
        apart.counts[1], mixture.moments(X[where == 1], Partition.single((where == 1).sum())).counts[0]
    )


def test_a_narrow_gaussian_far_from_zero_is_measured_exactly():
    rng = np.random.default_rng(0)
    means = np.array([[40.0, 40.0], [40.02, 40.0]])
    mixture = DiagonalGmm(np.array([0.5, 0.5]), means, np.full((2, 2), 1e-4))
    X = (means[0] + 0.01 * rng.normal(size=(500, 2))).astype("f4")
    np.testing.assert_allclose(
        mixture.moments(X, Partition.single(500)).counts[0], twins.posteriors(X, mixture).sum(axis=0), rtol=1e-3
    )


def test_one_step_of_learning_is_that_of_scikit_learn():
    from manyclass.features.aggregation.vocabulary import _maximize

    start = twins.mixture_of(4, 6)
    X = twins.rows_of(start, 5000, seed=2)
    mine = _maximize(start, start.moments(X, Partition.single(5000)), 1e-9)
    theirs = GaussianMixture(
        4, covariance_type="diag", weights_init=start.weights, means_init=start.means,
        precisions_init=1 / start.variances, max_iter=1, reg_covar=0, init_params="random_from_data", random_state=0,
    )  # fmt: skip
    with pytest.warns(match="converge"):
        theirs.fit(X.astype(float))
    np.testing.assert_allclose(mine.weights, theirs.weights_, rtol=1e-4)
    np.testing.assert_allclose(mine.means, theirs.means_, atol=1e-4)
    np.testing.assert_allclose(mine.variances, theirs.covariances_, rtol=1e-4)


def test_learning_finds_the_gaussians_that_rows_were_drawn_from():
    truth = twins.mixture_of(5, 4, spread=8)
    found = fit_gmm(twins.rows_of(truth, 8000), 5, seed=1)
    order = twins.nearest(truth.means, found.means)
    assert sorted(order) == list(range(5))
    np.testing.assert_allclose(found.means[order], truth.means, atol=0.1)
    np.testing.assert_allclose(found.variances[order], truth.variances, rtol=0.15)
    np.testing.assert_allclose(found.weights[order], truth.weights, rtol=0.1)


def test_many_rows_are_all_learned_from_in_the_end():
    X = np.random.default_rng(0).normal(size=(8192, 1)).astype("f4")
    X[np.arange(8192) % 4 > 0] += 8  # all but those that are picked for the beginning
    found = fit_gmm(X, 1, seed=0)
    np.testing.assert_allclose(found.means, X.mean(dtype=float), rtol=1e-5)
    np.testing.assert_allclose(found.variances, X.var(dtype=float), rtol=1e-5)


def test_rows_that_are_different_only_where_none_is_picked_are_found():
    X = np.zeros((30_000, 2), "f4")
    X[1], X[2] = (1, 0), (0, 1)
    assert len(np.unique(fit_gmm(X, 3, seed=0).means.round(6), axis=0)) == 3


def test_more_steps_never_lower_the_likelihood():
    X = twins.rows_of(twins.mixture_of(6, 5, spread=1), 3000)
    values = [fit_gmm(X, 8, 0, n).moments(X, Partition.single(3000)).likelihood for n in range(6)]
    assert np.diff(values).min() > -1e-3 * abs(values[0])
    assert values[-1] > values[0]


@pytest.mark.parametrize(
    "X",
    [
        np.zeros((30, 3)),
        np.repeat(np.eye(3), 10, axis=0),
        np.concatenate([np.zeros((500, 4)), np.random.default_rng(0).normal(size=(100, 4))]),
        np.random.default_rng(0).normal(size=(3, 2)),
        1e-12 * np.random.default_rng(0).normal(size=(50, 2)),
        1e9 * np.random.default_rng(0).normal(size=(50, 2)),
    ],
    ids=["zeros", "three points", "many zeros", "three rows", "tiny", "huge"],
)
def test_degenerate_rows_give_finite_numbers_above_the_floor(X):
    X = X.astype("f4")
    k = min(3, len(np.unique(X, axis=0)))
    mixture = fit_gmm(X, k, seed=0)
    assert np.isfinite(mixture.means).all()
    assert mixture.variances.min() >= 0.999 * VARIANCE_FLOOR * X.var(axis=0, dtype=float).max()
    assert mixture.weights.min() > 0
    sums = mixture.moments(X, Partition.single(len(X)))
    np.testing.assert_allclose(sums.counts.sum(), len(X), rtol=1e-5)
    assert np.isfinite(sums.second).all()


def test_a_gaussian_that_no_row_belongs_to_stays_where_it_is():
    from manyclass.features.aggregation.vocabulary import _maximize

    start = DiagonalGmm(np.array([0.5, 0.5]), np.array([[0.0], [1e4]]), np.ones((2, 1)))
    X = np.random.default_rng(0).normal(size=(50, 1)).astype("f4")
    after = _maximize(start, start.moments(X, Partition.single(50)), 1e-4)
    assert after.means[1] == 1e4
    assert after.weights[1] == pytest.approx(1e-6)


def test_the_number_of_threads_changes_no_bit():
    X = twins.rows_of(twins.mixture_of(5, 7), 18_000)
    results = []
    for n in (1, 2):
        with mc.threads(n):
            mixture = fit_gmm(X, 9, seed=3, iterations=2)
            results.append(mixture.means.tobytes() + mixture.variances.tobytes())
    assert len(set(results)) == 1


@pytest.mark.parametrize("bad", [np.nan, np.inf, -1e30])
@pytest.mark.parametrize("level", _native.levels())
def test_rows_that_are_no_numbers_are_refused(bad, level, any_level):
    _native.set_level(level)
    X = np.zeros((5, 3), "f4")
    X[2, 1] = bad
    with pytest.raises(ValueError, match="descriptors must be finite numbers of moderate size; row 2 is not"):
        twins.mixture_of(2, 3).moments(X, Partition.single(5))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"weights": np.ones(3)}, r"a mixture must have weights \(k,\), means and variances \(k, D\)"),
        ({"variances": np.zeros((2, 3))}, "weights and variances above 0"),
        ({"means": np.full((2, 3), np.nan)}, "finite means"),
        ({"variances": np.full((2, 3), np.inf)}, "a mixture must have finite means"),
    ],
    ids=["shapes", "no variance", "nan", "infinite"],
)
def test_mixtures_that_are_none_are_refused(change, sentence):
    good = {"weights": np.full(2, 0.5), "means": np.zeros((2, 3)), "variances": np.ones((2, 3))}
    with pytest.raises(ValueError, match=sentence):
        DiagonalGmm(**{**good, **change})
