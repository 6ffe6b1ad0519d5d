"""What every loss promises, as checks, and the losses to check.

A check takes a loss, seen as a function of whole scores, and random numbers. A later loss joins by one line in LOSSES:
`of_margins` for a function of z = y s, `of_scores` for one with `value_and_gradient(S, y)`.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from manyclass.losses.loss import ScoreLoss
from manyclass.losses.margin import MARGIN_LOSSES, MarginLoss
from manyclass.losses.multiclass import SCORE_LOSSES


class Loss(NamedTuple):
    """evaluate(S, y) -> (the loss of each row of S (n, k), its gradient (n, k)).

    `kinks` says where along a segment a finite difference cannot be the derivative: where any of these is near zero.
    """

    evaluate: Callable[[NDArray[Any], NDArray[Any]], tuple[NDArray[Any], NDArray[Any]]]
    kinks: Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]


def of_margins(loss: MarginLoss) -> Loss:
    """A margin loss of every class against the rest, added up."""

    def margins(S, y):
        signs = np.where(np.arange(S.shape[1]) == y[:, None], 1, -1).astype(S.dtype)
        return signs * S, signs

    def evaluate(S, y):
        z, signs = margins(S, y)
        return loss.value(z).sum(axis=1), signs * loss.derivative(z)

    return Loss(evaluate, lambda S, y: margins(S, y)[0] - 1)


def of_scores(loss: ScoreLoss) -> Loss:
    """A smooth loss of the scores of all classes together."""
    return Loss(loss.value_and_gradient, lambda S, y: np.ones_like(S))


LOSSES: dict[str, Loss] = {
    **{name: of_margins(loss) for name, loss in MARGIN_LOSSES.items()},
    **{f"{name} of scores": of_scores(loss()) for name, loss in SCORE_LOSSES.items()},
}

every_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)


def _draw(rng: np.random.Generator, n: int, k: int, size: float = 2.0) -> tuple[NDArray[Any], NDArray[Any]]:
    return size * rng.standard_normal((n, k)), rng.integers(0, k, n)


def check_the_gradient_is_that_of_finite_differences(loss, rng, n, k):
    S, y = _draw(rng, n, k)
    S[np.abs(loss.kinks(S, y)) < 1e-3] += 0.01
    _, gradient = loss.evaluate(S, y)
    for c in range(k):
        step = 1e-5 * (np.arange(k) == c)
        slope = (loss.evaluate(S + step, y)[0] - loss.evaluate(S - step, y)[0]) / 2e-5
        np.testing.assert_allclose(gradient[:, c], slope, rtol=1e-6, atol=1e-8)


def check_it_is_convex_along_segments(loss, rng, n, k):
    (S, y), (T, _) = _draw(rng, n, k), _draw(rng, n, k)
    for t in (0.1, 0.5, 0.8):
        between = loss.evaluate((1 - t) * S + t * T, y)[0]
        assert (between <= (1 - t) * loss.evaluate(S, y)[0] + t * loss.evaluate(T, y)[0] + 1e-9).all()


def check_the_gradient_supports_the_loss_from_below(loss, rng, n, k):
    # Also where there is a kink, as at the margin 1 of the hinge, which whole numbers hit.
    S, y = _draw(rng, n, k)
    S = np.rint(S)
    value, gradient = loss.evaluate(S, y)
    T = S + rng.standard_normal((n, k))
    assert (loss.evaluate(T, y)[0] >= value + ((T - S) * gradient).sum(axis=1) - 1e-9).all()


def check_it_is_never_negative(loss, rng, n, k):
    S, y = _draw(rng, n, k, size=20.0)
    assert (loss.evaluate(S, y)[0] >= 0).all()


def check_the_right_class_is_pulled_up(loss, rng, n, k):
    S, y = _draw(rng, n, k + 1, size=0.1)
    assert (loss.evaluate(S, y)[1][np.arange(n), y] < 0).all()


def check_float32_is_worked_in_float32(loss, rng, n, k):
    S, y = _draw(rng, n, k)
    value, gradient = loss.evaluate(S.astype(np.float32), y)
    exact_value, exact_gradient = loss.evaluate(S.astype(np.float32).astype(np.float64), y)
    assert gradient.dtype == np.float32
    np.testing.assert_allclose(value, exact_value, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(gradient, exact_gradient, rtol=1e-5, atol=1e-6)


def check_scores_of_ten_thousand_overflow_nowhere(loss, rng, n, k):
    S, y = _draw(rng, n, k)
    S = np.float32(1e4) * np.sign(S).astype(np.float32)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        value, gradient = loss.evaluate(S, y)
    assert np.isfinite(value).all()
    assert np.isfinite(gradient).all()


def check_a_row_does_not_depend_on_the_others(loss, rng, n, k):
    S, y = _draw(rng, n, k)
    value, gradient = loss.evaluate(S, y)
    last_value, last_gradient = loss.evaluate(S[-1:], y[-1:])
    np.testing.assert_allclose(last_value, value[-1:], rtol=1e-12)
    np.testing.assert_allclose(last_gradient, gradient[-1:], rtol=1e-12)


def check_arguments_stay_as_they_are(loss, rng, n, k):
    S, y = _draw(rng, n, k)
    S.flags.writeable = y.flags.writeable = False
    loss.evaluate(S, y)


CHECKS = [check for name, check in list(globals().items()) if name.startswith("check_")]
