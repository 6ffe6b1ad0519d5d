"""Kernels between rows, whoever names them: the Gaussian, functions of users, products without all of K.

Kernels by name, with their numbers.

The kernels of the kernel machine: linear, Gaussian, the polynomial x'z + gamma (x'z)^2, or a function of yours.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.checks import check_finite
from manyclass._core.parallel import thread_map
from manyclass._core.typing import Doubles
from manyclass.data.matrix import spans

Kernel = Callable[[Doubles, Doubles], Doubles]


def rbf_kernel(A: Doubles, B: Doubles, gamma: float) -> Doubles:
    """exp(-gamma |a - b|^2) for every row of A and of B, (len(A), len(B)).

    >>> gaussian(np.zeros((1, 2)), np.array([[0.0, 0.0], [1.0, 1.0]]), 0.5).round(3)
    array([[1.   , 0.368]])
    """
    squares = np.einsum("ij,ij->i", A, A)[:, None] + np.einsum("ij,ij->i", B, B)
    squares -= 2 * (A @ B.T)
    np.maximum(squares, 0, out=squares)
    squares *= -gamma
    return np.asarray(np.exp(squares, out=squares))


def call_kernel(function: Callable[..., Any], A: Doubles, B: Doubles) -> Doubles:
    """What a user's function gives for the rows of A and B: finite numbers in the right shape, or it is refused."""
    n, m = len(A), len(B)
    K: Doubles = np.asarray(function(A, B), np.float64)
    if K.shape != (n, m):
        raise ValueError(f"kernel must return an array of shape {(n, m)} for {n} and {m} rows; got {K.shape}")
    check_finite(K, "values of the kernel")
    return K


def kernel_products(
    kernel: Kernel, rows: Callable[[slice], NDArray[Any]], n: int, B: Doubles, weights: Doubles
) -> Doubles:
    """K weights (n, k), with K (n, len(B)) made for a few rows at a time; weights are (len(B), k)."""

    def block(at: slice) -> Doubles:
        return kernel(rows(at).astype(np.float64, copy=False), B) @ weights

    found = thread_map(block, spans(n, max(1, (8 << 20) // (8 * len(B)))))
    return np.concatenate([np.zeros((0, weights.shape[1])), *found])


def check_gram(K: Doubles, name: str = "X") -> None:
    """Refuse what cannot be the Gram matrix of the rows to learn from."""
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"{name} must be a square Gram matrix if kernel='precomputed'; got shape {K.shape}")
    if not np.allclose(K, K.T, rtol=1e-4, atol=1e-6 * np.abs(K).max()):
        raise ValueError(
            f"{name} must be a symmetric Gram matrix if kernel='precomputed'; it is not equal to its transpose"
        )


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
        return call_kernel(name, A, B)
    if name == "rbf":
        return rbf_kernel(A, B, kernel["gamma"])
    products = A @ B.T
    if name == "linear":
        return products
    return np.asarray((kernel["gamma"] * products + kernel["coef0"]) ** kernel["degree"])


_TOGETHER = 32  # rows of which a user's function gives all pairs, so that it is not called for every single row


@dataclass(frozen=True)
class ExemplarKernel:
    """k(a, b) of rows; gamma is that of "rbf", exp(-gamma |a - b|^2), and of "poly", a'b + gamma (a'b)^2.

    >>> k = ExemplarKernel("poly", 0.5)
    >>> k(np.ones((1, 2)), np.array([[1.0, 1.0], [0.0, 1.0]])), k.diagonal(np.ones((1, 2)))
    (array([[4. , 1.5]]), array([4.]))
    """

    name: str | Callable[..., Any]
    gamma: float

    def __call__(self, A: Doubles, B: Doubles) -> Doubles:
        """Values (len(A), len(B))."""
        if callable(self.name):
            return call_kernel(self.name, A, B)
        if self.name == "rbf":
            return rbf_kernel(A, B, self.gamma)
        return self._of_products(A @ B.T)

    def diagonal(self, A: Doubles) -> Doubles:
        """k(a, a) of every row (len(A),)."""
        if callable(self.name):
            parts = [call_kernel(self.name, A[at], A[at]).diagonal() for at in spans(len(A), _TOGETHER)]
            return np.concatenate([np.zeros(0), *parts])
        if self.name == "rbf":
            return np.ones(len(A))
        return self._of_products(np.einsum("ij,ij->i", A, A))

    def _of_products(self, P: Doubles) -> Doubles:
        return P if self.name == "linear" else P + self.gamma * P**2
