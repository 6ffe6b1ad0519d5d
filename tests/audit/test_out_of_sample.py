"""What other rows say of a row is what fits and searches without it would say."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyclass as mc
from manyclass.audit import out_of_sample
from manyclass.audit.out_of_sample import LeftOutMachines, Neighbors, NeighborVotes, standard_rows


@pytest.mark.parametrize("shape", [(60, 5), (20, 30)])
def test_machines_have_not_seen_the_row(shape):
    rng = np.random.default_rng(0)
    n, _ = shape
    y = (np.arange(n) % 3).astype(np.int32)
    X = rng.normal(size=shape) + y[:, None]
    machines = LeftOutMachines(mc.DenseMatrix(X), y, 3)
    rows = np.array([0, 7, n - 1])
    found = machines.scores(rows)
    for row, scores in zip(rows, found, strict=True):
        rest = np.arange(n) != row
        alone = mc.SquareLossClassifier(machines.strength * n / (n - 1)).fit(X[rest], y[rest])
        assert scores == pytest.approx(alone.decision_function(X[row : row + 1])[0], abs=1e-3)


def test_rows_have_unit_length_and_columns_one_scale():
    X = np.random.default_rng(0).normal(size=(50, 4)) * [1, 100, 1e-3, 0] + 5
    Z = standard_rows(mc.DenseMatrix(X))
    twin = (X - X.mean(axis=0))[:, :3] / X.std(axis=0)[:3]
    assert Z[:, 3] == pytest.approx(0)
    assert Z[:, :3] == pytest.approx(twin / np.linalg.norm(twin, axis=1, keepdims=True), abs=1e-5)


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 40), st.integers(1, 6), st.integers(1, 9), st.integers(0, 99))
def test_neighbors_are_the_other_rows_of_highest_cosine(n, d, j, seed):
    X = np.random.default_rng(seed).normal(size=(n, d))
    near, cosines = Neighbors(mc.DenseMatrix(X), j).of(np.arange(n))
    S = standard_rows(mc.DenseMatrix(X)).astype(np.float64)
    S = S @ S.T
    np.fill_diagonal(S, -np.inf)
    assert near.shape == (n, min(j, n - 1))
    assert (near != np.arange(n)[:, None]).all()
    assert cosines == pytest.approx(-np.sort(-S, axis=1)[:, : min(j, n - 1)], abs=1e-5)


def test_a_row_with_many_copies_is_no_neighbor_of_itself():
    X = np.repeat(np.eye(3), 10, axis=0)
    near, _ = Neighbors(mc.DenseMatrix(X), 4).of(np.arange(30))
    assert (near != np.arange(30)[:, None]).all()
    assert (near // 10 == np.arange(30)[:, None] // 10).all()


def test_of_very_many_rows_some_are_asked(monkeypatch):
    monkeypatch.setattr(out_of_sample, "_MOST", 10)
    near, _ = Neighbors(mc.DenseMatrix(np.random.default_rng(0).normal(size=(100, 3))), 4).of(np.arange(100))
    assert set(near.ravel()) <= set(np.linspace(0, 99, 10).astype(int))
    assert (near != np.arange(100)[:, None]).all()


def test_votes_count_the_classes_of_neighbors_by_how_near_they_are():
    X = np.array([[1, 0], [1, 0.1], [1, -0.1], [-1, 0], [-1, 0.2]])
    neighbors, y = Neighbors(mc.DenseMatrix(X), 2), np.array([0, 0, 1, 2, 2])
    near, cosines = neighbors.of(np.arange(5))
    found = NeighborVotes(neighbors, y, 3).scores(np.array([0, 3]))
    for line, row in zip(found, (0, 3), strict=True):
        votes = np.full(3, 0.1)
        for other, cosine in zip(near[row], cosines[row], strict=True):
            votes[y[other]] += np.exp(10 * (cosine - cosines[row].max()))
        assert line == pytest.approx(np.log(votes), abs=1e-5)
