"""Losses of all scores of a row: the contract, the registry, and what each promises beside."""

import tracemalloc

import numpy as np
import pytest
from contracts import loss as any_loss
from contracts import score_loss
from contracts.score_loss import every_score_loss, hessian
from hypothesis import given
from hypothesis import strategies as st

from manyclass.losses.margin import MARGIN_LOSSES
from manyclass.losses.multiclass import SCORE_LOSSES, LogisticScores, SmoothedHinge, SquaredScores, as_score_loss


@any_loss.every_loss
@pytest.mark.parametrize("check", any_loss.CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
@given(n=st.integers(1, 8), k=st.integers(1, 7), seed=st.integers(0, 2**32 - 1))
def test_contract(loss, check, n, k, seed):
    check(loss, np.random.default_rng(seed), n, k)


@every_score_loss
@pytest.mark.parametrize("check", score_loss.CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
@given(n=st.integers(1, 6), k=st.integers(1, 6), seed=st.integers(0, 2**32 - 1))
def test_contract_of_score_losses(loss, check, n, k, seed):
    check(loss, np.random.default_rng(seed), n, k)


def test_the_names_are_those_of_the_losses():
    assert {name: loss.name for name, loss in SCORE_LOSSES.items()} == {name: name for name in SCORE_LOSSES}
    assert set(SCORE_LOSSES) == {"softmax", "smoothed_hinge", "squared", "logistic"}


@pytest.mark.parametrize(
    ("name", "scores"),
    [("softmax", [0.0, 0.0]), ("smoothed_hinge", [1.0, 0.0]), ("squared", [5.0, 2.0]), ("logistic", [0.0, 0.0])],
)
def test_the_curvature_is_met_somewhere(name, scores):
    loss = as_score_loss(name)
    assert np.linalg.eigvalsh(hessian(loss, np.array(scores), 0))[-1] == pytest.approx(loss.curvature, rel=1e-6)


@pytest.mark.parametrize("name", ["softmax", "smoothed_hinge"])
@pytest.mark.parametrize("r", [[-1.1, 1.1], [0.1, -0.1], [-0.5, 0.6], [-0.5, 0.5001]])
def test_what_is_no_distribution_less_the_right_class_is_outside(name, r):
    assert as_score_loss(name).conjugate(np.array([r], np.float32), np.array([0])) == np.inf


@pytest.mark.parametrize("r", [[-1.1, 0.5], [0.1, 0.5], [-0.5, -0.1], [-0.5, 1.1]])
def test_what_is_no_slope_of_logistic_functions_is_outside(r):
    assert as_score_loss("logistic").conjugate(np.array([r], np.float32), np.array([0])) == np.inf


@pytest.mark.parametrize("name", ["softmax", "smoothed_hinge", "logistic"])
def test_a_row_outside_leaves_the_others_inside(name):
    conjugate = as_score_loss(name).conjugate(np.array([[-0.5, 0.5], [2.0, 2.0]]), np.array([0, 1]))
    assert np.isfinite(conjugate).tolist() == [True, False]


@pytest.mark.parametrize("name", SCORE_LOSSES)
def test_gradients_of_very_many_classes_in_float32_are_in_the_domain(name):
    rng = np.random.default_rng(0)
    S = (3 * rng.standard_normal((4, 50_000))).astype(np.float32)
    values, R = as_score_loss(name).value_and_gradient(S, np.arange(4))
    conjugate = as_score_loss(name).conjugate(R, np.arange(4))
    np.testing.assert_allclose(conjugate, np.einsum("nk,nk->n", S, R, dtype=np.float64) - values, rtol=1e-5)


@pytest.mark.parametrize("name", SCORE_LOSSES)
def test_besides_the_gradient_one_array_of_that_size_is_held_at_most(name):
    S, y = np.random.default_rng(0).standard_normal((300, 500)), np.zeros(300, np.int64)
    tracemalloc.start()
    as_score_loss(name).value_and_gradient(S, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2.2 * S.nbytes


@pytest.mark.parametrize("name", SCORE_LOSSES)
@pytest.mark.parametrize("method", ["value_and_gradient", "conjugate"])
def test_arguments_stay_as_they_are(name, method):
    S, y = np.full((2, 3), 0.1), np.array([0, 2])
    S.flags.writeable = y.flags.writeable = False
    getattr(as_score_loss(name), method)(S, y)


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


@pytest.mark.parametrize("size", [1.0, 30.0, 1e4])
def test_the_loss_is_the_sum_of_binary_losses_of_margins(size):
    rng = np.random.default_rng(0)
    S, y = size * rng.standard_normal((20, 4)), rng.integers(0, 4, 20)
    signs = 2 * np.eye(4)[y] - 1
    values, R = LogisticScores().value_and_gradient(S, y)
    np.testing.assert_allclose(values, MARGIN_LOSSES["logistic"].value(signs * S).sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(R, signs * MARGIN_LOSSES["logistic"].derivative(signs * S), rtol=1e-11)


def test_small_losses_keep_their_digits_in_float32():
    values, R = LogisticScores().value_and_gradient(np.array([[20.0, -20.0]], np.float32), np.array([0]))
    np.testing.assert_allclose(values, [2 * np.exp(-20)], rtol=1e-6)
    np.testing.assert_allclose(R, [[-np.exp(-20), np.exp(-20)]], rtol=1e-5)


def test_the_conjugate_is_worked_by_hand():
    conjugate = LogisticScores().conjugate(np.array([[-0.25, 0.5], [-1.0, 0.0]]), np.array([0, 0]))
    np.testing.assert_allclose(conjugate, [0.25 * np.log(0.25) + 0.75 * np.log(0.75) + np.log(0.5), 0])


def test_the_loss_is_half_the_squared_distance_to_the_indicator():
    rng = np.random.default_rng(0)
    S, y = rng.standard_normal((20, 4)), rng.integers(0, 4, 20)
    values, R = SquaredScores().value_and_gradient(S, y)
    np.testing.assert_allclose(values, ((S - np.eye(4)[y]) ** 2).sum(axis=1) / 2)
    np.testing.assert_allclose(R, S - np.eye(4)[y])


def test_the_conjugate_is_finite_everywhere():
    R = np.array([[3.0, -4.0], [0.0, 0.0]])
    np.testing.assert_allclose(SquaredScores().conjugate(R, np.array([1, 0])), [12.5 - 4, 0])
