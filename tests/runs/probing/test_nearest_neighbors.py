"""Votes of the nearest rows: those that an obvious NumPy program finds, whatever the blocks."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsClassifier

import manyclass as mc
from manyclass.runs.probing import nearest_neighbors
from manyclass.runs.probing.nearest_neighbors import NearestNeighbors, most_votes


def plain_votes(X, y, Q, k, top, metric="cosine", temperature=0.07):
    """One query after the other."""
    found = np.full((len(Q), top), -1)
    for i, q in enumerate(Q.astype(float)):
        if metric == "cosine":
            S = X @ q / np.linalg.norm(X, axis=1) / np.linalg.norm(q)
            weights = np.exp(S / temperature)
        else:
            S = -np.linalg.norm(X - q, axis=1)
            weights = 1 / np.maximum(-S, 1e-12)
        votes = defaultdict(float)
        for place in np.argsort(-S, kind="stable")[:k]:
            votes[int(y[place])] += weights[place]
        best = sorted(votes, key=lambda label: -votes[label])[:top]
        found[i, : len(best)] = best
    return found


@given(
    n=st.integers(1, 40), m=st.integers(0, 9), d=st.integers(1, 6), k=st.integers(1, 50), top=st.integers(1, 6),
    metric=st.sampled_from(["cosine", "euclidean"]), seed=st.integers(0, 99),
)  # fmt: skip
def test_votes_are_those_of_a_plain_program(n, m, d, k, top, metric, seed):
    rng = np.random.default_rng(seed)
    X, Q, y = rng.normal(size=(n, d)), rng.normal(size=(m, d)), rng.integers(0, 4, n)
    if d == 1 and metric == "cosine":
        X, Q = np.hstack([X, rng.normal(size=(n, 1))]), np.hstack([Q, rng.normal(size=(m, 1))])
    model = NearestNeighbors(mc.DenseMatrix(X.astype(np.float32)), y, k, metric)
    found = model.predict_top(mc.DenseMatrix(Q.astype(np.float32)), top)
    assert found.tolist() == plain_votes(X, y, Q, k, top, metric).tolist()


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_blocks_of_rows_change_nothing(monkeypatch, metric):
    rng = np.random.default_rng(0)
    X, Q = (mc.DenseMatrix(rng.standard_normal((size, 5), np.float32)) for size in (5000, 1500))
    model = NearestNeighbors(X, rng.integers(0, 9, 5000), 20, metric)
    whole = model.neighbors(Q, 20)
    monkeypatch.setattr(nearest_neighbors, "_BYTES", 1)
    parts = model.neighbors(Q, 20)
    np.testing.assert_array_equal(parts[1], whole[1])
    np.testing.assert_array_equal(parts[0], whole[0])


def test_distances_are_those_of_scikit_learn_far_from_the_origin():
    rng = np.random.default_rng(0)
    X, Q, y = rng.normal(size=(200, 4)) + 1000, rng.normal(size=(50, 4)) + 1000, rng.integers(0, 5, 200)
    peer = KNeighborsClassifier(5, weights="distance").fit(X, y)
    model = NearestNeighbors(mc.DenseMatrix(X), y, 5, "euclidean")
    distances, places = peer.kneighbors(Q)
    found = model.neighbors(mc.DenseMatrix(Q), 5)
    np.testing.assert_array_equal(found[1], places)
    np.testing.assert_allclose(-found[0], distances, rtol=1e-4)
    assert (model.predict_top(mc.DenseMatrix(Q), 1)[:, 0] == peer.predict(Q)).all()


def test_a_row_of_zeros_is_near_to_nothing_and_does_no_harm():
    X = mc.DenseMatrix(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    model = NearestNeighbors(X, np.array([0, 1, 2]), 2)
    assert model.predict_top(mc.DenseMatrix(np.array([[0.2, 1.0]])), 2).tolist() == [[2, 1]]


def test_of_equal_votes_the_class_of_the_nearest_wins():
    assert most_votes(np.array([[7, 2, 2, 7]]), np.ones((1, 4)), 2).tolist() == [[7, 2]]
