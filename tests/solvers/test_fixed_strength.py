"""Machines of one strength say of rows left out what the form that serves all strengths says, and fits without them."""

import numpy as np
import pytest

from manyclass._core.label_lists import LabelLists
from manyclass.data.dense import DenseMatrix
from manyclass.solvers import fixed_strength
from manyclass.solvers.closed_form import closed_form
from manyclass.solvers.fixed_strength import FixedStrength
from manyclass.solvers.problem import Problem

RNG = np.random.default_rng(0)
Y = RNG.permutation(np.arange(90) % 5)
X = (RNG.normal(size=(5, 12))[Y] + RNG.normal(size=(90, 12)) + 3).astype(np.float32)
EVERY = np.arange(90)


def left_out(strength, X=X, y=Y):
    moments = closed_form(Problem.whole(DenseMatrix(X), y, 5))[1]
    return FixedStrength(DenseMatrix(X), moments, strength)


@pytest.mark.parametrize("strength", [1e-4, 0.1, 10.0])
def test_scores_are_those_of_the_form_for_all_strengths(strength):
    problem = Problem.whole(DenseMatrix(X), Y, 5)
    system = closed_form(problem)[0]
    Z = system.coordinates(problem.X, EVERY, np.float64)
    twin = system.left_out_scores(Z, problem.label_lists(EVERY), np.full(90, 1 / 90), strength)
    np.testing.assert_allclose(left_out(strength).left_out_scores(EVERY, LabelLists.single(Y)), twin, atol=1e-4)


def test_they_are_those_of_a_fit_without_the_row():
    row, others = 7, np.delete(EVERY, 7)
    C, T = X[others].astype(float), 2 * np.eye(5)[Y[others]] - 1
    mean, middle = C.mean(axis=0), T.mean(axis=0)
    # With the penalty that all rows have: the sums of squares of 89 rows, and 90 times the strength.
    W = np.linalg.solve((C - mean).T @ (C - mean) + 90 * 0.1 * np.eye(12), (C - mean).T @ (T - middle))
    twin = (X[row] - mean) @ W + middle
    found = left_out(0.1).left_out_scores(np.array([row]), LabelLists.single(Y[[row]]))
    np.testing.assert_allclose(found[0], twin, atol=1e-4)


def test_blocks_change_nothing(monkeypatch):
    whole = left_out(0.1).left_out_scores(EVERY, LabelLists.single(Y))
    monkeypatch.setattr(fixed_strength, "_BYTES", 700)
    np.testing.assert_allclose(left_out(0.1).left_out_scores(EVERY, LabelLists.single(Y)), whole, atol=1e-5)
    some = np.array([3, 50, 7])
    np.testing.assert_allclose(left_out(0.1).left_out_scores(some, LabelLists.single(Y[some])), whole[some], atol=1e-5)


def test_a_row_of_which_others_tell_nothing_has_the_mean_of_the_targets():
    lone = X.copy()
    lone[:, 0] = 0
    lone[4, 0] = 1e6
    found = left_out(1e-9, lone).left_out_scores(np.array([4]), LabelLists.single(Y[[4]]))
    assert np.isfinite(found).all()
