"""Kernels by name: between rows, and times weights without holding all of K."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass import _checks
from manyclass._blas import in_order
from manyclass.data.tiles import spans

Doubles = NDArray[np.float64]
KERNELS = ("linear", "rbf", "poly", "precomputed")


def fitted_kernel(kernel: Any, gamma: Any, degree: float, coef0: float, X: Doubles) -> dict[str, Any]:
    """A kernel with its numbers, of which gamma may come from the rows X: "scale" is 1 / (d times their variance)."""
    if gamma == "scale":
        variance = float(X.var())
        gamma = 1 / (X.shape[1] * variance) if variance > 0 else 1.0
    return {"name": kernel, "gamma": float(gamma), "degree": float(degree), "coef0": float(coef0)}


def kernel_matrix(kernel: dict[str, Any], A: Doubles, B: Doubles) -> Doubles:
    """k(a, b) for every row of A and of B, (len(A), len(B)).

    >>> rbf = {"name": "rbf", "gamma": 0.5, "degree": 3.0, "coef0": 1.0}
    >>> kernel_matrix(rbf, np.zeros((1, 2)), np.array([[0.0, 0.0], [1.0, 1.0]])).round(3)
    array([[1.   , 0.368]])
    """
    name = kernel["name"]
    if callable(name):
        return _checked(name(A, B), len(A), len(B))
    products = A @ B.T
    if name == "linear":
        return products
    if name == "poly":
        return np.asarray((kernel["gamma"] * products + kernel["coef0"]) ** kernel["degree"])
    squares = np.einsum("ij,ij->i", A, A)[:, None] + np.einsum("ij,ij->i", B, B)
    return np.asarray(np.exp(-kernel["gamma"] * np.maximum(squares - 2 * products, 0)))


def kernel_products(
    kernel: dict[str, Any], rows: Callable[[slice], NDArray[Any]], n: int, B: Doubles, weights: Doubles
) -> Doubles:
    """K weights (n, k), with K (n, len(B)) made for a few rows at a time; weights are (len(B), k)."""

    def block(at: slice) -> Doubles:
        return kernel_matrix(kernel, rows(at).astype(np.float64, copy=False), B) @ weights

    found = in_order(block, spans(n, max(1, (8 << 20) // (8 * len(B)))))
    return np.concatenate([np.zeros((0, weights.shape[1])), *found])


def check_gram(K: Doubles) -> None:
    """Refuse what cannot be the Gram matrix of the rows to learn from."""
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"X must be a square Gram matrix if kernel='precomputed'; got shape {K.shape}")
    if not np.allclose(K, K.T, rtol=1e-4, atol=1e-6 * np.abs(K).max()):
        raise ValueError("X must be a symmetric Gram matrix if kernel='precomputed'; it is not equal to its transpose")


def _checked(given: Any, n: int, m: int) -> Doubles:
    K: Doubles = np.asarray(given, np.float64)
    if K.shape != (n, m):
        raise ValueError(f"kernel must give an array of shape {(n, m)} for {n} and {m} rows; got {K.shape}")
    _checks.finite(K, "what kernel gives")
    return K
