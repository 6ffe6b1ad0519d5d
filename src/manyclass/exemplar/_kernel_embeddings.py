"""Embeddings of kernel machines, and how alike two of them are: the cosine of the machines in the space of the kernel.

An embedding holds an image x, the slope s = lambda beta of its machine, and the coordinates v of its projection on what
the negatives span; the residual of the image, which is orthogonal to all negatives, has length u. Up to a factor its
machine is h = (u, s), so

    <h, h'> = s's' + k(x, x') - v'v'          |h|^2 = |s|^2 + u^2,   u^2 = k(x, x) - |v|^2.

Kernel values of images are computed from the images in their embeddings, given, or those of their projections.
`KernelClassifier` is the full machine of one image, with its scale and bias.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from manyclass._core.checks import check_finite
from manyclass._core.parallel import for_each, one_blas_thread
from manyclass._core.typing import Doubles, Embeddings
from manyclass.data.kernels import Kernel
from manyclass.data.matrix import spans

_TILE_BYTES = 4 << 20  # of embeddings that are read at once,

_TILE_ROWS = 256  # and as many rows at least


class KernelEmbeddings:
    """Embeddings (n, d + 2 r), read as float64 some rows at a time, for what is left of k - v'v may be small.

    Coordinates are those of projections, unless it is said that they are not.

    >>> one = KernelEmbeddings(np.arange(5, dtype=np.float32)[None], rank=1)
    >>> one.images(slice(1)), one.slopes(slice(1)), one.coordinates(slice(1))
    (array([[0., 1., 2.]]), array([[3.]]), array([[4.]]))
    """

    def __init__(self, embeddings: Embeddings, rank: int, are_projections: bool = True):
        self.embeddings, self.are_projections = embeddings, are_projections
        self.end, self.middle = embeddings.shape[1], embeddings.shape[1] - rank
        self.start = self.middle - rank

    def __len__(self) -> int:
        return len(self.embeddings)

    def tiles(self) -> list[slice]:
        """All embeddings, in as many as are read at a time."""
        return spans(len(self), max(_TILE_ROWS, _TILE_BYTES // (8 * self.end)))

    def images(self, at: slice) -> Doubles:
        """Rows (n, d); of a precomputed kernel they have no columns."""
        return self._read(at, slice(0, self.start))

    def slopes(self, at: slice) -> Doubles:
        """s (n, r), lambda times the slope within what the negatives span."""
        return self._read(at, slice(self.start, self.middle))

    def coordinates(self, at: slice) -> Doubles:
        """v (n, r)."""
        return self._read(at, slice(self.middle, self.end))

    def _read(self, at: slice, columns: slice) -> Doubles:
        return self.embeddings[at, columns].astype(np.float64)


@dataclass(frozen=True)
class KernelValues:
    """k(c, d) of some of n images and some of m others, k(c, c) (n,) and k(d, d) (m,)."""

    between: Callable[[slice, slice], Doubles]
    c: Doubles
    d: Doubles


def find_values(
    kernel: Kernel | None,
    C: KernelEmbeddings,
    D: KernelEmbeddings,
    given: tuple[ArrayLike, ArrayLike, ArrayLike] | None,
) -> KernelValues:
    """Those of the kernel, or, where it was precomputed, of the projections unless they are given."""
    if kernel is None:
        return projected_values(C, D) if given is None else given_values(given, C, D)
    if given is not None:
        raise ValueError("values must be None unless kernel='precomputed', because other embeddings contain the images")
    return computed_values(kernel, C, D)


def computed_values(kernel: Kernel, C: KernelEmbeddings, D: KernelEmbeddings) -> KernelValues:
    """From the images in the embeddings."""
    c, d = (np.concatenate([np.zeros(0), *(kernel.diagonal(P.images(at)) for at in P.tiles())]) for P in (C, D))
    return KernelValues(lambda a, b: kernel(C.images(a), D.images(b)), c, d)


def projected_values(C: KernelEmbeddings, D: KernelEmbeddings) -> KernelValues:
    """As if all images lay in what the negatives span, so that their coordinates tell all."""
    c, d = (np.concatenate([np.zeros(0), *(_squares(P, at) for at in P.tiles())]) for P in (C, D))
    return KernelValues(lambda a, b: C.coordinates(a) @ D.coordinates(b).T, c, d)


def given_values(
    values: tuple[ArrayLike, ArrayLike, ArrayLike], C: KernelEmbeddings, D: KernelEmbeddings
) -> KernelValues:
    """As the user knows them, in arrays of the shapes (n, m), (n,) and (m,)."""
    arrays = [np.asarray(array, np.float64) for array in values]
    shapes = [(len(C), len(D)), (len(C),), (len(D),)]
    if [array.shape for array in arrays] != shapes:
        raise ValueError(
            f"values must be three arrays of shapes {shapes[0]}, {shapes[1]} and {shapes[2]}; "
            f"got {', '.join(str(array.shape) for array in arrays)}"
        )
    for array in arrays:
        check_finite(array, "values")
    K, c, d = arrays
    return KernelValues(lambda a, b: K[a, b], c, d)


def _squares(C: KernelEmbeddings, at: slice) -> Doubles:
    squares: Doubles = np.square(C.coordinates(at)).sum(axis=1)
    return squares


# v'v is known as well as float32 holds v. An image that is no farther from what the negatives span is within it.
_RESOLUTION = 2.0**-23


def kernel_similarity(C: KernelEmbeddings, D: KernelEmbeddings, values: KernelValues) -> Embeddings:
    """Cosines (n, m) of the machines of two lists of embeddings."""
    (uc, lc), (ud, ld) = _residuals_and_norms(C, values.c), _residuals_and_norms(D, values.d)
    out = np.empty((len(C), len(D)), np.float32)

    def fill(pair: tuple[slice, slice]) -> None:
        a, b = pair
        bound = np.outer(uc[a], ud[b])
        rest = values.between(a, b) - C.coordinates(a) @ D.coordinates(b).T
        # Rounding may leave more of projections than there can be.
        S = C.slopes(a) @ D.slopes(b).T + (np.clip(rest, -bound, bound) if C.are_projections else rest)
        lengths = np.outer(lc[a], ld[b])
        out[a, b] = np.divide(S, lengths, out=np.zeros_like(S), where=lengths > 0)

    for_each(fill, [(a, b) for a in C.tiles() for b in D.tiles()])
    return out


def residual_squares(k: Doubles, V: Doubles, are_projections: bool = True) -> Doubles:
    """u^2 of images with k(x, x) and coordinates V; what rounding leaves of one within the span is zero.

    Of coordinates that are not those of projections it may be below zero.
    """
    squares = k - np.einsum("ij,ij->i", V, V)
    return np.where(squares > _RESOLUTION * np.abs(k), squares, 0.0) if are_projections else squares


def _residuals_and_norms(C: KernelEmbeddings, k: Doubles) -> tuple[Doubles, Doubles]:
    """(u, |h|) of every embedding."""
    squares, slopes = np.empty_like(k), np.empty_like(k)
    for at in C.tiles():
        squares[at] = residual_squares(k[at], C.coordinates(at), C.are_projections)
        slopes[at] = np.square(C.slopes(at)).sum(axis=1)
    return np.sqrt(np.maximum(squares, 0)), np.sqrt(np.maximum(slopes + squares, 0))


@dataclass(frozen=True)
class KernelClassifier:
    """f(z) = scale (s'v(z) + k(x, z) - v'v(z)) + bias: above zero for what is like x, below for the negatives.

    It is the function h of the space of the kernel and the bias b that minimize

        theta/2 (h(x) + b - 1)^2 + 1/(2n) sum_i (h(x_i) + b + 1)^2 + lambda/2 |h|^2.
    """

    slope: Doubles  # s (r,), lambda times the coordinates of h within what the negatives span, but for the scale
    coordinates: Doubles  # v (r,)
    scale: float
    bias: float
    project: Callable[[Any], Iterator[tuple[Doubles, Doubles]]]  # of rows Z, by blocks, v(z) (n, r) and k(x, z) (n,)

    def decision_function(self, Z: Any) -> Doubles:
        """f of every row (n,)."""
        w = self.slope - self.coordinates
        with one_blas_thread():
            return np.concatenate([np.zeros(0), *(self.scale * (V @ w + k) + self.bias for V, k in self.project(Z))])


def scale_and_bias(
    slope: Doubles, v: Doubles, mean: Doubles, outside: float, regularization: float, theta: float
) -> tuple[float, float]:
    """What Eq. 3 and 6 of the paper say of b0 = [u; v] against negatives of mean [0; mean], for h = scale [u; s]."""
    q = (outside + float((v - mean) @ slope)) / regularization
    scale = 2 * theta / (theta * q + theta + 1) / regularization
    middle = theta * (outside + float(v @ slope)) + float(mean @ slope)
    return scale, (theta - 1) / (theta + 1) - scale * middle / (theta + 1)
