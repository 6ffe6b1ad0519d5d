"""Imprinted machines treat rows of other classes as the machines do that are there."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyclass.data.dense import DenseMatrix
from manyclass.solvers.imprinting import (
    FewRows,
    NegativeRows,
    NegativeSums,
    imprint,
    mixed_rows,
    rows_with_covariance,
)


def problem(n, d, p=2, seed=0):
    """Rows of old classes, and what is known of new ones."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, d)) * rng.uniform(0.5, 2, d) + rng.normal(size=d)
    return rows, FewRows(rng.normal(size=(p, d)) + 2, np.full(p, 5), rng.normal(size=p), rng.uniform(0.1, 1, p))


def slow_imprint(few, rows):
    """One class at a time, and every row left out of the covariance by hand."""
    n, d = rows.shape
    mu = rows.mean(axis=0)
    F = (rows - mu) / np.sqrt(n)
    strength = np.trace(F.T @ F) / min(n - 1, d)
    found = []
    for m, _, level, spread in zip(*few, strict=True):
        w = np.linalg.inv(F.T @ F + strength * np.eye(d)) @ (m - mu)
        left_out = [f @ np.linalg.inv(F.T @ F - np.outer(f, f) + strength * np.eye(d)) @ (m - mu) for f in F]
        w *= spread / np.sqrt(np.sum(np.square(left_out)))
        found.append((w, level - w @ mu))
    return np.array([w for w, _ in found]), np.array([bias for _, bias in found])


@settings(max_examples=40, deadline=None)
@given(st.integers(3, 12), st.integers(1, 9), st.integers(1, 4), st.integers(0, 99))
def test_machines_are_those_worked_out_one_by_one(n, d, p, seed):
    rows, few = problem(n, d, p, seed)
    for ours, theirs in zip(imprint(few, NegativeRows(rows)), slow_imprint(few, rows), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-8)


def test_sums_of_many_rows_give_what_the_rows_give():
    rows, few = problem(4000, 6)
    of_sums = imprint(few, NegativeSums(rows.mean(axis=0), np.cov(rows.T, bias=True), len(rows)))
    for ours, theirs in zip(of_sums, imprint(few, NegativeRows(rows)), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-2)


def test_sums_and_rows_agree_on_directions():
    rows, few = problem(50, 6)
    ours, theirs = NegativeSums(rows.mean(axis=0), np.cov(rows.T, bias=True), 50), NegativeRows(rows)
    np.testing.assert_allclose(ours.whitened(few.means), theirs.whitened(few.means))


def test_rows_that_were_left_out_have_the_spread_that_is_asked_for():
    rows, few = problem(100, 60)
    W, b = imprint(few, NegativeRows(rows[:80]))
    S = problem(4000, 60)[0] @ W.T + b
    assert (np.abs(S.std(axis=0) / few.spreads - 1) < 0.25).all()
    np.testing.assert_allclose((rows[:80] @ W.T + b).mean(axis=0), few.levels, rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
def test_units_of_the_columns_do_not_matter(scale):
    rows, few = problem(30, 5)
    W, b = imprint(few, NegativeRows(rows))
    other, bias = imprint(few._replace(means=scale * few.means), NegativeRows(scale * rows))
    np.testing.assert_allclose(other * scale, W, rtol=1e-9)
    np.testing.assert_allclose(bias, b, rtol=1e-9)


def test_a_class_in_the_middle_of_all_has_no_direction():
    rows, few = problem(30, 5, p=1)
    W, b = imprint(few._replace(means=rows.mean(axis=0)[None]), NegativeRows(rows))
    assert np.abs(W).max() == 0
    np.testing.assert_array_equal(b, few.levels)


def test_rows_that_do_not_vary_are_survived():
    W, b = imprint(problem(5, 3)[1], NegativeRows(np.zeros((4, 3))))
    assert np.isfinite(W).all()
    assert np.isfinite(b).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_mixed_rows_have_the_mean_and_about_the_covariance_of_all(dtype):
    rows = problem(3000, 8)[0].astype(dtype)
    mixed = mixed_rows(DenseMatrix(rows), np.arange(3000), 1000)
    assert mixed.dtype == dtype
    np.testing.assert_allclose(mixed.mean(axis=0), rows.mean(axis=0), rtol=1e-4, atol=1e-5)
    C = np.cov(rows.T, bias=True)
    assert np.abs(np.cov(mixed.T, bias=True) - C).max() < 0.15 * np.abs(C).max()


def test_no_mixed_row_is_one_of_the_rows():
    rows = problem(300, 8)[0]
    mixed = mixed_rows(DenseMatrix(rows), np.arange(300))
    nearest = np.linalg.norm(mixed[:, None] - rows[None], axis=2).min()
    assert nearest > 0.1


def test_mixed_rows_are_of_the_rows_of_the_index_alone():
    rows = problem(300, 8)[0]
    index = np.arange(0, 300, 3)
    np.testing.assert_array_equal(
        mixed_rows(DenseMatrix(rows), index), mixed_rows(DenseMatrix(rows[index]), np.arange(100))
    )


@pytest.mark.parametrize("n", [1, 2, 5])
def test_few_rows_give_few(n):
    assert mixed_rows(DenseMatrix(np.eye(5)[:n]), np.arange(n)).shape == (n, 5)


def test_a_covariance_alone_gives_rows_too():
    rows = problem(500, 4)[0]
    C = np.cov(rows.T, bias=True)
    made = rows_with_covariance(rows.mean(axis=0), C, np.float64, 2000)
    np.testing.assert_allclose(made.mean(axis=0), rows.mean(axis=0), rtol=1e-9)
    assert np.abs(np.cov(made.T, bias=True) - C).max() < 0.15 * np.abs(C).max()
