"""The bound of the certificate is below the optimum, wherever the point is."""

import numpy as np
import pytest
from contracts.solver import objective, value
from hypothesis import given
from hypothesis import strategies as st

import manyclass as mc
from manyclass.losses.multiclass import as_score_loss
from manyclass.penalties.norms import TraceNorm
from manyclass.solvers.batch.duality import ScaledDual, duality_gap
from manyclass.solvers.batch.null_model import fit_null_model
from manyclass.solvers.batch.points import DenseWeights, LowRankWeights
from manyclass.solvers.batch.solve import solve
from manyclass.solvers.problem import Objective, Problem

GAUGES = ["trace", "l1", "group", None]
_optima: dict = {}


def _case(loss, gauge, ridge, fit_intercept):
    key = (loss, gauge, ridge, fit_intercept)
    if key not in _optima:
        made = objective(gauge, loss, ridge=ridge, fit_intercept=fit_intercept)
        _optima[key] = made, fit_null_model(made), solve(made, "fista", 1e-9, max_iter=5000)
    return _optima[key]


@pytest.mark.parametrize("loss", ["softmax", "smoothed_hinge", "squared", "logistic"])
@pytest.mark.parametrize("gauge", GAUGES)
@pytest.mark.parametrize("ridge", [0.0, 0.01])
@given(size=st.sampled_from([1e-6, 1e-3, 0.1, 3.0]), seed=st.integers(0, 1000), fit_intercept=st.booleans())
def test_no_point_proves_too_much(loss, gauge, ridge, size, seed, fit_intercept):
    if gauge is None and not ridge:
        return
    made, base, best = _case(loss, gauge, ridge, fit_intercept)
    rng = np.random.default_rng(seed)
    W = best.W + size * rng.standard_normal(best.W.shape)
    b = best.b + size * fit_intercept * rng.standard_normal(best.b.shape)
    certificate = duality_gap(made, DenseWeights(W, b), base)
    np.testing.assert_allclose(certificate.objective, value(made, W, b))
    assert certificate.bound <= best.objective + 1e-8
    assert certificate.gap >= certificate.objective - best.objective - 1e-8


@pytest.mark.parametrize("gauge", GAUGES)
def test_the_bound_meets_the_optimum(gauge):
    made, base, best = _case("softmax", gauge, 0.01, True)
    certificate = duality_gap(made, best.point, base)
    assert certificate.gap <= 1e-5 * certificate.objective
    assert certificate.excess <= 1e-4


def test_factors_are_certified_like_the_whole():
    made, base, best = _case("softmax", "trace", 0.01, True)
    U, s, V = best.factors
    whole, product = (duality_gap(made, point, base) for point in (best.point, LowRankWeights(U * s, V, best.b)))
    np.testing.assert_allclose(product.objective, whole.objective)
    np.testing.assert_allclose(product.bound, whole.bound, rtol=1e-6)


@pytest.mark.parametrize("ridge", [0.0, 0.01])
def test_a_sharp_hinge_is_certified_though_its_gradient_at_zero_lies_on_the_edge_of_the_domain(ridge):
    made, base, best = _case("smoothed_hinge", "trace", ridge, True)
    b = best.b + 1e-6 * np.random.default_rng(0).standard_normal(made.k)
    certificate = duality_gap(made, DenseWeights(best.W, b), base)
    assert certificate.gap <= 1e-4 * certificate.objective


def test_rows_scaled_by_class_have_columns_that_add_up_to_zero():
    made, _, best = _case("smoothed_hinge", "trace", 0.01, True)
    point = DenseWeights(1.1 * best.W, best.b + 0.01 * np.arange(made.k))
    scaled = ScaledDual.of(made, point)
    S = point.scores(made.sums)(slice(0, made.n))
    Q = made.rows.p[:, None] * scaled.rows()(made.rows.loss.value_and_gradient(S, made.rows.y)[1], made.rows.y)
    np.testing.assert_allclose(Q.sum(axis=0), 0, atol=1e-15)
    np.testing.assert_allclose(scaled.gradient(), made.X.toarray().T @ Q, atol=1e-14)
    assert scaled.t.max() == 1
    assert scaled.t.min() > 0.5


def test_losses_whose_rows_do_not_add_up_to_zero_are_not_scaled():
    made, _, best = _case("logistic", "trace", 0.01, True)
    assert ScaledDual.of(made, best.point) is None


@pytest.mark.parametrize("loss", ["softmax", "smoothed_hinge", "squared", "logistic"])
def test_classes_of_one_row_beside_a_large_one_have_a_finite_gap(loss):
    rng = np.random.default_rng(0)
    y = np.where(np.arange(60) < 57, 0, np.arange(60) - 56)
    problem = Problem.whole(mc.as_matrix(rng.standard_normal((60, 8))), y, 4)
    made = Objective(problem, as_score_loss(loss), TraceNorm(1e-2))
    base = fit_null_model(made)
    W = rng.standard_normal((8, 4))
    certificate = duality_gap(made, DenseWeights(W, base.b), base)
    assert np.isfinite(certificate.gap)


def test_a_weight_that_is_too_long_is_certified_by_a_multiple_above_one():
    made, base, best = _case("softmax", "trace", 0.0, False)
    certificate = duality_gap(made, DenseWeights(1.01 * best.W, best.b), base)
    above = certificate.objective - best.objective
    assert certificate.excess < 0
    # The plain dual point has a gap of strength |W| + <W, G>, which is of first order.
    slope = made.gauge.value(1.01 * best.W) + np.vdot(1.01 * best.W, certificate.gradient)
    assert above <= certificate.gap < 0.5 * slope
