"""The strengths of a path, and the accuracy by which they are judged."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.estimators.trace.path_grid import class_accuracy, round_to_digits, strength_grid
from manyclass.solvers.batch.points import DenseWeights, LowRankWeights
from manyclass.solvers.problem import Problem


def never():
    raise AssertionError("strengths that are given need no largest")


def test_given_strengths_are_sorted_and_none_is_tried_twice():
    assert strength_grid([0.1, 3, 0.1, 0], "traces", (1.0, 0.1), never) == [3.0, 0.1, 0.0]


def test_a_number_of_strengths_goes_down_by_factors_with_four_digits():
    found = strength_grid(5, "ridges", (0.5, 1e-3), lambda: np.pi)
    assert found == [round_to_digits(np.pi * fraction) for fraction in np.geomspace(0.5, 1e-3, 5)]
    assert found[0] == 1.571


def test_where_any_strength_leaves_nothing_there_is_a_grid_all_the_same():
    assert strength_grid(2, "traces", (0.5, 0.1), lambda: 0.0) == [0.5, 0.1]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([], "traces must hold at least one strength; got none"),
        ([-1.0], "each of traces must be"),
        (0, "traces must be a whole number, at least 1; got 0"),
        (2.5, "traces must be a whole number"),
    ],
)
def test_what_is_no_grid_is_refused(given, words):
    with pytest.raises(ValueError, match=words):
        strength_grid(given, "traces", (1.0, 0.1), lambda: 1.0)


@pytest.mark.parametrize("low_rank", [False, True])
def test_accuracy_is_the_mean_over_the_classes_that_occur(low_rank):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((90, 5)), rng.choice(6, 90, p=[0.5, 0.2, 0.2, 0.05, 0.05, 0])
    A, B, b = rng.standard_normal((5, 2)), rng.standard_normal((6, 2)), rng.standard_normal(6)
    point = LowRankWeights(A, B, b) if low_rank else DenseWeights(A @ B.T, b)
    index = np.arange(10, 80)
    right = (X @ A @ B.T + b).argmax(axis=1)[index] == y[index]
    expected = np.mean([right[y[index] == c].mean() for c in np.unique(y[index])])
    judged = Problem.whole(mc.as_matrix(X), y, 6).part(index)
    assert class_accuracy(point, judged) == pytest.approx(expected)
