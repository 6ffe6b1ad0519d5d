"""Smooth problems by L-BFGS, and rows in coordinates of their own."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from manyclass.losses.multiclass import SmoothedHinge
from manyclass.losses.multitask import TaskHinge
from manyclass.penalties.smoothed import HalfSquare, SmoothedTraceNorm
from manyclass.solvers.smooth import SmoothProblem, coordinates_of_gram, coordinates_of_rows, minimize_smooth

PENALTIES = [SmoothedTraceNorm(0.01), SmoothedTraceNorm(0.5), HalfSquare()]
every_kind = pytest.mark.parametrize("kind", ["classes", "tasks", "beside fixed classes"])
every_penalty = pytest.mark.parametrize("penalty", PENALTIES, ids=["sharp trace", "smooth trace", "square"])


def draw(kind, penalty, seed=0, n=30, p=5, k=4):
    rng = np.random.default_rng(seed)
    X, weights = rng.standard_normal((n, p)), rng.uniform(0.05, 0.5, n)
    if kind == "tasks":
        return SmoothProblem.of(X, rng.integers(-1, 2, (n, k)), k, weights, TaskHinge(10.0), penalty)
    fixed = 0.5 * rng.standard_normal((n, 2)) if kind == "beside fixed classes" else None
    y = rng.integers(0, k if fixed is None else k + 2, n)
    return SmoothProblem.of(X, y, k, weights, SmoothedHinge(10.0), penalty, fixed)


@every_kind
@every_penalty
def test_the_gradient_is_that_of_finite_differences(kind, penalty):
    problem = draw(kind, penalty)
    rng = np.random.default_rng(1)
    W, D = rng.standard_normal((2, *problem.shape))
    slope = (problem.at(W + 1e-6 * D).objective - problem.at(W - 1e-6 * D).objective) / 2e-6
    assert np.vdot(problem.at(W).gradient, D) == pytest.approx(slope, rel=1e-5)


@every_kind
@every_penalty
def test_every_bound_is_below_every_objective(kind, penalty):
    problem = draw(kind, penalty)
    rng = np.random.default_rng(2)
    places = [problem.at(size * rng.standard_normal(problem.shape)) for size in (0, 0.1, 0.5, 2)]
    assert max(map(problem.dual, places)) <= min(point.objective for point in places)


@every_kind
@every_penalty
def test_the_optimum_is_proven_and_that_of_conjugate_gradients(kind, penalty):
    problem = draw(kind, penalty)
    found = minimize_smooth(problem, 1e-6, 5000)

    def evaluate(w):
        point = problem.at(w.reshape(problem.shape))
        return point.objective, point.gradient.ravel()

    start = np.random.default_rng(3).standard_normal(problem.shape).ravel()
    twin = minimize(evaluate, start, jac=True, method="CG", options={"gtol": 1e-7, "maxiter": 3000})
    assert found.converged
    assert found.gap <= 1e-6 * found.objective
    assert found.objective == pytest.approx(twin.fun, rel=1e-6)


def test_rows_of_weight_zero_are_as_if_they_were_not_there():
    rng = np.random.default_rng(4)
    X, y, weights = rng.standard_normal((12, 3)), rng.integers(0, 3, 12), np.repeat([0.0, 1.0], 6)
    loss, penalty, W = SmoothedHinge(), HalfSquare(), rng.standard_normal((3, 3))
    whole = SmoothProblem.of(X, y, 3, weights, loss, penalty)
    part = SmoothProblem.of(X[6:], y[6:], 3, weights[6:], loss, penalty)
    assert whole.at(W).objective == part.at(W).objective


def test_a_start_at_the_optimum_takes_no_iteration():
    problem = draw("classes", PENALTIES[1])
    found = minimize_smooth(problem, 1e-6, 1000)
    again = minimize_smooth(problem, 1e-5, 1000, found.W)
    assert again.n_iter == 0
    np.testing.assert_array_equal(again.W, found.W)


def test_few_iterations_are_said_to_be_too_few_and_their_gap_holds():
    problem = draw("classes", PENALTIES[0])
    best = minimize_smooth(problem, 1e-8, 5000).objective
    found = minimize_smooth(problem, 1e-8, 5)
    assert found.n_iter == 5
    assert not found.converged
    assert found.objective - best <= found.gap * (1 + 1e-9)


def test_an_optimum_close_to_zero_is_not_solved_by_zero():
    # The objective is nearly all constants, of which every W, zero too, has nearly as much.
    problem = draw("classes", SmoothedTraceNorm(1.0))
    problem = replace(problem, weights=0.05 * problem.weights)
    at_zero, best = problem.at(np.zeros(problem.shape)).objective, minimize_smooth(problem, 1e-5, 1000).objective
    found = minimize_smooth(problem, 0.05, 1000)
    assert at_zero - best < 0.03 * best
    assert found.objective - best < 0.06 * (at_zero - best)


@pytest.mark.parametrize("kind", ["classes", "tasks"])
@every_penalty
def test_no_gap_is_larger_than_the_objective(kind, penalty):
    problem = draw(kind, penalty)
    found = minimize_smooth(replace(problem, X=1e6 * problem.X), 1e-9, max_iter=2)
    assert not found.converged
    assert found.gap <= found.objective


@pytest.mark.parametrize(("n", "d"), [(7, 4), (4, 4), (4, 9)])
def test_points_of_rows_have_their_products_and_no_more_columns_than_rows(n, d):
    X = np.random.default_rng(0).standard_normal((n, d))
    points = coordinates_of_rows(X)
    np.testing.assert_allclose(points.Z @ points.Z.T, X @ X.T, atol=1e-12)
    assert points.Z.shape[1] == min(n, d)


@pytest.mark.parametrize(("n", "d"), [(7, 4), (4, 9)])
def test_scores_are_the_same_on_points_and_on_rows(n, d):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, d))
    points = coordinates_of_rows(X)
    W = rng.standard_normal((points.Z.shape[1], 3))
    np.testing.assert_allclose(X @ points.kept(W), points.Z @ W, atol=1e-12)
    np.testing.assert_allclose(points.on_points(points.kept(W)), W, atol=1e-12)


@pytest.mark.parametrize("rank", [1, 3, 6])
def test_points_of_a_gram_matrix_have_its_rank_and_its_products(rank):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((6, rank))
    points = coordinates_of_gram(X @ X.T)
    W = rng.standard_normal((rank, 2))
    assert points.Z.shape == (6, rank)
    np.testing.assert_allclose(points.Z @ points.Z.T, X @ X.T, atol=1e-10)
    np.testing.assert_allclose(X @ X.T @ points.kept(W), points.Z @ W, atol=1e-10)
    np.testing.assert_allclose(points.on_points(points.kept(W)), W, atol=1e-8)


def test_of_what_is_no_kernel_the_positive_part_is_taken():
    U = np.linalg.qr(np.random.default_rng(3).standard_normal((4, 4)))[0]
    points = coordinates_of_gram((U * [-2, -0.1, 1, 3]) @ U.T)
    np.testing.assert_allclose(points.Z @ points.Z.T, (U * [0, 0, 1, 3]) @ U.T, atol=1e-12)


@pytest.mark.parametrize("K", [np.zeros((3, 3)), -np.eye(3)])
def test_a_gram_matrix_with_nothing_positive_gives_points_that_are_zero(K):
    points = coordinates_of_gram(K)
    assert not points.Z.any()
    assert np.isfinite(points.kept(np.ones((points.Z.shape[1], 2)))).all()
