"""The exact problem: primal, dual and what is recovered from the dual agree, and the smoothed one tends to it."""

import sys

import numpy as np
import pytest

from manyclass.losses.multiclass import SmoothedHinge
from manyclass.penalties.smoothed import SmoothedTraceNorm
from manyclass.solvers import conic
from manyclass.solvers.smooth import SmoothProblem, minimize_smooth

SIZES = [(30, 6, 4, 0.3), (40, 8, 6, 0.1), (16, 20, 4, 0.2), (30, 4, 3, 0.5)]


def draw(n, d, k, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, (X @ rng.standard_normal((d, k))).argmax(axis=1)


@pytest.fixture(scope="module", params=SIZES, ids=str)
def solved(request):
    """(X, y, C, W, optimum, Q, the dual's optimum)"""
    n, d, k, C = request.param
    X, y = draw(n, d, k)
    return X, y, C, *conic.solve_primal(X, y, k, C), *conic.solve_dual(X @ X.T, y, k, C)


def test_primal_and_dual_have_the_same_optimum(solved):
    X, y, C, W, optimum, _, bound = solved
    assert optimum == pytest.approx(bound, rel=1e-6)
    assert conic.exact_objective(W, X, y, C) == pytest.approx(optimum, rel=1e-6)


def test_the_dual_variables_keep_their_constraints(solved):
    X, y, C, _, _, Q, _ = solved
    rows = np.arange(len(y))
    np.testing.assert_allclose(Q.sum(axis=1), 0, atol=1e-8)
    assert (np.delete(Q, np.ravel_multi_index((rows, y), Q.shape)) >= -1e-8).all()
    assert (-Q[rows, y] <= C + 1e-8).all()
    assert np.linalg.norm(X.T @ Q, 2) <= 1 + 1e-6


def test_the_recovered_weights_are_the_optimum(solved):
    X, y, C, W, optimum, Q, _ = solved
    weights, value = conic.recover(X @ X.T, Q, y, C)
    assert value == pytest.approx(optimum, rel=1e-4)
    assert conic.exact_objective(X.T @ weights, X, y, C) == pytest.approx(optimum, rel=1e-4)
    np.testing.assert_allclose(X.T @ weights, W, atol=1e-3)


def test_one_shared_direction_is_recovered_by_a_diagonal_alone():
    # A singular value of 1 that is simple has one pair of vectors, as Theorem 1 wants it.
    X, y = draw(40, 8, 6, seed=1)
    for C in (0.06, 0.07, 0.08, 0.09):
        W, optimum = conic.solve_primal(X, y, 6, C)
        if np.linalg.matrix_rank(W, tol=1e-4) == 1:
            break
    Q, _ = conic.solve_dual(X @ X.T, y, 6, C)
    weights, value = conic.recover_diagonal(X @ X.T, Q, y, C)
    assert value == pytest.approx(optimum, rel=1e-4)
    np.testing.assert_allclose(X.T @ weights, W, atol=1e-3)


def test_the_smoothed_optimum_tends_to_the_exact_one(solved):
    X, y, C, W, optimum, _, _ = solved

    def above(smoothing, sharpness):
        penalty, loss = SmoothedTraceNorm(smoothing), SmoothedHinge(sharpness)
        problem = SmoothProblem.of(X, y, W.shape[1], np.full(len(y), C), loss, penalty)
        return conic.exact_objective(minimize_smooth(problem, 5e-4, 5000).W, X, y, C) / optimum - 1

    rough, fair, fine = above(0.1, 5.0), above(0.01, 50.0), above(0.001, 500.0)
    assert 0 <= fine < fair < rough
    assert fine < 2e-3


def test_without_cvxpy_a_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    with pytest.raises(ImportError, match=r'exact solutions need cvxpy, which is missing; pip install "manyclass\['):
        conic.solve_primal(np.eye(2), np.array([0, 1]), 2, 1.0)
