"""Products with a kernel that hold no whole Gram matrix, and what is refused as a kernel."""

import numpy as np
import pytest
from sklearn.metrics import pairwise

from manyclass.data import kernels

rng = np.random.default_rng(0)
A, B = rng.standard_normal((7, 3)), rng.standard_normal((5, 3))


def test_the_gaussian_is_that_of_scikit_learn():
    np.testing.assert_allclose(kernels.rbf_kernel(A, B, 0.3), pairwise.rbf_kernel(A, B, gamma=0.3), rtol=1e-12)


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
        kernels.call_kernel(lambda A, B: given, A, B)


@pytest.mark.parametrize(
    ("K", "message"),
    [(np.ones((3, 2)), "square Gram matrix"), (np.array([[1.0, 0.5], [0.2, 1.0]]), "symmetric Gram matrix")],
)
def test_what_is_no_gram_matrix_is_refused(K, message):
    with pytest.raises(ValueError, match=message):
        kernels.check_gram(K)
