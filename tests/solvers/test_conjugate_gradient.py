"""Least squares of all classes by conjugate gradients, against the plain loop in float64 and the direct solution."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import manyclass as mc
from manyclass.data.dense import DenseMatrix
from manyclass.solvers.conjugate_gradient import NormalEquations, some_mean
from manyclass.solvers.problem import Problem


def _data(n=60, d=7, k=4, seed=0, dtype=np.float32):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % k).astype(np.int32)
    X = rng.normal(size=(k, d))[y] + rng.normal(size=(n, d)) + 3
    return X.astype(dtype), y, rng.uniform(0.5, 2, n).astype(np.float32)


def _equations(X, y, k, weights=None, matrix=DenseMatrix):
    problem = Problem.whole(matrix(X), y, k, weights)
    equations = NormalEquations(some_mean(problem.X, problem.index), k)
    equations.add(problem)
    return equations


def twin(X, y, k, c, n_iter):
    """One class after the other, one step after the other, in float64."""
    X, p = X.astype(np.float64), c / c.sum(dtype=np.float64)
    mean = p @ X
    A = (X - mean).T @ (p[:, None] * (X - mean))
    W, b = np.zeros((k, X.shape[1])), np.zeros(k)
    for j in range(k):
        t = np.where(y == j, 1.0, -1.0)
        r = (X - mean).T @ (p * t)
        direction, w = r.copy(), np.zeros(len(r))
        for _ in range(n_iter):
            length = r @ r / (direction @ A @ direction)
            w += length * direction
            new = r - length * A @ direction
            direction = new + new @ new / (r @ r) * direction
            r = new
        W[j], b[j] = w, p @ t - w @ mean
    return W, b


@pytest.mark.parametrize("n_iter", [1, 2, 4])
@given(n=st.integers(12, 80), d=st.integers(4, 20), k=st.integers(3, 6), seed=st.integers(0, 99))
def test_steps_are_those_of_the_plain_loop(n_iter, n, d, k, seed):
    X, y, c = _data(n, d, k, seed)
    W, b = _equations(X, y, k, c).solve(n_iter)
    expected, biases = twin(X, y, k, c, n_iter)
    size = np.abs(expected).max()
    np.testing.assert_allclose(W, expected, atol=5e-3 * size)
    np.testing.assert_allclose(b, biases, atol=2e-2 * size * np.abs(X).max())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_as_many_steps_as_columns_solve_the_equations(dtype):
    X, y, c = _data(dtype=dtype)
    W, b = _equations(X, y, 4, c).solve(7)
    T = np.where(y[:, None] == np.arange(4), 1.0, -1.0)
    root = np.sqrt(c)[:, None]
    solved = np.linalg.lstsq(root * np.c_[X, np.ones(len(X))], root * T, rcond=None)[0]
    np.testing.assert_allclose(W, solved[:-1].T, atol=1e-3)
    np.testing.assert_allclose(b, solved[-1], atol=1e-2)


def test_rows_may_come_in_parts():
    X, y, c = _data(n=2000)
    whole, parts = _equations(X, y, 4, c), Problem.whole(DenseMatrix(X), y, 4, c)
    equations = NormalEquations(whole.center, 4)
    for index in (np.arange(0, 2000, 3), np.flatnonzero(np.arange(2000) % 3)):
        equations.add(parts.part(index))
    np.testing.assert_allclose(equations.gram, whole.gram, rtol=1e-4)
    np.testing.assert_array_equal(equations.gram, equations.gram.T)
    np.testing.assert_allclose(equations.sums, whole.sums, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(equations.weights, whole.weights)


def test_sums_are_those_of_weighted_rows_around_the_center():
    X, y, c = _data(n=700, d=300)
    equations = _equations(X, y, 4, c)
    T = X.astype(np.float64) - equations.center
    np.testing.assert_allclose(equations.gram, T.T @ (c[:, None] * T), atol=2e-3)
    np.testing.assert_allclose(equations.sums, [(c[:, None] * T)[y == j].sum(axis=0) for j in range(4)], atol=2e-3)
    np.testing.assert_allclose(equations.weights, [c[y == j].sum() for j in range(4)], rtol=1e-6)


def test_some_classes_take_the_steps_that_they_take_among_all():
    X, y, c = _data()
    equations = _equations(X, y, 4, c)
    W, b = equations.solve(3)
    *_, (some, biases) = equations.steps(3, np.array([3, 1]))
    np.testing.assert_allclose(some, W[[3, 1]], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(biases, b[[3, 1]], rtol=1e-4)


def test_mean_scores_are_those_of_own_and_of_other_classes():
    X, y, c = _data()
    equations = _equations(X, y, 4, c)
    W, b = equations.solve(2)
    S, own = X @ W.T + b, y[:, None] == np.arange(4)
    weights = np.broadcast_to(c[:, None], S.shape)
    expected = np.average(S[own], weights=weights[own]), np.average(S[~own], weights=weights[~own])
    np.testing.assert_allclose(equations.mean_scores(W), expected, atol=1e-4)


def test_the_number_of_threads_changes_no_bit():
    X, y, c = _data(n=1500, d=600, k=300)
    found = []
    for n_threads in (1, 2):
        with mc.threads(n_threads):
            equations = _equations(X, y, 300, c)
            found.append((equations.gram, *equations.solve(3)))
    for one, two in zip(*found, strict=True):
        np.testing.assert_array_equal(one, two)


def test_classes_without_rows_and_columns_that_are_constant_stay_at_zero():
    X, y, _ = _data()
    X[:, 2] = 5
    W, b = _equations(X, y, 6).solve(20)
    assert np.isfinite(W).all()
    assert not W[4:].any()
    np.testing.assert_array_equal(W[:, 2], 0)
    np.testing.assert_array_equal(b[4:], -1)


def test_sparse_rows_have_the_sums_of_dense_ones():
    X, y, c = _data()
    np.testing.assert_array_equal(
        _equations(X, y, 4, c).gram, _equations(sparse.csr_array(X), y, 4, c, mc.as_matrix).gram
    )
