"""Kernels by name, with their numbers."""

from typing import Any

import numpy as np

from manyclass.data.kernels import Doubles, called, gaussian

KERNELS = ("linear", "rbf", "poly", "precomputed")


def fitted_kernel(kernel: Any, gamma: Any, degree: float, coef0: float, X: Doubles) -> dict[str, Any]:
    """A kernel with its numbers, of which gamma may come from the rows X: "scale" is 1 / (d times their variance)."""
    if gamma == "scale":
        variance = float(X.var())
        gamma = 1 / (X.shape[1] * variance) if variance > 0 else 1.0
    return {"name": kernel, "gamma": float(gamma), "degree": float(degree), "coef0": float(coef0)}


def kernel_matrix(kernel: dict[str, Any], A: Doubles, B: Doubles) -> Doubles:
    """k(a, b) for every row of A and of B, (len(A), len(B)).

    >>> square = {"name": "poly", "gamma": 0.5, "degree": 2.0, "coef0": 1.0}
    >>> kernel_matrix(square, np.ones((1, 2)), np.array([[0.0, 0.0], [1.0, 1.0]]))
    array([[1., 4.]])
    """
    name = kernel["name"]
    if callable(name):
        return called(name, A, B)
    if name == "rbf":
        return gaussian(A, B, kernel["gamma"])
    products = A @ B.T
    if name == "linear":
        return products
    return np.asarray((kernel["gamma"] * products + kernel["coef0"]) ** kernel["degree"])
