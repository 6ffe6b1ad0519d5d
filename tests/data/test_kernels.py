"""Kernels against scikit-learn's and their formulas, products that hold no whole Gram matrix, and what is refused."""

import numpy as np
import pytest
from sklearn.metrics import pairwise

from manyclass.data import kernels

rng = np.random.default_rng(0)
A, B = rng.standard_normal((7, 3)), rng.standard_normal((5, 3))
MANY = rng.standard_normal((70, 3))


def test_the_gaussian_is_that_of_scikit_learn():
    np.testing.assert_allclose(kernels.RbfKernel(0.3)(A, B), pairwise.rbf_kernel(A, B, gamma=0.3), rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "twin"),
    [
        ("linear", pairwise.linear_kernel(A, B)),
        ("rbf", pairwise.rbf_kernel(A, B, gamma=0.3)),
        ("poly", pairwise.polynomial_kernel(A, B, degree=2, gamma=0.3, coef0=0.5)),
        (pairwise.laplacian_kernel, pairwise.laplacian_kernel(A, B)),
    ],
)
def test_a_kernel_of_classifiers_is_that_of_scikit_learn(name, twin):
    np.testing.assert_allclose(kernels.classifier_kernel(name, 0.3, 2.0, 0.5)(A, B), twin, rtol=1e-12)


@pytest.mark.parametrize(("X", "gamma"), [(A, 1 / (3 * A.var())), (np.ones((4, 3)), 1.0)])
def test_the_scale_of_the_rows_gives_gamma(X, gamma):
    assert kernels.find_gamma("scale", X) == pytest.approx(gamma)


def l1(A, B):
    return np.exp(-np.abs(A[:, None] - B).sum(axis=2))


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("linear", lambda a, b: a @ b),
        ("rbf", lambda a, b: np.exp(-0.3 * np.sum((a - b) ** 2))),
        ("poly", lambda a, b: a @ b + 0.3 * (a @ b) ** 2),
        (l1, lambda a, b: np.exp(-np.abs(a - b).sum())),
    ],
)
def test_a_kernel_of_exemplar_machines_is_its_formula(name, formula):
    twin = [[formula(a, b) for b in B] for a in MANY]
    np.testing.assert_allclose(kernels.exemplar_kernel(name, 0.3)(MANY, B), twin, rtol=1e-12)


@pytest.mark.parametrize("name", ["linear", "rbf", "poly", l1])
@pytest.mark.parametrize(
    "make", [kernels.exemplar_kernel, lambda *kernel: kernels.classifier_kernel(*kernel, 2.0, 0.5)]
)
def test_the_diagonal_is_that_of_the_kernel_of_rows_with_themselves(name, make):
    kernel = make(name, 0.3)
    np.testing.assert_allclose(kernel.diagonal(MANY), kernel(MANY, MANY).diagonal(), rtol=1e-12)


@pytest.mark.parametrize("ask", [lambda k: k(MANY, B), lambda k: k.diagonal(MANY)])
def test_a_function_that_gives_another_shape_is_refused(ask):
    with pytest.raises(ValueError, match=r"kernel must return an array of shape \(\d+, \d+\) for .* rows; got \(3,\)"):
        ask(kernels.exemplar_kernel(lambda A, B: np.zeros(3), 1.0))


def test_products_are_the_same_in_blocks(monkeypatch):
    weights = rng.standard_normal((5, 2))
    monkeypatch.setattr(kernels, "spans", lambda n, size: [slice(i, min(n, i + 3)) for i in range(0, n, 3)])
    found = kernels.kernel_products(pairwise.rbf_kernel, A.__getitem__, len(A), B, weights)
    np.testing.assert_allclose(found, pairwise.rbf_kernel(A, B) @ weights, rtol=1e-12)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.zeros((5, 7)), r"kernel must return an array of shape \(7, 5\) for 7 and 5 rows; got \(5, 7\)"),
        (np.full((7, 5), np.nan), "values of the kernel must hold finite numbers; row 0"),
    ],
)
def test_a_function_that_is_no_kernel_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        kernels.CallableKernel(lambda A, B: given)(A, B)


@pytest.mark.parametrize(
    ("K", "message"),
    [(np.ones((3, 2)), "square Gram matrix"), (np.array([[1.0, 0.5], [0.2, 1.0]]), "symmetric Gram matrix")],
)
def test_what_is_no_gram_matrix_is_refused(K, message):
    with pytest.raises(ValueError, match=message):
        kernels.check_gram(K)
