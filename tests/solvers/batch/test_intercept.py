"""The best b for known scores."""

import numpy as np
import pytest
from contracts.solver import objective, slopes

from manyclass.solvers.batch.intercept import InterceptLoss, intercept_tolerance
from manyclass.solvers.batch.null_model import fit_null_model


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_gradient_by_b_becomes_small_against_the_fractions_of_the_classes(dtype):
    made, W = objective(None), np.random.default_rng(0).standard_normal((6, 4))
    S = (made.X.toarray() @ W).astype(dtype)
    b = InterceptLoss(made, lambda rows: S[rows]).best(np.zeros(4), 1e-5)
    assert (np.abs(slopes(made, W, b)[1]) <= 2e-5 * made.rows.class_fractions).all()


def test_a_b_that_is_good_enough_is_left_alone():
    made, W = objective(None), np.random.default_rng(0).standard_normal((6, 4))
    S = made.X.toarray() @ W
    loss = InterceptLoss(made, lambda rows: S[rows])
    b = loss.best(np.zeros(4), 1e-6)
    assert loss.best(b, 1e-5).tobytes() == b.tobytes()


def test_the_tolerance_shrinks_with_what_there_is_to_gain():
    base = fit_null_model(objective(None))
    near, far = (intercept_tolerance(share * base.loss, base, 1e-4) for share in (0.999, 0.5))
    assert 0 < near < far <= 1e-5
