"""Losses of a margin: their values, and the same losses elsewhere."""

import numpy as np
import pytest
from sklearn.metrics import hinge_loss, log_loss

from manyclass import _native
from manyclass.losses.margin import MARGIN_LOSSES

Z = np.array([-1.0, 0.0, 0.5, 1.0, 3.0])

every_margin_loss = pytest.mark.parametrize("loss", MARGIN_LOSSES.values(), ids=MARGIN_LOSSES)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("hinge", [2, 1, 0.5, 0, 0]),
        ("squared_hinge", [4, 1, 0.25, 0, 0]),
        ("logistic", [1.3132617, 0.6931472, 0.4740770, 0.3132617, 0.0485874]),
        ("squared", [2, 0.5, 0.125, 0, 2]),
    ],
)
def test_values_are_those_worked_by_hand(name, values):
    np.testing.assert_allclose(MARGIN_LOSSES[name].value(Z), values, rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "slopes"),
    [
        ("hinge", [-1, -1, -1, 0, 0]),
        ("squared_hinge", [-4, -2, -1, 0, 0]),
        ("logistic", [-0.7310586, -0.5, -0.3775407, -0.2689414, -0.0474259]),
        ("squared", [-2, -1, -0.5, 0, 2]),
    ],
)
def test_derivatives_are_those_worked_by_hand(name, slopes):
    np.testing.assert_allclose(MARGIN_LOSSES[name].derivative(Z), slopes, rtol=1e-6)


def test_names_and_codes_tell_the_losses_apart():
    assert {name: loss.name for name, loss in MARGIN_LOSSES.items()} == {name: name for name in MARGIN_LOSSES}
    assert [loss.code for loss in MARGIN_LOSSES.values()] == list(_native.Loss)


@every_margin_loss
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(), (4,), (2, 3), (0,)])
def test_values_and_derivatives_keep_the_dtype_and_the_shape(loss, dtype, shape):
    z = np.full(shape, 0.5, dtype)
    for out in (loss.value(z), loss.derivative(z)):
        assert out.dtype == dtype
        assert out.shape == shape


@every_margin_loss
def test_a_margin_of_one_or_more_is_no_reason_to_go_further_down(loss):
    assert (loss.value(np.array([1.0])) <= loss.value(Z[Z < 1])).all()


def test_far_margins_have_the_loss_of_a_straight_line_and_of_nothing():
    logistic = MARGIN_LOSSES["logistic"]
    with np.errstate(over="raise", invalid="raise"):
        np.testing.assert_array_equal(logistic.value(np.array([-1e4, 1e4])), [1e4, 0])
        np.testing.assert_array_equal(logistic.derivative(np.array([-1e4, 1e4])), [-1, 0])


@pytest.fixture
def decisions():
    rng = np.random.default_rng(0)
    return rng.choice([-1, 1], 50), 2 * rng.standard_normal(50)


def test_the_hinge_is_that_of_scikit_learn(decisions):
    y, s = decisions
    assert MARGIN_LOSSES["hinge"].value(y * s).mean() == pytest.approx(hinge_loss(y, s))


def test_the_logistic_loss_is_that_of_scikit_learn(decisions):
    y, s = decisions
    assert MARGIN_LOSSES["logistic"].value(y * s).mean() == pytest.approx(log_loss(y, 1 / (1 + np.exp(-s))))


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("squared_hinge", {"loss": "squared_hinge"}),
        ("logistic", {"loss": "log_loss"}),
        ("squared", {"loss": "squared_error"}),
        ("hinge", {"loss": "hinge"}),
    ],
)
def test_one_step_of_sgd_in_scikit_learn_goes_along_the_derivative(name, settings):
    from sklearn.linear_model import SGDClassifier

    model = SGDClassifier(
        **settings, alpha=1e-12, learning_rate="constant", eta0=0.1, fit_intercept=False, shuffle=False
    )
    before = np.array([[0.3, -0.2]])
    x, y = np.array([[1.0, 2.0]]), np.array([1])
    model.partial_fit(np.zeros((1, 2)), y, classes=[-1, 1])
    model.coef_ = before.copy()
    model.partial_fit(x, y)
    z = (x @ before[0]) * y
    np.testing.assert_allclose(model.coef_ - before, -0.1 * MARGIN_LOSSES[name].derivative(z)[:, None] * x, rtol=1e-6)
