"""Subsets of the examples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import manyclass as mc
from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd.subsets import hold_out, median_squared_norm, sample_classes, sample_rows


def problem_of(X, y, k=7):
    return Problem.whole(mc.as_matrix(np.asarray(X, np.float32)), y, k)


@given(y=st.lists(st.integers(0, 6), min_size=1, max_size=80), size=st.integers(1, 90), seed=st.integers(0, 9))
def test_a_sample_has_equally_many_of_each_class_as_far_as_they_go(y, size, seed):
    whole = Problem.whole(mc.as_matrix(np.ones((len(y) + 3, 1), np.float32)), [*y, 0, 1, 2], 7)
    problem = whole.part(np.arange(len(y)))
    some = sample_classes(problem, size, np.random.default_rng(seed))
    assert len(some) == min(size, len(y)) == len(set(some.index.tolist()))
    assert set(some.index.tolist()) <= set(range(len(y)))
    assert (np.diff(some.index) > 0).all()
    most = some.sizes.max()
    assert all(taken in (there, most - 1, most) for taken, there in zip(some.sizes, problem.sizes, strict=True))
    again = sample_classes(problem, size, np.random.default_rng(seed))
    np.testing.assert_array_equal(again.index, some.index)


@given(y=st.lists(st.integers(0, 6), min_size=1, max_size=80), fraction=st.sampled_from([0.01, 0.1, 0.25, 0.9]))
def test_every_class_that_can_spare_one_has_a_row_held_out_and_none_its_last(y, fraction):
    rest, held = hold_out(problem_of(np.ones((len(y), 1)), y), fraction, np.random.default_rng(0))
    np.testing.assert_array_equal(np.sort(np.concatenate([rest.index, held.index])), np.arange(len(y)))
    counts = np.bincount(y, minlength=7)
    assert (held.sizes[counts >= 2] >= 1).all()
    assert (rest.sizes[counts >= 1] >= 1).all()
    assert (np.abs(held.sizes - fraction * counts) <= 1).all()


def test_a_sample_is_in_the_order_of_the_rows():
    problem = problem_of(np.ones((50, 1)), np.arange(50) % 7)
    some = sample_rows(problem, 20, np.random.default_rng(0)).index
    assert len(some) == 20
    assert (np.diff(some) > 0).all()
    assert sample_rows(problem, 50, np.random.default_rng(0)) is problem


@pytest.mark.parametrize(("lengths", "square"), [([1, 2, 100], 4.0), ([0, 0, 3], 3.0), ([0, 0, 0], 0.0)])
def test_a_usual_length_is_the_median_or_the_mean_where_most_are_zero(lengths, square):
    problem = problem_of(np.outer(lengths, [0.6, 0.8]), [0, 1, 2])
    assert median_squared_norm(problem, np.random.default_rng(0)) == pytest.approx(square)
