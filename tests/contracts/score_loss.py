"""What every smooth loss of all scores of a row promises besides the contract of losses: curvature and conjugate."""

import numpy as np
import pytest
from scipy.optimize import minimize

from manyclass.losses.multiclass import SCORE_LOSSES, SmoothedHinge

LOSSES = {
    **{name: loss() for name, loss in SCORE_LOSSES.items()},
    "smoothed_hinge_1": SmoothedHinge(1.0),
    "smoothed_hinge_300": SmoothedHinge(300.0),
}

every_score_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)


def draw(rng, n, k, size=2.0, dtype=np.float64):
    return (size * rng.standard_normal((n, k))).astype(dtype), rng.integers(0, k, n)


def hessian(loss, s, y):
    """The Hessian (k, k) of one row by differences of gradients."""
    step = 1e-5 / max(1, loss.curvature)
    nudges = step * np.eye(len(s))
    ahead, behind = (loss.value_and_gradient(s + sign * nudges, np.full(len(s), y))[1] for sign in (1, -1))
    H = (ahead - behind) / (2 * step)
    return (H + H.T) / 2


def products(S, R):
    return np.einsum("nk,nk->n", S, R, dtype=np.float64)


def check_no_eigenvalue_of_the_hessian_is_above_the_curvature(loss, rng, n, k):
    S, y = draw(rng, n, k, size=1 / loss.curvature)
    for s, label in zip(S, y, strict=True):
        eigenvalues = np.linalg.eigvalsh(hessian(loss, s, label))
        assert eigenvalues[-1] <= loss.curvature * (1 + 1e-6)
        assert eigenvalues[0] >= -1e-6 * loss.curvature


def check_value_and_conjugate_are_never_less_than_the_product(loss, rng, n, k):
    (S, y), (T, _) = draw(rng, n, k), draw(rng, n, k)
    R = rng.uniform(0, 1, (n, 1)) * loss.value_and_gradient(T, y)[1]
    assert (loss.value_and_gradient(S, y)[0] + loss.conjugate(R, y) >= products(S, R) - 1e-9).all()


def check_value_and_conjugate_add_up_to_the_product_at_a_gradient(loss, rng, n, k):
    for dtype, rtol in ((np.float64, 1e-11), (np.float32, 1e-5)):
        S, y = draw(rng, n, k, size=rng.choice([0.1, 3.0, 30.0]), dtype=dtype)
        values, R = loss.value_and_gradient(S, y)
        sizes = 1 + values + np.abs(S).max(axis=1)
        np.testing.assert_array_less(np.abs(values + loss.conjugate(R, y) - products(S, R)), rtol * sizes)


def check_gradients_made_shorter_stay_in_the_domain(loss, rng, n, k):
    for dtype in (np.float64, np.float32):
        S, y = draw(rng, n, k, size=10.0, dtype=dtype)
        R = loss.value_and_gradient(S, y)[1]
        for c in (0, 1e-6, 0.3, 0.999):
            assert np.isfinite(loss.conjugate(dtype(c) * R, y)).all()


def check_in_place_it_gives_the_same_times_weights(loss, rng, n, k):
    for dtype in (np.float64, np.float32):
        S, y = draw(rng, n, k, dtype=dtype)
        values, R = loss.value_and_gradient(S, y)
        for weights in (None, rng.uniform(0, 2, n)):
            T = S.copy()
            np.testing.assert_allclose(loss.in_place(T, y, weights), values, rtol=1e-12)
            np.testing.assert_allclose(T, R if weights is None else weights[:, None] * R, rtol=1e-6, atol=1e-6)


def check_the_conjugate_at_zero_is_minus_the_least_loss(loss, rng, n, k):
    _, y = draw(rng, n, k)
    np.testing.assert_array_equal(loss.conjugate(np.zeros((n, k)), y), 0)


def check_the_conjugate_is_the_largest_difference(loss, rng, n, k):
    # The maximizer is searched for, from zero scores and by a method that knows nothing of the formula.
    k = min(k, 4)
    S, y = draw(rng, 1, k, size=1.0)
    R = 0.8 * loss.value_and_gradient(S, y)[1]

    def difference(s):
        value, gradient = loss.value_and_gradient(s[None], y)
        return value[0] - R[0] @ s, gradient[0] - R[0]

    found = minimize(difference, np.zeros(k), jac=True, method="L-BFGS-B", options={"gtol": 1e-9, "ftol": 1e-15})
    np.testing.assert_allclose(loss.conjugate(R, y), [-found.fun], rtol=1e-5, atol=1e-6)


def check_scores_of_ten_thousand_keep_the_equality(loss, rng, n, k):
    S, y = draw(rng, n, k)
    S = np.float32(1e4) * np.sign(S).astype(np.float32)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        values, R = loss.value_and_gradient(S, y)
        conjugate = loss.conjugate(R, y)
    assert values.dtype == conjugate.dtype == np.float64
    np.testing.assert_allclose(values + conjugate, products(S, R), rtol=1e-6, atol=0.1)


CHECKS = [check for name, check in list(globals().items()) if name.startswith("check_")]
