"""Kernel values of images that are known by their codes: computed, given, or those of their projections."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from manyclass import _checks
from manyclass.data.kernels import Doubles
from manyclass.exemplar.kernel_codes import CodeParts
from manyclass.exemplar.kernels import ExemplarKernel


@dataclass(frozen=True)
class KernelValues:
    """k(c, d) of some of n images and some of m others, k(c, c) (n,) and k(d, d) (m,)."""

    between: Callable[[slice, slice], Doubles]
    c: Doubles
    d: Doubles


def computed_values(kernel: ExemplarKernel, C: CodeParts, D: CodeParts) -> KernelValues:
    """From the images in the embeddings."""
    c, d = (np.concatenate([np.zeros(0), *(kernel.diagonal(P.images(at)) for at in P.tiles())]) for P in (C, D))
    return KernelValues(lambda a, b: kernel(C.images(a), D.images(b)), c, d)


def projected_values(C: CodeParts, D: CodeParts) -> KernelValues:
    """As if all images lay in what the negatives span, so that their coordinates tell all."""
    c, d = (np.concatenate([np.zeros(0), *(_squares(P, at) for at in P.tiles())]) for P in (C, D))
    return KernelValues(lambda a, b: C.coordinates(a) @ D.coordinates(b).T, c, d)


def given_values(values: tuple[ArrayLike, ArrayLike, ArrayLike], C: CodeParts, D: CodeParts) -> KernelValues:
    """As the user knows them, in arrays of the shapes (n, m), (n,) and (m,)."""
    arrays = [np.asarray(array, np.float64) for array in values]
    shapes = [(len(C), len(D)), (len(C),), (len(D),)]
    if [array.shape for array in arrays] != shapes:
        raise ValueError(
            f"values must be three arrays of shapes {shapes[0]}, {shapes[1]} and {shapes[2]}; "
            f"got {', '.join(str(array.shape) for array in arrays)}"
        )
    for array in arrays:
        _checks.finite(array, "values")
    K, c, d = arrays
    return KernelValues(lambda a, b: K[a, b], c, d)


def _squares(parts: CodeParts, at: slice) -> Doubles:
    squares: Doubles = np.square(parts.coordinates(at)).sum(axis=1)
    return squares
