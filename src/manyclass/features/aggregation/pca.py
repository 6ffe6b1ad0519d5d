"""PCA of local descriptors: fewer numbers each, that vary independently."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass import _native
from manyclass._core.algebra.singular import column_signs
from manyclass._core.checks import check_finite
from manyclass._core.parallel import for_each, one_blas_thread
from manyclass.data.matrix import spans
from manyclass.data.moments import tile_moments
from manyclass.features.local.descriptor import LocalDescriptors

Vectors = NDArray[np.float32]

_TILE = 4096  # rows whose products are made at once; the bits of the sums depend on it

_PROJECTED = 16384  # rows that a thread takes at a time

_LEAST_VARIANCE = 1e-2  # of the largest variance, below which whitening would magnify noise


@dataclass(frozen=True)
class Projection:
    """z = components' (x - mean), with components (D, p); of unit length if `unit`, where it is not zero."""

    mean: Vectors
    components: Vectors
    unit: bool = False

    def __post_init__(self) -> None:
        if self.mean.ndim != 1 or self.components.ndim != 2 or len(self.components) != len(self.mean):
            raise ValueError(
                f"a projection must have a mean (D,) and components (D, p); got {self.mean.shape} and "
                f"{self.components.shape}"
            )

    @cached_property
    def _tables(self) -> tuple[Vectors, Vectors]:
        offsets = -(self.mean.astype(np.float64) @ self.components)
        return np.ascontiguousarray(self.components, np.float32), offsets.astype(np.float32)

    def state(self) -> dict[str, Any]:
        """What was learned, by name."""
        return {key: getattr(self, key) for key in ("mean", "components", "unit")}

    def __call__(self, X: Vectors) -> Vectors:
        """z for every row of X (m, D), as (m, p) float32; every row depends on itself alone."""
        X, Z = np.ascontiguousarray(X), np.empty((len(X), self.components.shape[1]), np.float32)
        for_each(lambda at: _native.project_rows(X[at], *self._tables, Z[at]), spans(len(X), _PROJECTED))
        if self.unit:
            lengths = np.sqrt(np.einsum("ij,ij->i", Z, Z))[:, None]
            Z /= np.where(lengths > 0, lengths, 1)
        return Z


def fit_projection(X: Vectors, p: int, whiten: bool) -> Projection:
    """The p directions in which rows of X (m, D) vary most; statistics are made in float64.

    Whitened numbers have variance one, but for directions with less than a hundredth of the largest variance, and
    rows are then brought to unit length. A direction in which nothing varies gives zeros.

    >>> fit_projection(np.array([[0, 1], [4, 1], [2, 1]], np.float32), 1, False)(np.array([[6, 1]], np.float32))
    array([[4.]], dtype=float32)
    """
    D = X.shape[1]
    if p > D:
        raise ValueError(f"n_components must be at most the {D} numbers of a descriptor; got {p}")
    check_finite(X, "descriptors")
    mean, covariance = tile_moments(X, _TILE)
    with one_blas_thread():
        variances, vectors = np.linalg.eigh(covariance)
    V: NDArray[np.float64] = vectors[:, ::-1][:, :p].copy()
    V *= column_signs(V)
    if whiten:
        least = _LEAST_VARIANCE * float(variances[-1]) or 1.0
        V /= np.sqrt(np.maximum(variances[::-1][:p], least))
    return Projection(mean.astype(np.float32), np.ascontiguousarray(V, np.float32), whiten)


def project_descriptors(local: LocalDescriptors, projection: Projection | None, coordinates: bool) -> Vectors:
    """Rows as they are aggregated: projected, and with (x, y) from -1/2 to 1/2 beside them if asked."""
    Z = projection(local.values) if projection else local.values
    return np.concatenate([Z, local.positions - np.float32(0.5)], axis=1) if coordinates else Z
