"""Descent on factors with columns that are added: where they begin, and what is proved at many classes."""

import numpy as np
import pytest
from contracts.solver import objective, rows

import manyclass as mc
from manyclass.losses.multiclass import Softmax
from manyclass.penalties.norms import TraceNorm
from manyclass.penalties.ridge import Ridge
from manyclass.solvers.batch import factored
from manyclass.solvers.batch.factored_lbfgs import sizes
from manyclass.solvers.batch.null_model import alpha_max, fit_null_model
from manyclass.solvers.batch.points import LowRankWeights, balance_factors, zero_weights
from manyclass.solvers.batch.solve import solve
from manyclass.solvers.problem import Objective, Problem


def _many_classes(n, d, k, ridge=0.0):
    made = mc.datasets.low_rank_classes(n, d, k)
    plain = Objective(Problem.whole(mc.DenseMatrix(made.rows(slice(0, n))), made.y, k), Softmax(), TraceNorm(1.0))
    gauge = TraceNorm(0.1 * alpha_max(plain))
    return plain.with_penalty(gauge + Ridge(ridge) if ridge else gauge)


def _value(made, point):
    loss = made.loss_of(point)
    return loss + made.penalty.value(point.to_dense())


@pytest.mark.parametrize("ridge", [0.0, 0.01])
def test_columns_begin_with_about_the_length_that_is_best_for_all_of_them(ridge):
    made = objective(ridge=ridge)
    begun = factored._initial_factors(made, fit_null_model(made))
    lengths = [0.25, 0.5, 1, 2, 4]
    values = [_value(made, LowRankWeights(t * begun.A, begun.B, begun.b)) for t in lengths]
    assert 0.5 <= lengths[int(np.argmin(values))] <= 2


def test_columns_that_gain_little_begin_as_long_as_all_rows_want_and_not_as_a_sample_does(monkeypatch):
    made = _many_classes(1200, 64, 40)
    best = balance_factors(solve(made, tolerance=1e-5).point)
    last = int(np.flatnonzero(sizes(best) > 0.02 * sizes(best)[0])[-1])
    without = LowRankWeights(best.A[:, :last], best.B[:, :last], best.b)
    slope = made.gradient(without).W
    lengths = []
    for some in (made.n, 60):
        monkeypatch.setattr(factored, "_SAMPLE_ROWS", some)
        lengths.append(
            sizes(factored._descent_with_missing_columns(made, fit_null_model(made), without, slope).point())[last]
        )
    assert 0.2 < lengths[0] / sizes(best)[last] < 5
    assert 0.2 < lengths[1] / lengths[0] < 5


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_column_that_no_sampled_row_knows_begins_with_a_length_that_can_be_used(fit_intercept):
    X, y, weights = rows(0, n=1100)
    X[:, 0] = 0
    X[np.setdiff1d(np.arange(1100), np.linspace(0, 1099, factored._SAMPLE_ROWS).astype(int))[:9], 0] = 1
    made = objective(X=X, y=y, weights=weights, ridge=0.0, fit_intercept=fit_intercept)
    base, slope = fit_null_model(made), np.zeros((6, 4))
    slope[0, 1] = 2 * made.gauge.strength
    begun = factored._descent_with_missing_columns(made, base, zero_weights(made, base.b), slope)
    assert made.gauge.value(begun.point().to_dense()) <= 2 * base.loss * (1 + 1e-12)


def test_columns_begin_without_a_change_of_the_mean_scores():
    X, y, weights = rows(0)
    made = objective(X=X + 50, y=y, weights=weights)
    base = fit_null_model(made)
    begun = factored._initial_factors(made, base)
    assert np.abs(begun.to_dense()).max() > 0.01
    np.testing.assert_allclose(base.mean @ begun.to_dense() + begun.b, base.b, atol=1e-9)


def test_no_missing_column_leaves_the_point_as_it_is():
    made = objective()
    point = zero_weights(made, fit_null_model(made).b)
    nothing = np.zeros((6, 0)), np.zeros(0), np.zeros((4, 0))
    assert factored._add_columns(made, fit_null_model(made), point, nothing) is point


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_slope_that_is_rounding_alone_begins_no_column(dtype):
    _, y, _ = rows(0)
    made = objective(X=np.ones((40, 6), dtype), y=y)
    assert not factored._initial_factors(made, fit_null_model(made)).A.size
    assert solve(made, "factored").rank == 0


def test_nothing_grows_at_the_optimum():
    made = objective()
    best = solve(made, tolerance=1e-12).point.to_low_rank()
    slope = made.gradient(best).W + made.ridge.gradient(best.to_dense())
    assert factored._descent_with_missing_columns(made, fit_null_model(made), best, 0.999 * slope) is None


@pytest.mark.parametrize("ridge", [0.0, 1e-5])
def test_the_tolerance_is_proved_at_many_classes_in_float32(ridge):
    found = solve(_many_classes(1200, 64, 200, ridge), tolerance=1e-4)
    assert found.status == "optimal"
    assert found.gap <= 1e-4 * found.objective
    assert found.passes < 300
