"""Descent on factors: where it begins, how it judges what is left, and what it remembers."""

import numpy as np
import pytest
from contracts.solver import objective, rows
from scipy.optimize import approx_fprime

from manyclass.solvers.batch import factored_lbfgs
from manyclass.solvers.batch.factored_lbfgs import FactoredDescent, FactoredLoss, Units
from manyclass.solvers.batch.null_model import fit_null_model
from manyclass.solvers.batch.points import LowRankWeights
from manyclass.solvers.batch.solution import SolverRun
from manyclass.solvers.batch.solve import solve


def _point(made, r=4, seed=0):
    rng = np.random.default_rng(seed)
    A, B = (0.3 * rng.standard_normal((size, r)).astype(made.dtype) for size in (made.d, made.k))
    return LowRankWeights(A, B, np.zeros(made.k))


def test_a_first_step_goes_to_the_bottom_of_a_parabola():
    H = np.diag([1.0, 4.0])

    def function(x):
        return x @ H @ x / 2, H @ x

    for x in (np.array([1.0, 0.0]), np.array([0.0, 1.0])):
        length = factored_lbfgs._first_length(function, 20 * x, H @ x)
        np.testing.assert_allclose(length, np.linalg.norm(x))


def test_a_first_step_is_no_longer_than_a_tenth_where_the_function_is_not_bent():
    x = np.array([3.0, 4.0])
    assert factored_lbfgs._first_length(lambda x: (0.0, np.ones(2)), x, np.ones(2)) == 0.5
    assert factored_lbfgs._first_length(lambda x: (0.0, np.ones(2)), x, np.zeros(2)) == 0.5


@pytest.mark.parametrize("loss", ["softmax", "smoothed_hinge"])
@pytest.mark.parametrize("target", [1e-2, 1e-4])
def test_about_as_much_is_left_to_gain_as_was_asked_for(loss, target):
    made = objective(loss=loss)
    base, descent, run = fit_null_model(made), FactoredDescent(made, fit_null_model(made), _point(made)), SolverRun()
    optimum = solve(made, tolerance=1e-9).objective
    assert not descent.run(run, base, target, 1000)
    assert descent.function(descent.x)[0] - optimum <= 3 * target * min(optimum, base.loss - optimum)
    assert len(run.history) < 100


def test_it_goes_on_where_it_was_left_and_pressing_makes_it_go_further():
    made = objective()
    base, descent, run = fit_null_model(made), FactoredDescent(made, fit_null_model(made), _point(made)), SolverRun()
    descent.run(run, base, 1e-2, 1000)
    steps, before = len(run.history), descent.relative_gradient
    descent.max_relative_gradient = 0.1 * descent.relative_gradient
    descent.run(run, base, 1e-2, 1000)
    assert len(run.history) > steps
    assert descent.relative_gradient <= 0.1 * before


def test_rounding_of_float32_ends_it_at_last():
    X, y, weights = rows(0)
    made = objective(X=X.astype(np.float32), y=y, weights=weights)
    descent = FactoredDescent(made, fit_null_model(made), _point(made))
    descent.max_relative_gradient = 0.0
    assert descent.run(SolverRun(), fit_null_model(made), 0.0, 10_000)


def test_the_gradient_of_the_factored_loss_is_that_of_differences():
    made = objective()
    function = FactoredLoss(made, Units(np.array([0.5, 2.0]), 0.7, np.linspace(-1, 1, made.d)))
    x = function.pack(*(part for part in (_point(made, 2).A, _point(made, 2).B, np.ones(made.k))))
    np.testing.assert_allclose(function(x)[1], approx_fprime(x, lambda v: function(v)[0], 1e-7), atol=1e-5)


def test_latent_features_are_remembered_for_the_last_point_alone():
    made = objective()
    function = FactoredLoss(made, Units(np.ones(2), 1.0, np.ones(made.d)))
    x = function.pack(_point(made, 2).A, _point(made, 2).B, np.zeros(made.k))
    function(x)
    passes = made.passes
    made.loss_of(function.point(x))
    assert made.passes == passes
    assert function(2 * x)[0] != function(x)[0]
    assert made.passes == passes + 4
