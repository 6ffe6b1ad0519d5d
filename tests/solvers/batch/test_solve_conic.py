"""The optimum, against a conic solver, for every loss and gauge."""

import cvxpy as cp
import numpy as np
import pytest
from contracts.solver import objective, rows

from manyclass.losses.multiclass import SCORE_LOSSES, as_score_loss
from manyclass.solvers.batch.solve import solve

CASES = [(loss, gauge) for loss in SCORE_LOSSES for gauge in ("trace", "l1", "group")]
# Each pair once, then other shapes, strengths and no intercept.
PROBLEMS = [(seed, loss, gauge, seed % 3 != 2) for seed, (loss, gauge) in enumerate([*CASES, *CASES[::-1]][:20])]


def _losses(name, S, Y):
    right = cp.sum(cp.multiply(S, Y), axis=1)
    if name == "softmax":
        return cp.log_sum_exp(S, axis=1) - right
    if name == "smoothed_hinge":
        a = as_score_loss(name).sharpness
        return cp.log_sum_exp(a * (S + 1 - Y), axis=1) / a - right
    if name == "squared":
        return cp.sum(cp.square(S - Y), axis=1) / 2
    return cp.sum(cp.logistic(cp.multiply(1 - 2 * Y, S)), axis=1)


NORMS = {
    "trace": cp.normNuc,
    "l1": lambda W: cp.sum(cp.abs(W)),
    "group": lambda W: cp.sum(cp.norm(W, 2, axis=1)),
}


def _conic(made, loss, gauge):
    X, k = made.X.toarray(), made.k
    W, b = cp.Variable((made.d, k)), cp.Variable((1, k))
    S = X @ W + (np.ones((made.n, 1)) @ b if made.fit_intercept else 0)
    penalty = made.gauge.strength * NORMS[gauge](W) + made.ridge.strength * cp.sum_squares(W)
    problem = cp.Problem(cp.Minimize(made.rows.p @ _losses(loss, S, np.eye(k)[made.rows.y]) + penalty))
    return problem.solve(solver="CLARABEL", tol_gap_rel=1e-9, tol_gap_abs=1e-9, tol_feas=1e-9)


@pytest.mark.parametrize(("seed", "loss", "gauge", "fit_intercept"), PROBLEMS)
def test_the_optimum_is_that_of_a_conic_solver(seed, loss, gauge, fit_intercept):
    X, y, weights = rows(seed, n=18 + seed, d=3 + seed % 4, k=2 + seed % 4)
    made = objective(
        gauge,
        loss,
        share=0.05 + 0.4 * (seed % 5) / 5,
        ridge=0.02 * (seed % 2),
        X=X,
        y=y,
        weights=weights,
        fit_intercept=fit_intercept,
    )
    optimum = _conic(made, loss, gauge)
    for solver in ("auto", "fista"):
        found = solve(made, solver, 1e-7)
        assert found.status == "optimal"
        np.testing.assert_allclose(found.objective, optimum, rtol=1e-6)
        assert found.objective - found.gap <= optimum * (1 + 1e-8)
