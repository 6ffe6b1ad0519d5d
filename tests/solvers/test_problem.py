"""Objective: over some of the rows."""

import numpy as np
from contracts.solver import objective
from contracts.solver import value as exactly

from manyclass.solvers.batch.points import DenseWeights


def test_an_objective_of_some_rows_is_that_of_a_problem_without_the_others():
    made = objective(seed=3)
    some = made.of_rows(np.array([0, 5, 6, 30]))
    rng = np.random.default_rng(0)
    W, b = rng.standard_normal((made.d, made.k)), rng.standard_normal(made.k)
    losses = made.rows.loss.value_and_gradient(made.X.rows([0, 5, 6, 30]) @ W + b, made.rows.y[[0, 5, 6, 30]])[0]
    p = made.rows.p[[0, 5, 6, 30]]
    np.testing.assert_allclose(some.loss_of(DenseWeights(W, b).scores(some)), p @ losses / p.sum())
    np.testing.assert_allclose(exactly(some, W, b), p @ losses / p.sum() + made.penalty.value(W))
    assert made.n == 40
