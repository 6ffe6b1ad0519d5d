"""The best that W = 0 can do."""

import numpy as np
import pytest
from contracts.solver import objective, rows, slopes, value

from manyclass.solvers.batch.null_model import alpha_max, fit_null_model
from manyclass.solvers.batch.solve import solve


@pytest.mark.parametrize("loss", ["softmax", "smoothed_hinge", "squared", "logistic"])
def test_its_intercept_is_the_best(loss):
    made = objective(loss=loss)
    base = fit_null_model(made)
    zero = np.zeros((made.d, made.k))
    H, h = slopes(made, zero, base.b)
    np.testing.assert_allclose(h, 0, atol=1e-7)
    np.testing.assert_allclose(base.gradient, H, atol=1e-9)
    np.testing.assert_allclose(base.loss, value(made, zero, base.b))


def test_softmax_takes_the_shares_of_the_classes():
    made = objective()
    b = fit_null_model(made).b
    np.testing.assert_allclose(np.exp(b) / np.exp(b).sum(), made.rows.class_fractions, rtol=1e-6)


def test_without_intercept_it_is_zero():
    assert not fit_null_model(objective(fit_intercept=False)).b.any()


@pytest.mark.parametrize("gauge", ["trace", "l1", "group"])
def test_the_largest_useful_strength_parts_zero_from_not_zero(gauge):
    made = objective(gauge, share=1.0, ridge=0.0)
    np.testing.assert_allclose(alpha_max(made), made.gauge.strength)
    ranks = [solve(objective(gauge, share=share, ridge=0.0), "fista").rank for share in (1.01, 0.95)]
    assert ranks[0] == 0 < ranks[1]


def test_a_ridge_has_no_alpha_max():
    with pytest.raises(ValueError, match="alpha_max needs a penalty with a gauge"):
        alpha_max(objective(None))


def test_weights_are_relative():
    X, y, weights = rows(0)
    a, b = (alpha_max(objective(X=X, y=y, weights=w)) for w in (weights, 8 * weights))
    np.testing.assert_allclose(a, b)
