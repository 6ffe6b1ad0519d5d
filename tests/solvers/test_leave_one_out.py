"""Leave-one-out: equal to n fits, and the strength that it chooses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass._core.parallel import threads
from manyclass.data.dense import DenseMatrix
from manyclass.solvers.closed_form import closed_form
from manyclass.solvers.leave_one_out import LeaveOneOut, LeftOut, left_out_scores
from manyclass.solvers.problem import Problem
from tests.solvers import ridge_twin


def drawn(n, d, k, seed=0, spread=1.0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    return rng.normal(size=(k, d))[y] + spread * rng.normal(size=(n, d)) + 3, y


@given(st.integers(4, 24), st.integers(1, 30), st.sampled_from([1e-3, 0.1, 3.0]), st.booleans())
def test_scores_are_those_of_n_fits(n, d, strength, weighted):
    X, y = drawn(n, d, 3, n)
    c = np.random.default_rng(n).uniform(0.5, 2, n).astype(np.float32) if weighted else None
    found = left_out_scores(Problem.whole(DenseMatrix(X), y, 3, c), strength)
    np.testing.assert_allclose(found, ridge_twin.left_out(X, y, 3, strength, c), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("d", [6, 60])
def test_strengths_are_judged_by_what_n_fits_would_say(d):
    X, y = drawn(40, d, 4)
    problem = Problem.whole(DenseMatrix(X), y, 4)
    strengths = np.array([0.01, 0.3, 5.0])
    judged = LeaveOneOut(closed_form(problem)[0], problem, 40.0).judge(strengths)
    for strength, loss, accuracy in zip(strengths, judged.losses, judged.accuracies, strict=True):
        scores = ridge_twin.left_out(X, y, 4, strength)
        assert loss == pytest.approx(np.square(scores - ridge_twin.targets(y, 4)).mean(), rel=1e-3)
        assert accuracy == pytest.approx(np.mean(scores.argmax(axis=1) == y))


def test_weights_count_in_losses_and_accuracies():
    X, y = drawn(60, 5, 3)
    c = np.where(y == 0, 3, 1).astype(np.float32)
    problem = Problem.whole(DenseMatrix(X), y, 3, c)
    judged = LeaveOneOut(closed_form(problem)[0], problem, float(c.sum())).judge(np.array([0.1]))
    right = ridge_twin.left_out(X, y, 3, 0.1, c).argmax(axis=1) == y
    assert judged.accuracies[0] == pytest.approx(np.average(right, weights=c))


def test_rows_that_are_left_out_are_spread_over_classes_and_few():
    X, y = drawn(40_000, 2, 50)
    problem = Problem.whole(DenseMatrix(X), np.sort(y), 50)
    left_out = LeaveOneOut(closed_form(problem)[0], problem, 40_000.0)
    assert len(left_out.y) == 1024
    assert set(np.bincount(left_out.y, minlength=50).tolist()) <= {20, 21}


def test_the_search_goes_on_until_the_best_is_between_others():
    """Columns of which one is so large that the usual strengths hide all others."""
    X, y = drawn(400, 6, 5, spread=0.3)
    X[:, 0] = 1e4 * np.random.default_rng(1).normal(size=400)
    problem = Problem.whole(DenseMatrix(X), y, 5)
    system, _ = closed_form(problem)
    found = LeaveOneOut(system, problem, 400.0).search()
    assert found.strengths[found.best()] < 1e-4 * system.scale
    assert found.accuracies[found.best()] > found.accuracies[-1] + 0.1
    assert (np.diff(found.strengths) > 0).all()


def test_of_strengths_that_are_right_as_often_the_least_loss_is_taken():
    found = LeftOut(np.arange(1.0, 6.0), np.array([0.9, 0.5, 0.4, 0.3, 0.1]), np.array([0.8, 0.81, 0.8, 0.7, 0.5]), 100)
    assert found.best() == 2


def test_of_losses_that_are_the_same_the_strongest_is_taken():
    found = LeftOut(np.arange(1.0, 4.0), np.array([0.5, 0.50001, 0.6]), np.array([0.8, 0.8, 0.8]), 100)
    assert found.best() == 1


def test_a_row_that_nothing_is_known_of_without_it_counts_as_the_mean():
    X, y = np.array([[0.0], [0.0], [5.0]]), np.array([0, 1, 1])
    c = np.array([1, 1, 1e30], np.float32)
    found = left_out_scores(Problem.whole(DenseMatrix(X), y, 2, c), 1.0)
    assert np.isfinite(found).all()


def test_threads_change_nothing():
    X, y = drawn(3000, 8, 9)
    problem = Problem.whole(DenseMatrix(X), y, 9)
    found = []
    for n_threads in (1, 2):
        with threads(n_threads):
            found.append(LeaveOneOut(closed_form(problem)[0], problem, 3000.0).search())
    np.testing.assert_array_equal(found[0].losses, found[1].losses)


@pytest.mark.parametrize("strength", [1e-6, 1e-8])
def test_weak_penalties_with_fewer_rows_than_columns_lose_no_digits(strength):
    X, y = drawn(30, 90, 3)
    found = left_out_scores(Problem.whole(DenseMatrix(X), y, 3), strength)
    np.testing.assert_allclose(found, ridge_twin.left_out(X, y, 3, strength), atol=1e-5)


def test_where_rows_left_out_tell_nothing_the_penalty_stays_near_the_scale():
    X = np.random.default_rng(0).normal(size=(300, 64)).astype(np.float32)
    problem = Problem.whole(DenseMatrix(X), np.arange(300), 300)
    system, _ = closed_form(problem)
    found = LeaveOneOut(system, problem, 300.0).search()
    assert found.strengths[found.best()] < 1e4 * system.scale
