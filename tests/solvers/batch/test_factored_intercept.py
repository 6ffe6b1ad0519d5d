"""The best b for a given W."""

import numpy as np
import pytest
from contracts.solver import objective, rows, slopes

from manyclass.solvers.batch.factored import refit_intercept
from manyclass.solvers.batch.points import LowRankWeights


def _point(made, seed=0):
    rng = np.random.default_rng(seed)
    A, B = (0.5 * rng.standard_normal((size, 3)).astype(made.dtype) for size in (made.d, made.k))
    return LowRankWeights(A, B, rng.standard_normal(made.k))


@pytest.mark.parametrize("loss", ["softmax", "smoothed_hinge", "squared", "logistic"])
def test_the_gradient_by_b_vanishes_against_the_shares_of_classes(loss):
    made = objective(loss=loss)
    point = _point(made)
    found = refit_intercept(made, point, 1e-5)
    gradient = slopes(made, found.to_dense(), found.b)[1]
    assert np.abs(gradient / made.rows.class_fractions).max() <= 1e-5
    assert found.A is point.A
    assert found.B is point.B


def test_float32_gives_up_after_some_steps_with_the_smallest_gradient_that_it_met():
    X, y, weights = rows(0)
    made = objective(X=X.astype(np.float32), y=y, weights=weights)
    point = _point(made)
    found = refit_intercept(made, point, 0.0)
    before, after = (np.abs(slopes(made, point.to_dense(), b)[1]).max() for b in (point.b, found.b))
    assert after < 1e-6 < 1e-2 < before


def test_without_an_intercept_b_stays():
    made = objective(fit_intercept=False)
    point = LowRankWeights(*(_point(made).A, _point(made).B), np.zeros(made.k))
    found = refit_intercept(made, point, 1e-6)
    assert not found.b.any()


@pytest.mark.parametrize("budget", [1 << 30, 1])
def test_the_scores_are_those_of_the_point(budget):
    made = objective(budget=budget)
    point = _point(made)
    found = refit_intercept(made, point, 1e-3)
    for one in (found, point):
        exact = made.X.toarray() @ one.to_dense() + one.b
        np.testing.assert_allclose(one.scores(made.sums)(slice(5, 12)), exact[5:12], rtol=1e-12)


def test_no_product_with_the_rows_is_made():
    made = objective()
    point = _point(made)
    made.loss_of(point)
    passes = made.passes
    refit_intercept(made, point, 1e-6)
    assert made.passes == passes
