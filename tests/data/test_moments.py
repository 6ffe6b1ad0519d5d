"""Mean and covariance are those of the rows, whatever keeps them and wherever they lie."""

import numpy as np
import pytest
from contracts.matrix import MAKERS
from hypothesis import given
from hypothesis import strategies as st

import manyclass as mc
from manyclass.data import moments
from manyclass.data.moments import Moments, Spectrum, column_means, mean_square


@pytest.mark.parametrize("kind", MAKERS)
def test_moments_of_every_kind_of_matrix_are_those_of_its_rows(kind):
    X = MAKERS[kind](np.random.default_rng(0), 50, 6)
    rows = X.toarray().astype(np.float64)
    found = Moments.of(X)
    np.testing.assert_allclose(found.mean, rows.mean(axis=0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.covariance, np.cov(rows.T, bias=True), rtol=1e-10, atol=1e-12)


@given(
    n=st.integers(1, 30), d=st.integers(1, 9), tile=st.integers(1, 8), panel=st.integers(1, 9), seed=st.integers(0, 99)
)
def test_tiles_and_panels_change_nothing(n, d, tile, panel, seed):
    X = np.random.default_rng(seed).normal(size=(n, d))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(moments, "TILE", tile)
        patch.setattr(moments, "PANEL_BYTES", 8 * d * panel)
        found = Moments.of(mc.DenseMatrix(X))
    np.testing.assert_allclose(found.covariance, np.cov(X.T, bias=True).reshape(d, d), atol=1e-12)
    np.testing.assert_allclose(found.mean, X.mean(axis=0), atol=1e-12)


@pytest.mark.parametrize("offset", [0, 1e3, 1e6])
def test_an_offset_costs_no_digits(offset):
    X = np.random.default_rng(0).integers(-8, 9, size=(5000, 3)) + offset
    exact = np.cov((X - offset).T, bias=True)
    np.testing.assert_allclose(Moments.of(mc.DenseMatrix(X)).covariance, exact, rtol=1e-12, atol=1e-12)


def test_rows_in_order_of_size_cost_no_digits():
    X = np.linspace(0, 1e6, 5000)[:, None]
    np.testing.assert_allclose(Moments.of(mc.DenseMatrix(X)).covariance, [[X.var()]], rtol=1e-12)


def test_the_mean_square_is_the_trace_of_the_covariance():
    X = mc.DenseMatrix(np.random.default_rng(0).normal(size=(3000, 4)) + 7)
    assert mean_square(X, column_means(X)) == pytest.approx(np.trace(Moments.of(X).covariance), rel=1e-12)


@given(d=st.integers(1, 8), rank=st.integers(1, 8), scale=st.sampled_from([1e-12, 1.0, 1e12]), seed=st.integers(0, 99))
def test_a_spectrum_holds_the_directions_in_which_rows_differ(d, rank, scale, seed):
    B = np.random.default_rng(seed).normal(size=(d, min(rank, d)))
    found = Spectrum.of(scale * B @ B.T)
    assert len(found.s) == min(rank, d)
    assert (np.diff(found.s) <= 0).all()
    np.testing.assert_allclose((found.V * found.s) @ found.V.T, scale * B @ B.T, atol=1e-12 * scale * d)
    assert (found.V[np.abs(found.V).argmax(axis=0), np.arange(len(found.s))] > 0).all()
