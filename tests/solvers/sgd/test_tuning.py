"""The search for the step and beta."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import manyclass as mc
from manyclass.losses.margin import MARGIN_LOSSES
from manyclass.solvers import conjugate_gradient
from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd import tuning
from manyclass.solvers.sgd.one_vs_rest import OneVsRest
from manyclass.solvers.sgd.pairwise import PairwiseRanking
from manyclass.solvers.sgd.sampling import Schedule
from manyclass.solvers.sgd.tuning import (
    LeastSquaresStart,
    SoftmaxStart,
    StepTrial,
    find_beta,
    find_start,
    find_step,
)


@pytest.mark.parametrize("k", [5, 17, 100])
@pytest.mark.parametrize("start", [None, 1.0, 16.0])
def test_the_end_of_the_search_for_beta_is_the_unweighted_machine(start, k):
    seen = []

    def correct(algorithm, schedule):
        seen.append(algorithm.beta)
        return k if algorithm.beta is None else algorithm.beta

    trial = SimpleNamespace(train=SimpleNamespace(k=k), correct=correct, gain=lambda new, old: np.sign(new - old) * 9)
    assert find_beta(trial, OneVsRest(MARGIN_LOSSES["hinge"], start), None) is None
    assert None in seen
    assert all(beta < k - 1 for beta in seen if beta is not None)


def trial_on(y, k=3):
    index = np.arange(len(y))
    return StepTrial(None, SimpleNamespace(y=np.asarray(y), index=index, k=k, labels=None))


def test_a_gain_is_in_units_of_chance_and_classes_count_alike():
    trial = trial_on([0, 0, 0, 0, 1])
    none, first, last = np.zeros(5, bool), np.arange(5) == 0, np.arange(5) == 4
    assert trial.gain(first, none) == 1.0  # one example in favor, whatever its weight
    assert trial.gain(none, first) == -1.0
    assert trial.gain(none, none) == 0.0
    # a right example of the small class counts four times one of the large
    assert np.isclose(trial.gain(last, first), (1 - 0.25) / np.hypot(1, 0.25))


def test_what_grew_beyond_all_bounds_is_worse_than_anything():
    trial, some = trial_on([0, 1]), np.array([False, False])
    assert trial.gain(None, some) == -np.inf
    assert trial.gain(some, None) == np.inf
    assert trial.gain(None, None) == 0.0


@pytest.mark.parametrize(("best", "found"), [(16.0, 16.0), (0.5, 0.5), (0.25, 0.25), (1.0, 1.0)])
def test_the_step_is_climbed_to(best, found):
    class Hill:
        def __init__(self):
            self.known = {}

        def correct(self, algorithm, schedule):
            return -abs(np.log2(schedule.step / best))

        def gain(self, new, old):
            return np.sign(new - old) * 9

    assert find_step(Hill(), None, Schedule(1.0)) == found


@pytest.mark.parametrize(("gain", "found"), [(2.9, 1.0), (3.1, 4.0)])
def test_a_larger_step_must_be_better_by_three_times_what_chance_may_do(gain, found):
    def gains(new, old):
        return gain if (new, old) == (4.0, 1.0) else -1.0

    rise = SimpleNamespace(known={}, correct=lambda _, schedule: schedule.step, gain=gains)
    assert find_step(rise, None, Schedule(1.0)) == found


@pytest.mark.parametrize(("gain", "moved"), [(1.9, False), (2.1, True)])
@pytest.mark.parametrize("better", [4.0, 64.0])
def test_another_beta_must_be_better_by_twice_what_chance_may_do(better, gain, moved):
    def gains(new, old):
        return gain if (new, old) == (better, 16.0) else -1.0

    trial = SimpleNamespace(train=SimpleNamespace(k=1000), correct=lambda a, _: a.beta, gain=gains)
    assert find_beta(trial, OneVsRest(MARGIN_LOSSES["hinge"], 16.0), None) == (better if moved else 16.0)


@pytest.mark.parametrize("ahead", [False, True])
def test_classes_are_learned_together_only_if_that_is_ahead(ahead):
    settings = mc.StochasticClassifier()
    plan = tuning._plan(settings, 0.5, 10.0, 300, 4.0, 7)
    least = tuning._JOINT_GAIN + (0.01 if ahead else -0.01)
    trial = SimpleNamespace(
        train=SimpleNamespace(k=300), correct=lambda algorithm, _: algorithm, gain=lambda new, old: least
    )
    found = tuning._choose_joint(settings, plan, trial, 4.0)
    assert found.objective == ("multiclass" if ahead else "ovr")
    if ahead:
        assert found.schedule.step == tuning._JOINT_STEP / 4
        assert found.schedule == replace(plan.schedule, step=found.schedule.step)
        assert (found.algorithm, found.loss, found.standardizes) == (PairwiseRanking("max"), "hinge", False)
    else:
        assert found is plan


def test_trials_of_an_easy_problem_end_once_they_get_no_better():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(5), 40)
    easy = Problem.whole(mc.as_matrix(np.eye(5, dtype=np.float32)[y]), y, 5)
    algorithm, schedule = OneVsRest(MARGIN_LOSSES["hinge"]), Schedule(0.1)
    trial = StepTrial.on(easy, rng)
    paced = trial.with_pace(algorithm, schedule)
    assert paced.epochs < 16 == trial.epochs
    # what was run on the way is known, and is what a run of so many epochs gives
    np.testing.assert_array_equal(paced.correct(algorithm, schedule), paced._run(algorithm, schedule))


def test_steps_that_diverge_are_divided_by_four():
    class Cliff:
        def __init__(self):
            self.known = {}

        def correct(self, algorithm, schedule):
            return None if schedule.step > 0.1 else 1.0

        def gain(self, new, old):
            return -np.inf if new is None else 0.0

    assert find_step(Cliff(), None, Schedule(1.0)) == 1 / 16


def _noisy(n=600, d=60, k=9):
    rng = np.random.default_rng(0)
    y = (np.arange(n) % k).astype(np.int32)
    X = (rng.normal(size=(k, d))[y] + 2 * rng.normal(size=(n, d))).astype(np.float32)
    whole = Problem.whole(mc.as_matrix(X), y, k)
    return X, y, whole.part(np.arange(400)), whole.part(np.arange(400, n))


def test_a_start_is_the_last_step_that_brings_scores_of_held_out_rows_nearer_to_the_targets():
    X, y, train, held = _noisy()
    start = LeastSquaresStart(train, held)
    T = np.where(y == np.arange(9)[:, None], 1.0, -1.0).T
    middle = T[:400].mean(axis=0)
    cosines = []
    for W, b in start._equations.steps(12):
        S, R = X[400:] @ W.T + b - middle, T[400:] - middle
        cosines.append((S * R).sum() / np.linalg.norm(S) / np.linalg.norm(R))
    best = next(i for i in range(12) if cosines[i + 1] <= cosines[i])
    assert best > 0
    assert start.find_steps() == best + 1
    # Those that were found are of that step.
    found, again = start.machines(best + 1), LeastSquaresStart(train, held).machines(best + 1)
    np.testing.assert_allclose(found.W, again.W, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found.biases, again.biases, rtol=1e-4)


def test_a_sample_of_the_classes_finds_a_start_too(monkeypatch):
    _, _, train, held = _noisy()
    whole = LeastSquaresStart(train, held)
    n_iter = whole.find_steps()
    monkeypatch.setattr(conjugate_gradient, "_PANEL", 5)
    some = LeastSquaresStart(train, held)
    assert abs(some.find_steps() - n_iter) <= 1
    # All classes take the steps then, and those that were found come from the same steps.
    np.testing.assert_allclose(some.machines(n_iter).W, whole.machines(n_iter).W, rtol=1e-4, atol=1e-5)


def test_rows_of_little_weight_have_little_say_in_the_scale_of_softmax():
    _, y, train, held = _noisy()
    wrong = held.index[::2]
    weights, labels = np.ones(len(y), np.float32), y.copy()
    weights[wrong], labels[wrong] = 1e-6, (y[wrong] + 1) % 9
    doubted = replace(train, y=labels, weights=weights)
    without = SoftmaxStart(train, held.part(held.index[1::2])).machines(3)
    found = SoftmaxStart(doubted.part(train.index), doubted.part(held.index)).machines(3)
    np.testing.assert_allclose(found.W, without.W, rtol=0.2)  # by a factor of five, if all had the same say


def test_the_scale_of_softmax_is_that_of_before_for_a_refit():
    _, _, train, held = _noisy()
    plain, scaled = LeastSquaresStart(train, held), SoftmaxStart(train, held)
    machines, unscaled = scaled.machines(3), plain.machines(3)
    factor = machines.W / unscaled.W
    np.testing.assert_allclose(factor, factor[0, 0], rtol=1e-3)
    np.testing.assert_allclose(machines.biases, factor[0, 0] * unscaled.biases, rtol=1e-3)
    again = SoftmaxStart(train, held).machines(3, refit=True)  # as a fit that is resumed in its refit
    np.testing.assert_array_equal(scaled.machines(3, refit=True).W, again.W)
    np.testing.assert_allclose(again.W, factor[0, 0] * plain.machines(3, refit=True).W, rtol=1e-3, atol=1e-5)


def test_there_is_no_start_where_the_nearest_mean_of_a_class_is_right_more_often(monkeypatch):
    rng = np.random.default_rng(0)
    y = (np.arange(3000) % 40).astype(np.int32)
    means = rng.normal(size=(40, 3)) @ rng.normal(size=(3, 60))
    X = (means[y] + 0.3 * rng.normal(size=(3000, 60))).astype(np.float32)
    whole = Problem.whole(mc.as_matrix(X), y, 40)
    start = LeastSquaresStart(whole.part(np.arange(2000)), whole.part(np.arange(2000, 3000)))
    assert start.find_steps() == 0
    nearest = ((X[:99, None] - np.stack([X[:2000][y[:2000] == c].mean(axis=0) for c in range(40)])) ** 2).sum(axis=2)
    np.testing.assert_array_equal(start._equations.nearest_means(X[:99], np.arange(40)), nearest.argmin(axis=1))
    monkeypatch.setattr(conjugate_gradient, "_PANEL", 20)  # half of the classes tell it too
    assert LeastSquaresStart(whole.part(np.arange(2000)), whole.part(np.arange(2000, 3000))).find_steps() == 0


def test_a_start_for_a_refit_knows_the_rows_that_were_held_out():
    _, _, train, held = _noisy()
    together = LeastSquaresStart(Problem.whole(train.X, train.y, train.k), held)
    refit = LeastSquaresStart(train, held).machines(3, refit=True)
    np.testing.assert_allclose(refit.W, together.machines(3).W, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    ("n", "d", "k", "pays"),
    [(3_000, 1_280, 101, True), (20_000, 1_024, 500, True), (300, 64, 6, False), (3_000, 1_280, 2, False),
     (50_000, 1_024, 1_000, True), (150_000, 1_024, 1_000, False), (200_000, 256, 200, False),
     (1_000, 4_000, 100, True), (300, 2_048, 100, True), (5_000, 5_000, 100, False), (9_000, 4_000, 5, False)],
)  # fmt: skip
def test_a_start_pays_for_problems_of_some_size(n, d, k, pays):
    class Sized:
        index = np.arange(n)

        def __len__(self):
            return n

        def part(self, index):
            return self

    problem = Sized()
    problem.d, problem.k = d, k
    settings = mc.StochasticClassifier()
    assert (find_start(settings, problem, problem) is not None) is pays
    assert find_start(settings, problem, problem, begun=True) is not None
    assert find_start(settings, problem, None) is None
