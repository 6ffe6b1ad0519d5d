"""SmoothedHinge: the formula, and the hinge that it comes from."""

import numpy as np
import pytest

from manyclass.losses.multiclass import SmoothedHinge


def draw(n=30, k=5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, k)), rng.integers(0, k, n)


def margins(S, y):
    """1 + s_c - s_y for the classes c other than y (n, k - 1)."""
    other = np.arange(S.shape[1]) != y[:, None]
    return 1 + S[other].reshape(len(S), -1) - S[np.arange(len(S)), y][:, None]


@pytest.mark.parametrize("sharpness", [0.5, 3.0, 20.0])
def test_the_loss_is_that_of_the_formula(sharpness):
    S, y = draw()
    expected = np.log(1 + np.exp(sharpness * margins(S, y)).sum(axis=1)) / sharpness
    np.testing.assert_allclose(SmoothedHinge(sharpness).value_and_gradient(S, y)[0], expected, rtol=1e-12)


@pytest.mark.parametrize("sharpness", [1.0, 20.0, 1e4])
def test_the_loss_lies_above_the_hinge_by_no_more_than_promised(sharpness):
    S, y = draw(seed=1)
    excess = SmoothedHinge(sharpness).value_and_gradient(S, y)[0] - np.maximum(0, margins(S, y).max(axis=1))
    assert (excess >= -1e-12).all()
    assert (excess <= np.log(S.shape[1]) / sharpness + 1e-12).all()


def test_all_classes_at_the_margin_share_the_gradient():
    _, R = SmoothedHinge(20.0).value_and_gradient(np.array([[1.0, 0.0, 0.0, 0.0]]), np.array([0]))
    np.testing.assert_allclose(R, [[-0.75, 0.25, 0.25, 0.25]])


def test_large_scores_of_float32_keep_the_digits_of_their_differences():
    S, y = draw()
    S = np.rint(64 * S).astype(np.float32) / 64
    near, far = (SmoothedHinge(20.1).value_and_gradient(S + np.float32(shift), y) for shift in (0, 4096))
    np.testing.assert_allclose(far[0], near[0], rtol=1e-5)
    np.testing.assert_allclose(far[1], near[1], atol=1e-5)


@pytest.mark.parametrize("sharpness", [0, -1.0, np.inf, np.nan, "20", True, None])
def test_a_sharpness_that_is_none_is_refused(sharpness):
    with pytest.raises(ValueError, match="sharpness must be a finite number above 0; got"):
        SmoothedHinge(sharpness)


def test_the_sharpness_shows():
    assert repr(SmoothedHinge()) == "SmoothedHinge(20.0)"
