"""Kernels k(a, b) between rows: linear, Gaussian, two polynomials, or a function of a user's.

Both kinds of kernel machines have a "poly", and mean different formulas: classifiers scikit-learn's,
(gamma a'b + coef0)^degree, which is `PolynomialKernel`; exemplar machines that of their paper, a'b + gamma (a'b)^2,
which is `LinearPlusSquareKernel`. `classifier_kernel` and `exemplar_kernel` know which name means which.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.checks import check_finite
from manyclass._core.parallel import thread_map
from manyclass._core.typing import Doubles
from manyclass.data.matrix import spans

KERNELS = ("linear", "rbf", "poly", "precomputed")

# Rows of which a user's function gives all pairs for their diagonal, so that it is not called for every single row.
_PAIRED_ROWS = 32

_TILE_BYTES = 8 << 20  # of kernel values that are held at once beside a product


class Kernel(ABC):
    """k(a, b) of rows of float64."""

    @abstractmethod
    def __call__(self, A: Doubles, B: Doubles) -> Doubles:
        """Values (len(A), len(B))."""

    @abstractmethod
    def diagonal(self, A: Doubles) -> Doubles:
        """k(a, a) of every row (len(A),)."""


class LinearKernel(Kernel):
    """a'b; those that derive from it are functions of this product."""

    def __call__(self, A: Doubles, B: Doubles) -> Doubles:
        return self._of_products(A @ B.T)

    def diagonal(self, A: Doubles) -> Doubles:
        return self._of_products(np.einsum("ij,ij->i", A, A))

    def _of_products(self, P: Doubles) -> Doubles:
        return P


@dataclass(frozen=True)
class PolynomialKernel(LinearKernel):
    """(gamma a'b + coef0)^degree, as in scikit-learn.

    >>> PolynomialKernel(0.5, degree=2.0, coef0=1.0)(np.ones((1, 2)), np.array([[0.0, 0.0], [1.0, 1.0]]))
    array([[1., 4.]])
    """

    gamma: float
    degree: float
    coef0: float

    def _of_products(self, P: Doubles) -> Doubles:
        return np.asarray((self.gamma * P + self.coef0) ** self.degree)


@dataclass(frozen=True)
class LinearPlusSquareKernel(LinearKernel):
    """a'b + gamma (a'b)^2 (Rezende et al., CVPR 2017).

    >>> k = LinearPlusSquareKernel(0.5)
    >>> k(np.ones((1, 2)), np.array([[1.0, 1.0], [0.0, 1.0]])), k.diagonal(np.ones((1, 2)))
    (array([[4. , 1.5]]), array([4.]))
    """

    gamma: float

    def _of_products(self, P: Doubles) -> Doubles:
        return P + self.gamma * P**2


@dataclass(frozen=True)
class RbfKernel(Kernel):
    """exp(-gamma |a - b|^2), the Gaussian.

    >>> RbfKernel(0.5)(np.zeros((1, 2)), np.array([[0.0, 0.0], [1.0, 1.0]])).round(3)
    array([[1.   , 0.368]])
    """

    gamma: float

    def __call__(self, A: Doubles, B: Doubles) -> Doubles:
        squares = np.einsum("ij,ij->i", A, A)[:, None] + np.einsum("ij,ij->i", B, B)
        squares -= 2 * (A @ B.T)
        np.maximum(squares, 0, out=squares)
        squares *= -self.gamma
        return np.asarray(np.exp(squares, out=squares))

    def diagonal(self, A: Doubles) -> Doubles:
        return np.ones(len(A))


@dataclass(frozen=True)
class CallableKernel(Kernel):
    """What a user's function gives for the rows of A and B: finite numbers in the right shape, or it is refused."""

    function: Callable[..., Any]

    def __call__(self, A: Doubles, B: Doubles) -> Doubles:
        n, m = len(A), len(B)
        K: Doubles = np.asarray(self.function(A, B), np.float64)
        if K.shape != (n, m):
            raise ValueError(f"kernel must return an array of shape {(n, m)} for {n} and {m} rows; got {K.shape}")
        check_finite(K, "values of the kernel")
        return K

    def diagonal(self, A: Doubles) -> Doubles:
        return np.concatenate([np.zeros(0), *(self(A[at], A[at]).diagonal() for at in spans(len(A), _PAIRED_ROWS))])


def classifier_kernel(name: str | Callable[..., Any], gamma: float, degree: float, coef0: float) -> Kernel:
    """The kernel of this name for classifiers, where "poly" is scikit-learn's polynomial."""
    return PolynomialKernel(gamma, degree, coef0) if name == "poly" else _common_kernel(name, gamma)


def exemplar_kernel(name: str | Callable[..., Any], gamma: float) -> Kernel:
    """The kernel of this name for exemplar machines, where "poly" is the product plus its square."""
    return LinearPlusSquareKernel(gamma) if name == "poly" else _common_kernel(name, gamma)


def _common_kernel(name: str | Callable[..., Any], gamma: float) -> Kernel:
    if callable(name):
        return CallableKernel(name)
    return RbfKernel(gamma) if name == "rbf" else LinearKernel()


def find_gamma(gamma: float | str, X: Doubles) -> float:
    """Gamma as a number; "scale" is 1 / (d times the variance of the entries of X), as in scikit-learn."""
    if gamma != "scale":
        return float(gamma)
    variance = float(X.var())
    return 1 / (X.shape[1] * variance) if variance > 0 else 1.0


def kernel_products(
    kernel: Callable[[Doubles, Doubles], Doubles],
    rows: Callable[[slice], NDArray[Any]],
    n: int,
    B: Doubles,
    weights: Doubles,
) -> Doubles:
    """K weights (n, k), with K (n, len(B)) made for a few rows at a time; weights are (len(B), k)."""

    def block(at: slice) -> Doubles:
        return kernel(rows(at).astype(np.float64, copy=False), B) @ weights

    found = thread_map(block, spans(n, max(1, _TILE_BYTES // (8 * len(B)))))
    return np.concatenate([np.zeros((0, weights.shape[1])), *found])


def check_gram(K: Doubles, name: str = "X") -> None:
    """Refuse what cannot be the Gram matrix of the rows to learn from."""
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"{name} must be a square Gram matrix if kernel='precomputed'; got shape {K.shape}")
    if not np.allclose(K, K.T, rtol=1e-4, atol=1e-6 * np.abs(K).max()):
        raise ValueError(
            f"{name} must be a symmetric Gram matrix if kernel='precomputed'; it is not equal to its transpose"
        )
