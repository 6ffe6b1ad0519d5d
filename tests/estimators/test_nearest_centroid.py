"""The nearest mean: that of NumPy and of scikit-learn, in any storage, with any number of threads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neighbors import NearestCentroid

import manyclass as mc
from tests.estimators.problems import blobs


@given(k=st.integers(2, 6), d=st.integers(1, 5), seed=st.integers(0, 50))
def test_by_distance_it_is_that_of_scikit_learn(k, d, seed):
    X, y = blobs(k, 7, d, spread=2.0, seed=seed)
    X = X.astype(np.float64) + 3
    peer, ours = NearestCentroid().fit(X, y), mc.NearestCentroid("euclidean").fit(X, y)
    np.testing.assert_allclose(ours.coef_, peer.centroids_, rtol=1e-6)
    assert (ours.predict(X) == peer.predict(X)).all()


@given(k=st.integers(2, 6), d=st.integers(2, 5), seed=st.integers(0, 50))
def test_by_angle_it_is_that_of_means_of_unit_rows(k, d, seed):
    X, y = blobs(k, 7, d, spread=2.0, seed=seed)
    U = X.astype(float) / np.linalg.norm(X.astype(float), axis=1, keepdims=True)
    M = np.stack([U[y == label].mean(axis=0) for label in range(k)])
    cosines = U @ M.T / np.linalg.norm(M, axis=1)
    ours = mc.NearestCentroid().fit(X, y)
    np.testing.assert_allclose(ours.coef_, M / np.linalg.norm(M, axis=1, keepdims=True), atol=1e-5)
    assert np.mean(ours.predict(X) == cosines.argmax(axis=1)) > 0.97  # ties but for rounding


def test_rows_of_other_lengths_change_nothing_by_angle():
    X, y = blobs()
    scaled = X * np.random.default_rng(0).uniform(0.1, 9, (len(X), 1)).astype(np.float32)
    one, other = (mc.NearestCentroid().fit(rows, y) for rows in (X, scaled))
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-5)


def test_a_weight_counts_like_so_many_rows_and_a_class_without_any_is_never_the_nearest():
    X, y = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]), np.array([0, 1, 1])
    weighted = mc.NearestCentroid("euclidean").fit(X, y, sample_weight=[1, 3, 1])
    assert weighted.coef_.tolist() == [[1.0, 0.0], [0.0, 0.5]]
    without = mc.NearestCentroid().fit(X, y, sample_weight=[0, 1, 0])
    assert without.predict(X).tolist() == [1, 1, 1]


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_threads_and_storage_change_no_bit(metric, tmp_path):
    X, y = blobs(5, 600, 7)
    fits = [mc.NearestCentroid(metric, n_threads=n).fit(X, y) for n in (1, 2)]
    np.save(tmp_path / "x.npy", X)
    fits.append(mc.NearestCentroid(metric).fit(tmp_path / "x.npy", y))
    assert len({fit.coef_.tobytes() + fit.intercept_.tobytes() for fit in fits}) == 1


def test_it_is_saved_and_read_back(tmp_path):
    X, y = blobs()
    model = mc.NearestCentroid("euclidean").fit(X, y)
    model.save(tmp_path / "model")
    assert (mc.load(tmp_path / "model").decision_function(X) == model.decision_function(X)).all()


def test_another_metric_is_refused():
    with pytest.raises(ValueError, match="metric must be one of cosine, euclidean; got 'city block'"):
        mc.NearestCentroid("city block").fit(*blobs())
