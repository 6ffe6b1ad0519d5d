"""Preconditioner in which a smooth problem is about round."""

import numpy as np
import pytest
import scipy.sparse
from contracts.solver import objective, slopes

import manyclass as mc
from manyclass.solvers.batch import preconditioner
from manyclass.solvers.batch.null_model import fit_null_model
from manyclass.solvers.batch.preconditioner import Preconditioner, fit_preconditioner


def _tall(dtype=np.float64, ridge=1e-4, n=800, d=5, k=8):
    rng = np.random.default_rng(0)
    y = np.arange(n) % k
    X = (rng.standard_normal((n, d)) + rng.standard_normal((k, d))[y]) * np.logspace(0, -1, d) + 2
    return objective(None, X=X.astype(dtype), y=y, ridge=ridge)


def _fitted(made):
    return fit_preconditioner(made, fit_null_model(made))


@pytest.mark.parametrize("factor", [2.5, np.tril(np.arange(1.0, 10).reshape(3, 3))])
def test_a_vector_stands_for_one_point(factor):
    rng = np.random.default_rng(0)
    W, b, m = rng.standard_normal((3, 4)), rng.standard_normal(4), rng.standard_normal(3)
    made = Preconditioner(factor if isinstance(factor, float) else np.asfortranarray(factor), 0.5, m, 4)
    found = made.unpack(made.pack(W, b))
    np.testing.assert_allclose(found[0], W, atol=1e-12)
    np.testing.assert_allclose(found[1], b, atol=1e-12)
    # The scores of m are coordinates of their own.
    np.testing.assert_allclose(made.pack(W, b)[-4:], 0.5 * (b + m @ W))


@pytest.mark.parametrize("factor", [2.5, np.tril(np.arange(1.0, 10).reshape(3, 3))])
def test_the_gradient_is_that_of_the_vector(factor):
    rng = np.random.default_rng(1)
    G, g, m = rng.standard_normal((3, 4)), rng.standard_normal(4), rng.standard_normal(3)
    made = Preconditioner(factor if isinstance(factor, float) else np.asfortranarray(factor), 0.5, m, 4)
    x = made.gradient(G, g)
    for e in np.eye(16):
        W, b = made.unpack(e)
        assert x @ e == pytest.approx(np.vdot(G, W) + g @ b, abs=1e-12)
    assert made.squared_gradient(x) == pytest.approx(np.sum((G - np.outer(m, g)) ** 2))


def test_the_covariance_makes_the_hessian_of_the_null_model_round(monkeypatch):
    monkeypatch.setattr(preconditioner, "_FLOOR", 0.0)
    made = _tall()
    base, x = fit_null_model(made), _fitted(made)
    assert not isinstance(x.factor, float)
    rng = np.random.default_rng(0)
    for _ in range(5):
        # Scores that are equal for all classes are no scores.
        D = rng.standard_normal((made.d + 1, made.k))
        D -= D.mean(axis=1, keepdims=True)
        W, b = x.unpack(D.ravel())
        e = 1e-5
        (H, h), (H0, h0) = slopes(made, e * W, base.b + e * b), slopes(made, -e * W, base.b - e * b)
        np.testing.assert_allclose(x.gradient((H - H0) / (2 * e), (h - h0) / (2 * e)), D.ravel(), atol=0.02)


def test_the_curvature_of_softmax_is_that_of_its_classes():
    made = _tall()
    assert preconditioner._curvature(made, fit_null_model(made)) == pytest.approx(1 / made.k, rel=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_covariance_is_taken_where_rows_and_classes_are_many(dtype):
    assert not isinstance(_fitted(_tall(dtype)).factor, float)
    assert isinstance(_fitted(_tall(dtype, n=16)).factor, float)


def test_a_strong_ridge_needs_no_covariance():
    assert isinstance(_fitted(_tall(ridge=1e3)).factor, float)


def test_rows_whose_products_cost_little_get_no_covariance():
    made = _tall()
    X = np.zeros((800, 100))
    X[:, :5] = made.X.toarray()
    dense, sparse = (
        objective(None, X=matrix, y=made.rows.y, ridge=1e-7)
        for matrix in (mc.DenseMatrix(X), mc.as_matrix(scipy.sparse.csr_matrix(X)))
    )
    assert preconditioner._cost(sparse) > preconditioner._cost(dense)


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_squares_that_leave_the_dtype_are_survived(scale, monkeypatch):
    monkeypatch.setattr(preconditioner, "_cost", lambda objective: 0.0)
    made = _tall()
    with np.errstate(over="ignore", under="ignore"):
        found = _fitted(objective(None, X=(scale * made.X.toarray()).astype(np.float32), y=made.rows.y, ridge=1e-4))
    assert isinstance(found.factor, float)
    assert np.isfinite(found.factor)


def test_rows_of_zeros_have_coordinates():
    made = objective(None, X=np.zeros((40, 3)), y=np.arange(40) % 4, ridge=0.1)
    assert np.isfinite(_fitted(made).pack(np.zeros((3, 4)), np.zeros(4))).all()
