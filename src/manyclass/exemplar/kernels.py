"""The kernels of the kernel machine: linear, Gaussian, the polynomial x'z + gamma (x'z)^2, or a function of yours."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from manyclass.data.kernels import Doubles, called, gaussian
from manyclass.data.tiles import spans

KERNELS = ("linear", "rbf", "poly", "precomputed")
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
            return called(self.name, A, B)
        if self.name == "rbf":
            return gaussian(A, B, self.gamma)
        return self._of_products(A @ B.T)

    def diagonal(self, A: Doubles) -> Doubles:
        """k(a, a) of every row (len(A),)."""
        if callable(self.name):
            parts = [called(self.name, A[at], A[at]).diagonal() for at in spans(len(A), _TOGETHER)]
            return np.concatenate([np.zeros(0), *parts])
        if self.name == "rbf":
            return np.ones(len(A))
        return self._of_products(np.einsum("ij,ij->i", A, A))

    def _of_products(self, P: Doubles) -> Doubles:
        return P if self.name == "linear" else P + self.gamma * P**2
