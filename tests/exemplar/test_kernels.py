"""The kernels of the paper against their formulas."""

import numpy as np
import pytest

from manyclass.data.kernels import ExemplarKernel

rng = np.random.default_rng(0)
A, B = rng.standard_normal((70, 3)), rng.standard_normal((5, 3))


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
def test_a_kernel_is_its_formula(name, formula):
    twin = [[formula(a, b) for b in B] for a in A]
    np.testing.assert_allclose(ExemplarKernel(name, 0.3)(A, B), twin, rtol=1e-12)


@pytest.mark.parametrize("name", ["linear", "rbf", "poly", l1])
def test_the_diagonal_is_that_of_the_kernel_of_rows_with_themselves(name):
    kernel = ExemplarKernel(name, 0.3)
    np.testing.assert_allclose(kernel.diagonal(A), kernel(A, A).diagonal(), rtol=1e-12)


@pytest.mark.parametrize("ask", [lambda k: k(A, B), lambda k: k.diagonal(A)])
def test_a_function_that_gives_another_shape_is_refused(ask):
    with pytest.raises(ValueError, match=r"kernel must return an array of shape \(\d+, \d+\) for .* rows; got \(3,\)"):
        ask(ExemplarKernel(lambda A, B: np.zeros(3), 1.0))
