"""Losses of all scores of a row: curvature, conjugates, domains and memory."""

import tracemalloc

import numpy as np
import pytest
from contracts.score_loss import CHECKS, every_score_loss, hessian
from hypothesis import given
from hypothesis import strategies as st

from manyclass.losses.multiclass import SCORE_LOSSES


@every_score_loss
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
@given(n=st.integers(1, 6), k=st.integers(1, 6), seed=st.integers(0, 2**32 - 1))
def test_contract(loss, check, n, k, seed):
    check(loss, np.random.default_rng(seed), n, k)


def test_the_names_are_those_of_the_losses():
    assert {name: loss.name for name, loss in SCORE_LOSSES.items()} == {name: name for name in SCORE_LOSSES}
    assert set(SCORE_LOSSES) == {"softmax", "smoothed_hinge", "squared", "logistic"}


@pytest.mark.parametrize(
    ("name", "scores"),
    [("softmax", [0.0, 0.0]), ("smoothed_hinge", [1.0, 0.0]), ("squared", [5.0, 2.0]), ("logistic", [0.0, 0.0])],
)
def test_the_curvature_is_met_somewhere(name, scores):
    loss = SCORE_LOSSES[name]
    assert np.linalg.eigvalsh(hessian(loss, np.array(scores), 0))[-1] == pytest.approx(loss.curvature, rel=1e-6)


@pytest.mark.parametrize("name", ["softmax", "smoothed_hinge"])
@pytest.mark.parametrize("r", [[-1.1, 1.1], [0.1, -0.1], [-0.5, 0.6], [-0.5, 0.5001]])
def test_what_is_no_distribution_less_the_right_class_is_outside(name, r):
    assert SCORE_LOSSES[name].conjugate(np.array([r], np.float32), np.array([0])) == np.inf


@pytest.mark.parametrize("r", [[-1.1, 0.5], [0.1, 0.5], [-0.5, -0.1], [-0.5, 1.1]])
def test_what_is_no_slope_of_logistic_functions_is_outside(r):
    assert SCORE_LOSSES["logistic"].conjugate(np.array([r], np.float32), np.array([0])) == np.inf


@pytest.mark.parametrize("name", ["softmax", "smoothed_hinge", "logistic"])
def test_a_row_outside_leaves_the_others_inside(name):
    conjugate = SCORE_LOSSES[name].conjugate(np.array([[-0.5, 0.5], [2.0, 2.0]]), np.array([0, 1]))
    assert np.isfinite(conjugate).tolist() == [True, False]


@pytest.mark.parametrize("name", SCORE_LOSSES)
def test_gradients_of_very_many_classes_in_float32_are_in_the_domain(name):
    rng = np.random.default_rng(0)
    S = (3 * rng.standard_normal((4, 50_000))).astype(np.float32)
    values, R = SCORE_LOSSES[name].value_and_gradient(S, np.arange(4))
    conjugate = SCORE_LOSSES[name].conjugate(R, np.arange(4))
    np.testing.assert_allclose(conjugate, np.einsum("nk,nk->n", S, R, dtype=np.float64) - values, rtol=1e-5)


@pytest.mark.parametrize("name", SCORE_LOSSES)
def test_besides_the_gradient_one_array_of_that_size_is_held_at_most(name):
    S, y = np.random.default_rng(0).standard_normal((300, 500)), np.zeros(300, np.int64)
    tracemalloc.start()
    SCORE_LOSSES[name].value_and_gradient(S, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2.2 * S.nbytes


@pytest.mark.parametrize("name", SCORE_LOSSES)
@pytest.mark.parametrize("method", ["value_and_gradient", "conjugate"])
def test_arguments_stay_as_they_are(name, method):
    S, y = np.full((2, 3), 0.1), np.array([0, 2])
    S.flags.writeable = y.flags.writeable = False
    getattr(SCORE_LOSSES[name], method)(S, y)
