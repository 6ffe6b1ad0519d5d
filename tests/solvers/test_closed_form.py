"""Systems of columns and of rows: the same machines as the normal equations, for every strength."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.data.dense import DenseMatrix
from manyclass.solvers.class_moments import ClassMoments
from manyclass.solvers.closed_form import ColumnSystem, RowSystem, TridiagonalForm, closed_form
from manyclass.solvers.problem import Problem
from tests.contracts.matrix import every_matrix
from tests.solvers.ridge_twin import ridge


def drawn(n, d, k, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    return rng.normal(size=(n, d)).astype(dtype) + rng.normal(size=(k, d))[y].astype(dtype) + 1, y


def systems(X, y, k, weights=None):
    problem = Problem.whole(X if hasattr(X, "rmatmat") else DenseMatrix(X), y, k, weights)
    return ColumnSystem(ClassMoments.of(problem)), RowSystem(problem)


@given(st.integers(1, 12), st.integers(1, 9), st.floats(1e-3, 10))
def test_a_tridiagonal_form_solves_what_the_matrix_does(r, m, shift):
    rng = np.random.default_rng(r)
    G = rng.normal(size=(r, r))
    A, Z = G @ G.T, rng.normal(size=(m, r))
    form = TridiagonalForm(A.copy())
    expected = np.linalg.solve(A + shift * np.eye(r), Z.T)
    rotated = form.rotated(Z)
    np.testing.assert_allclose(form.rotated_back(form.solve(rotated.T, shift)), expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(rotated, axis=1), np.linalg.norm(Z, axis=1))
    np.testing.assert_allclose(form.rotated(Z.astype(np.float32)), rotated, rtol=1e-4, atol=1e-4)


@given(st.integers(2, 30), st.integers(1, 12), st.integers(2, 4), st.booleans())
def test_both_systems_have_the_machines_of_the_normal_equations(n, d, k, weighted):
    X, y = drawn(n, d, min(k, n), n)
    c = np.random.default_rng(n).uniform(0.5, 2, n).astype(np.float32) if weighted else None
    for strength in (1e-3, 0.1, 10.0):
        W, b = ridge(X, y, k, strength, c)
        for system in systems(X, y, k, c):
            found_W, found_b = system.weights(strength)
            np.testing.assert_allclose(found_W, W, rtol=1e-7, atol=1e-8)
            np.testing.assert_allclose(found_b, b, rtol=1e-7, atol=1e-8)


@every_matrix
def test_every_kind_of_matrix_is_solved_by_both(make):
    X, y = make(np.random.default_rng(0), 14, 9), np.arange(14) % 3
    rows = X.rows(slice(0, 14)).astype(np.float64)
    strength = 0.1 * float(rows.var(axis=0).mean())
    W, b = ridge(rows, y, 3, strength)
    for system in systems(X, y, 3):
        found_W, found_b = system.weights(strength)
        scores, expected = rows @ found_W + found_b, rows @ W + b
        np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-4)


def test_rows_are_factored_where_they_are_fewer_than_columns():
    for n, kind in ((5, RowSystem), (20, ColumnSystem)):
        X, y = drawn(n, 10, 2)
        system, moments = closed_form(Problem.whole(DenseMatrix(X), y, 2))
        assert type(system) is kind
        assert (moments is None) == (kind is RowSystem)


def test_a_strength_below_rounding_is_refused():
    X, y = drawn(20, 4, 2)
    X[:, 3] = X[:, 2]
    system, _ = closed_form(Problem.whole(DenseMatrix(1e3 * X), y, 2))
    with pytest.raises(ValueError, match="regularization must be larger"):
        system.form.solve(np.eye(4), -1e3)


@pytest.mark.parametrize("offset", [1000.0, 1e19])
def test_fewer_rows_than_columns_bear_a_large_mean_and_large_numbers(offset):
    X, y = drawn(30, 80, 3, dtype=np.float32)
    X = X * np.float32(1e17) if offset > 1e9 else X + np.float32(offset)
    system = RowSystem(Problem.whole(DenseMatrix(X), y, 3))
    W, b = system.weights(0.1 * system.scale)
    expected_W, expected_b = ridge(X.astype(np.float64), y, 3, 0.1 * system.scale)
    size = np.abs(X @ expected_W.astype(np.float64)).max() + 1
    np.testing.assert_allclose(
        X.astype(np.float64) @ W + b, X.astype(np.float64) @ expected_W + expected_b, atol=1e-3 * size
    )
