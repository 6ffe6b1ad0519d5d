"""When a descent stops, and which machines are kept."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.losses.margin import MARGIN_LOSSES
from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd.descent import EarlyStopping, SgdRun, run_sgd
from manyclass.solvers.sgd.linear_weights import LinearWeights
from manyclass.solvers.sgd.one_vs_rest import OneVsRest
from manyclass.solvers.sgd.sampling import Schedule


@pytest.mark.parametrize(("best", "good"), [(0.7, True), (0.8, True), (0.8199, True), (0.8201, False)])
def test_half_a_standard_error_below_the_best_is_as_good(best, good):
    # sqrt(0.8 * 0.2 / 100) / 2 = 0.02
    assert EarlyStopping(judged=100).as_good(0.8, best) is good


@pytest.mark.parametrize(("score", "good"), [(0.8, True), (0.7999, False)])
def test_a_score_that_owes_nothing_to_chance_is_as_good_as_it_is(score, good):
    assert EarlyStopping(judged=0).as_good(score, 0.8) is good


@pytest.mark.parametrize(("start", "better"), [(0.7599, True), (0.7601, False), (0.9, False)])
def test_a_start_is_surpassed_by_more_than_a_standard_error(start, better):
    # sqrt(0.8 * 0.2 / 100) = 0.04
    assert EarlyStopping(judged=100).surpasses(0.8, start) is better


def _judged_at_start(scores, **settings):
    """(whether it stopped after each score, the descent) of machines that were judged before they moved."""
    stopping, descent, stops = EarlyStopping(judged=100, start_patience=2, **settings), None, []
    descent = SgdRun.start(LinearWeights.zeros(2, 3))
    for epoch, score in enumerate(scores):
        descent.epoch, descent.weights.mean.W[...] = epoch, epoch
        stops.append(descent.judge(score, stopping))
    return stops, descent


def test_a_start_that_is_not_surpassed_is_kept_after_two_judgements():
    stops, descent = _judged_at_start([0.8, 0.82, 0.81])
    assert stops == [False, False, True]
    assert (descent.best_epoch, descent.best_score) == (0, 0.8)
    assert not descent.weights.result().W.any()


def test_a_start_that_is_surpassed_is_left_and_patience_is_as_usual():
    stops, descent = _judged_at_start([0.8, 0.79, 0.86, 0.85, 0.8, 0.8], patience=3)
    assert stops == [False, False, False, False, False, True]
    assert (descent.best_epoch, descent.best_score) == (3, 0.86)
    assert (descent.weights.result().W == 3).all()


def _weights(machines):
    return machines.scales[:, None] * machines.W, machines.biases


def _trained(schedule, epochs):
    rng = np.random.default_rng(0)
    problem = Problem.whole(mc.as_matrix(rng.standard_normal((60, 5)).astype(np.float32)), rng.integers(0, 4, 60), 4)
    descent = SgdRun.start(LinearWeights.zeros(4, 5))
    run_sgd(descent, OneVsRest(MARGIN_LOSSES["hinge"], 2.0), problem, schedule, EarlyStopping(max_epochs=epochs))
    return descent.weights


@pytest.mark.parametrize("regularization", [0.0, 0.1])
def test_without_averaging_the_last_machines_are_kept(regularization):
    last, mean = (_trained(Schedule(0.3, regularization, averaging=averaging), 3) for averaging in (False, True))
    scaled = last.machines.W * last.machines.scales[:, None].astype(np.float32)
    for kept, expected in ((last.result().W, scaled), (last.result().biases, last.machines.biases)):
        np.testing.assert_array_equal(kept, expected)
    for one, other in zip(_weights(last.machines), _weights(mean.machines), strict=True):
        np.testing.assert_array_equal(one, other)
    assert not np.allclose(mean.result().W, last.result().W, atol=1e-3)


def test_the_whole_of_a_mean_is_the_machines_to_the_bit():
    """1 + (0.1 - 1) is not 0.1."""
    weights = SgdRun.start(LinearWeights.zeros(4, 5)).weights
    weights.mean.W[...], weights.mean.biases[...] = 1, 1
    weights.machines.W[...], weights.machines.biases[...] = np.float32(1e-9), np.float32(1e-9)
    weights.average(1.0)
    np.testing.assert_array_equal(weights.mean.W, weights.machines.W)
    np.testing.assert_array_equal(weights.mean.biases, weights.machines.biases)


def test_a_step_may_decay_without_a_ridge():
    fixed, decaying = (_trained(Schedule(0.3, decays=t0 is not None, t0=t0), 3) for t0 in (None, 20.0))
    assert np.linalg.norm(decaying.machines.W) < np.linalg.norm(fixed.machines.W)
