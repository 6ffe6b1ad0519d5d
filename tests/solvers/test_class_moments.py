"""Sums over rows, class by class: those of a plain loop, and added and removed as if the rows had been."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.data.dense import DenseMatrix
from manyclass.solvers.class_moments import ClassMoments
from manyclass.solvers.problem import Problem
from tests.contracts.matrix import every_matrix


def twin(X, y, k, c):
    X, mean = X.astype(np.float64), np.average(X.astype(np.float64), axis=0, weights=c)
    Z = X - mean
    sums = np.stack([(c[:, None] * Z)[y == j].sum(axis=0) for j in range(k)])
    return ClassMoments(mean, (c[:, None] * Z).T @ Z, sums, np.bincount(y, c, k), np.bincount(y, minlength=k))


def assert_same(found, expected, scale=1.0):
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-10 * scale)


def drawn(n, d, k, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)).astype(dtype), rng.integers(0, k, n), rng.uniform(0.5, 2, n).astype(np.float32)


@given(st.integers(1, 40), st.integers(1, 9), st.integers(1, 5), st.sampled_from([np.float32, np.float64]))
def test_sums_are_those_of_a_plain_loop(n, d, k, dtype):
    X, y, c = drawn(n, d, k, n, dtype)
    assert_same(ClassMoments.of(Problem.whole(DenseMatrix(X), y, k, c)), twin(X, y, k, c.astype(np.float64)))


def test_rows_beyond_a_tile_are_added_too():
    X, y, c = drawn(2500, 5, 7)
    assert_same(ClassMoments.of(Problem.whole(DenseMatrix(X), y, 7, c)), twin(X, y, 7, c.astype(np.float64)))


def test_only_rows_that_count_are_summed():
    X, y, c = drawn(30, 4, 3)
    some = np.arange(3, 30, 2)
    found = ClassMoments.of(Problem.whole(DenseMatrix(X), y, 3, c).part(some))
    assert_same(found, twin(X[some], y[some], 3, c[some].astype(np.float64)))


@every_matrix
def test_every_kind_of_matrix_has_the_sums_of_its_rows(make):
    X = make(np.random.default_rng(0), 23, 6)
    y = np.arange(23) % 4
    rows = X.rows(slice(0, 23))
    size = float(np.square(rows.astype(np.float64)).sum())
    assert_same(ClassMoments.of(Problem.whole(X, y, 4)), twin(rows, y, 4, np.ones(23)), size)


def test_a_large_mean_costs_no_digits():
    X, y, c = drawn(200, 3, 2)
    far = ClassMoments.of(Problem.whole(DenseMatrix(X + 1e6), y, 2, c))
    near = ClassMoments.of(Problem.whole(DenseMatrix(X), y, 2, c))
    np.testing.assert_allclose(far.scatter, near.scatter, rtol=1e-7, atol=1e-6)


@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 6))
def test_sums_add_and_subtract_as_rows_do(n, m, d):
    X, y, c = drawn(n + m, d, 3, n)
    whole, first, second = (
        ClassMoments.of(Problem.whole(DenseMatrix(X[at]), y[at], 3, c[at]))
        for at in (slice(None), slice(0, n), slice(n, None))
    )
    assert_same(first.plus(second), whole)
    assert_same(whole.minus(second), first)


def test_classes_take_other_places_and_go():
    X, y, c = drawn(40, 3, 3)
    moments = ClassMoments.of(Problem.whole(DenseMatrix(X), y, 3, c))
    places = np.array([0, 2, 3])
    spread = moments.at(places, 5)
    assert spread.counts[[1, 4]].tolist() == [0, 0]
    assert_same(spread.only(np.isin(np.arange(5), places)), moments)


def test_rows_that_were_never_added_cannot_be_removed():
    X, y, _ = drawn(40, 3, 2)
    whole = ClassMoments.of(Problem.whole(DenseMatrix(X), y, 2))
    other = ClassMoments.of(Problem.whole(DenseMatrix(100 * X[:5]), y[:5], 2))
    with pytest.raises(ValueError, match="rows to remove must be rows that were learned"):
        whole.minus(other)
