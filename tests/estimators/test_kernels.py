"""Kernels by name against scikit-learn's, and products with them that hold no whole Gram matrix."""

import numpy as np
import pytest
from sklearn.metrics import pairwise

from manyclass.estimators import kernels

rng = np.random.default_rng(0)
A, B = rng.standard_normal((7, 3)), rng.standard_normal((5, 3))


@pytest.mark.parametrize(
    ("name", "twin"),
    [
        ("linear", pairwise.linear_kernel(A, B)),
        ("rbf", pairwise.rbf_kernel(A, B, gamma=0.3)),
        ("poly", pairwise.polynomial_kernel(A, B, degree=2, gamma=0.3, coef0=0.5)),
        (pairwise.laplacian_kernel, pairwise.laplacian_kernel(A, B)),
    ],
)
def test_a_kernel_is_what_its_name_says(name, twin):
    kernel = kernels.fitted_kernel(name, 0.3, 2, 0.5, A)
    np.testing.assert_allclose(kernels.kernel_matrix(kernel, A, B), twin, rtol=1e-12)


@pytest.mark.parametrize(("X", "gamma"), [(A, 1 / (3 * A.var())), (np.ones((4, 3)), 1.0)])
def test_the_scale_of_the_rows_gives_gamma(X, gamma):
    assert kernels.fitted_kernel("rbf", "scale", 3, 1.0, X)["gamma"] == pytest.approx(gamma)


def test_products_are_the_same_in_blocks(monkeypatch):
    kernel, weights = kernels.fitted_kernel("rbf", 0.3, 3, 1.0, A), rng.standard_normal((5, 2))
    monkeypatch.setattr(kernels, "spans", lambda n, size: [slice(i, min(n, i + 3)) for i in range(0, n, 3)])
    found = kernels.kernel_products(kernel, A.__getitem__, len(A), B, weights)
    np.testing.assert_allclose(found, pairwise.rbf_kernel(A, B, gamma=0.3) @ weights, rtol=1e-12)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.zeros((5, 7)), r"kernel must give an array of shape \(7, 5\) for 7 and 5 rows; got \(5, 7\)"),
        (np.full((7, 5), np.nan), "what kernel gives must hold finite numbers; row 0"),
    ],
)
def test_a_function_that_is_no_kernel_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        kernels.kernel_matrix({"name": lambda A, B: given}, A, B)


@pytest.mark.parametrize(
    ("K", "message"),
    [(np.ones((3, 2)), "square Gram matrix"), (np.array([[1.0, 0.5], [0.2, 1.0]]), "symmetric Gram matrix")],
)
def test_what_is_no_gram_matrix_is_refused(K, message):
    with pytest.raises(ValueError, match=message):
        kernels.check_gram(K)
