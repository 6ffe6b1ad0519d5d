"""Kernels between rows, whoever names them: the Gaussian, functions of users, products without all of K."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass import _checks
from manyclass._blas import in_order
from manyclass.data.tiles import spans

Doubles = NDArray[np.float64]
Kernel = Callable[[Doubles, Doubles], Doubles]


def gaussian(A: Doubles, B: Doubles, gamma: float) -> Doubles:
    """exp(-gamma |a - b|^2) for every row of A and of B, (len(A), len(B)).

    >>> gaussian(np.zeros((1, 2)), np.array([[0.0, 0.0], [1.0, 1.0]]), 0.5).round(3)
    array([[1.   , 0.368]])
    """
    squares = np.einsum("ij,ij->i", A, A)[:, None] + np.einsum("ij,ij->i", B, B)
    squares -= 2 * (A @ B.T)
    np.maximum(squares, 0, out=squares)
    squares *= -gamma
    return np.asarray(np.exp(squares, out=squares))


def called(function: Callable[..., Any], A: Doubles, B: Doubles) -> Doubles:
    """What a user's function gives for the rows of A and B: finite numbers in the right shape, or it is refused."""
    n, m = len(A), len(B)
    K: Doubles = np.asarray(function(A, B), np.float64)
    if K.shape != (n, m):
        raise ValueError(f"kernel must return an array of shape {(n, m)} for {n} and {m} rows; got {K.shape}")
    _checks.finite(K, "values of the kernel")
    return K


def kernel_products(
    kernel: Kernel, rows: Callable[[slice], NDArray[Any]], n: int, B: Doubles, weights: Doubles
) -> Doubles:
    """K weights (n, k), with K (n, len(B)) made for a few rows at a time; weights are (len(B), k)."""

    def block(at: slice) -> Doubles:
        return kernel(rows(at).astype(np.float64, copy=False), B) @ weights

    found = in_order(block, spans(n, max(1, (8 << 20) // (8 * len(B)))))
    return np.concatenate([np.zeros((0, weights.shape[1])), *found])


def check_gram(K: Doubles, name: str = "X") -> None:
    """Refuse what cannot be the Gram matrix of the rows to learn from."""
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"{name} must be a square Gram matrix if kernel='precomputed'; got shape {K.shape}")
    if not np.allclose(K, K.T, rtol=1e-4, atol=1e-6 * np.abs(K).max()):
        raise ValueError(
            f"{name} must be a symmetric Gram matrix if kernel='precomputed'; it is not equal to its transpose"
        )
