"""Where to look for the settings of a kernel machine: strengths and widths that fit the negatives."""

from typing import Any

import numpy as np

from manyclass.data.matrix import Matrix
from manyclass.exemplar.gram import as_coded
from manyclass.exemplar.kernels import ExemplarKernel

_SAMPLE = 1024


def kernel_grid(kernel: ExemplarKernel, negatives: Matrix) -> dict[str, list[Any]]:
    """Values of regularization and, where the kernel has one, of gamma, for what is typical of the negatives.

    Regularization goes from 1e-6 to 1 times k(x, x). A Gaussian falls to 1/e at half, once and twice the mean distance
    between two negatives; the square of a polynomial is a tenth of x'z, as much, or tenfold, for z = x.
    """
    X = as_coded(_sample(negatives)).astype(np.float64)
    widths, size = _widths(kernel, X), float(np.abs(kernel.diagonal(X)).mean())
    return {**({"gamma": widths} if widths else {}), **given_grid(size)}


def given_grid(size: float) -> dict[str, list[Any]]:
    """Values of regularization alone, where k(x, x) is about of this size."""
    return {"regularization": [float(strength) for strength in (size or 1.0) * np.logspace(-6, 0, 7)]}


def _widths(kernel: ExemplarKernel, X: Any) -> list[float]:
    if kernel.name == "rbf":
        between = 2 * float(X.var(axis=0).sum()) or 1.0
        return [factor / between for factor in (0.25, 1.0, 4.0)]
    if kernel.name == "poly":
        square = float(np.square(X).sum(axis=1).mean()) or 1.0
        return [factor / square for factor in (0.1, 1.0, 10.0)]
    return []


def _sample(negatives: Matrix) -> Any:
    n = len(negatives)
    return negatives.rows(np.unique(np.linspace(0, n - 1, min(n, _SAMPLE)).astype(np.intp)))
