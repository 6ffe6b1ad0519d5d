"""Kernels by name against scikit-learn's."""

import numpy as np
import pytest
from sklearn.metrics import pairwise

from manyclass.data import kernels

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
