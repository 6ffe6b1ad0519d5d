"""Objective: over some of the rows."""

import numpy as np
from contracts.solver import objective
from contracts.solver import value as exactly

import manyclass as mc
from manyclass.solvers.batch.points import DenseWeights
from manyclass.solvers.problem import Problem


def test_an_objective_of_some_rows_is_that_of_a_problem_without_the_others():
    made = objective(seed=3)
    some = made.of_rows(np.array([0, 5, 6, 30]))
    rng = np.random.default_rng(0)
    W, b = rng.standard_normal((made.d, made.k)), rng.standard_normal(made.k)
    losses = made.rows.loss.value_and_gradient(made.X.rows([0, 5, 6, 30]) @ W + b, made.rows.y[[0, 5, 6, 30]])[0]
    p = made.rows.p[[0, 5, 6, 30]]
    np.testing.assert_allclose(some.loss_of(DenseWeights(W, b)), p @ losses / p.sum())
    np.testing.assert_allclose(exactly(some, W, b), p @ losses / p.sum() + made.penalty.value(W))
    assert made.n == 40


def _problem(X, k):
    return Problem.whole(mc.DenseMatrix(X), np.arange(len(X)) % k, k)


def test_rows_are_known_by_coordinates_where_they_are_long_and_few():
    rows = np.random.default_rng(0).standard_normal((300, 4096)).astype(np.float32)
    whole = _problem(rows, 10)
    turned = whole.in_row_space(300)
    assert turned.X.shape == (300, 300)
    assert turned.index is whole.index
    assert whole.in_row_space(299) is whole
    for X in (rows[:, :1000], rows[:100], np.zeros((300, 4096), np.float32)):
        same = _problem(X, 10)
        assert same.in_row_space(1000) is same


def test_other_rows_are_seen_in_the_columns_of_a_problem():
    rng = np.random.default_rng(0)
    whole, other = (_problem(rng.standard_normal((n, 4096)), 4) for n in (300, 20))
    turned = whole.in_row_space(300)
    V = rng.standard_normal((300, 4))
    np.testing.assert_allclose(other.with_columns_of(turned).X @ V, other.X @ turned.X.lift(V), atol=1e-9)
    assert other.with_columns_of(whole).X is other.X
