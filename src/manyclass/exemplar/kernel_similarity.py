"""How alike two kernel machines are, from their embeddings: the cosine of their slopes in the space of the kernel.

An embedding holds an image x, the slope s = lambda beta and the coordinates v of its projection on what the negatives
span; the rest of the image, which is orthogonal to all negatives, has length u. Up to a factor its machine is
h = (u, s), so

    <h, h'> = s's' + k(x, x') - v'v'          |h|^2 = |s|^2 + u^2,   u^2 = k(x, x) - |v|^2.
"""

import numpy as np

from manyclass._blas import in_order
from manyclass.data.kernels import Doubles
from manyclass.exemplar.encoder import Codes
from manyclass.exemplar.kernel_codes import CodeParts
from manyclass.exemplar.kernel_values import KernelValues

# v'v is known as well as float32 holds v. An image that is no farther from what the negatives span is within it.
_RESOLUTION = 2.0**-23


def kernel_similarity(C: CodeParts, D: CodeParts, values: KernelValues) -> Codes:
    """Cosines (n, m) of the machines of two lists of embeddings."""
    (uc, lc), (ud, ld) = _outside(C, values.c), _outside(D, values.d)
    out = np.empty((len(C), len(D)), np.float32)

    def fill(pair: tuple[slice, slice]) -> None:
        a, b = pair
        bound = np.outer(uc[a], ud[b])
        rest = values.between(a, b) - C.coordinates(a) @ D.coordinates(b).T
        S = C.slopes(a) @ D.slopes(b).T + np.clip(rest, -bound, bound)
        lengths = np.outer(lc[a], ld[b])
        out[a, b] = np.divide(S, lengths, out=np.zeros_like(S), where=lengths > 0)

    for _ in in_order(fill, [(a, b) for a in C.tiles() for b in D.tiles()]):
        pass
    return out


def outside(k: Doubles, V: Doubles) -> Doubles:
    """u^2 of images with k(x, x) and coordinates V; what rounding leaves of one within the span is zero."""
    squares = k - np.einsum("ij,ij->i", V, V)
    return np.where(squares > _RESOLUTION * np.abs(k), squares, 0.0)


def _outside(C: CodeParts, k: Doubles) -> tuple[Doubles, Doubles]:
    """(u, |h|) of every embedding."""
    squares, slopes = np.empty_like(k), np.empty_like(k)
    for at in C.tiles():
        squares[at] = outside(k[at], C.coordinates(at))
        slopes[at] = np.square(C.slopes(at)).sum(axis=1)
    return np.sqrt(squares), np.sqrt(slopes + squares)
