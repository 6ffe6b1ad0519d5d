"""ProductQuantizer: one byte for every block of columns."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from manyclass import _checks, _native
from manyclass._threads import get_threads
from manyclass.data.codebooks import fit_codebooks
from manyclass.data.matrix import Matrix
from manyclass.data.quantized import QuantizedMatrix
from manyclass.data.quantizer import Codes, Quantizer
from manyclass.data.rotation import ROTATIONS, MixedColumns, Permutation, Rotation
from manyclass.data.tiles import Floats

# The part of the sample that is held in memory at a time while codebooks are fitted.
_SAMPLE_BYTES = 256 << 20


class ProductQuantizer(Quantizer):
    """Rows cut into blocks of columns, each block replaced by the number of its nearest centroid.

    A row of d numbers becomes ceil(d / block) bytes: 32 times smaller than float32 with block 8. Blocks of zeros
    decode to exact zeros.

    Parameters
    ----------
    block : columns per byte.
    n_centroids : entries of each codebook, 2 to 256; the first is the zero vector.
    rotation : None, "permutation" (columns dealt so that all blocks vary alike) or "orthogonal" (a fixed random
        rotation, of a cost linear in d).
    sample : rows on which the codebooks are fitted, at most.
    iterations : of k-means.
    random_state : None, an integer or a NumPy generator.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((1000, 64), dtype=np.float32)
    >>> pq = ProductQuantizer(block=4, random_state=0).fit(X)
    >>> Xq = pq.encode(X)
    >>> Xq.shape, Xq.codes.shape, pq.codebooks_.shape
    ((1000, 64), (1000, 16), (16, 256, 4))
    """

    kind = "product"

    def __init__(
        self,
        block: int = 8,
        n_centroids: int = 256,
        rotation: str | None = None,
        sample: int = 1 << 14,
        iterations: int = 20,
        random_state: Any = None,
    ):
        self.block = _checks.count(block, "block")
        self.n_centroids = _checks.count(n_centroids, "n_centroids", 2, 256)
        self.sample = _checks.count(sample, "sample")
        self.iterations = _checks.count(iterations, "iterations")
        if rotation is not None and rotation not in ROTATIONS:
            raise ValueError(f"rotation must be None, {' or '.join(map(repr, ROTATIONS))}; got {rotation!r}")
        self.rotation = rotation
        self.random_state = random_state

    codebooks_: NDArray[np.float32]  # (blocks, n_centroids, block)
    _n_features: int
    rotation_: Rotation | None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the codebooks on a sample of the rows of X, which is whatever `as_matrix` takes."""
        from manyclass.data.opening import as_matrix

        X = as_matrix(X)
        n, d = X.shape
        if not n or not d:
            raise ValueError(f"X must have at least one row and one column; got shape {X.shape}")
        rng = np.random.default_rng(self.random_state)
        index = np.sort(rng.choice(n, min(n, self.sample), replace=False))
        self._n_features = int(d)
        self.rotation_ = self._fit_rotation(X, index, rng)
        seeds = rng.integers(1 << 31, size=-(-d // self.block))
        self.codebooks_ = np.concatenate(
            [
                fit_codebooks(columns, self.block, self.n_centroids, self.iterations, seeds[q : q + blocks])
                for q, blocks, columns in self._panels(X, index)
            ]
        )
        return self

    def _fit_rotation(self, X: Matrix, index: NDArray[np.intp], rng: np.random.Generator) -> Rotation | None:
        if self.rotation == "permutation":
            rows = max(1, min(len(index), _SAMPLE_BYTES // (4 * X.shape[1])))
            return Permutation.fitted(X.rows(index[:rows]).var(axis=0, dtype=np.float64), self.block)
        return MixedColumns.random(X.shape[1], rng) if self.rotation == "orthogonal" else None

    def _panels(self, X: Matrix, index: NDArray[np.intp]) -> Any:
        """(first block, blocks, sample) a group of columns at a time: a sample of long rows does not fit in memory."""
        d = X.shape[1]
        width = max(1, _SAMPLE_BYTES // (4 * len(index) * self.block)) * self.block
        rows_at_a_time = max(1, (32 << 20) // (8 * d))
        for j in range(0, d, width):
            columns = np.empty((len(index), min(width, d - j)), np.float32)
            for i in range(0, len(index), rows_at_a_time):
                rows = X.rows(index[i : i + rows_at_a_time])
                _checks.finite(rows, "X", index[i:])
                X.release()
                columns[i : i + len(rows)] = self._rotated(rows)[:, j : j + width]
            yield j // self.block, -(-columns.shape[1] // self.block), columns

    def _rotated(self, rows: Floats) -> Floats:
        rows = rows.astype(np.float32, copy=False)
        return rows if self.rotation_ is None else self.rotation_.forward(rows)

    @property
    def n_features(self) -> int:
        self._check_fitted()
        return self._n_features

    @property
    def code_size(self) -> int:
        self._check_fitted()
        return len(self.codebooks_)

    def _check_fitted(self) -> None:
        if not hasattr(self, "codebooks_"):
            raise ValueError("this ProductQuantizer has no codebooks yet; call fit first")

    def encode_rows(self, rows: Floats, first: int = 0) -> Codes:
        if rows.shape[1] != self.n_features:
            raise ValueError(f"X must have {self.n_features} columns, as in fit; got shape {rows.shape}")
        x = np.ascontiguousarray(self._rotated(rows), np.float32)
        codes = np.empty((len(x), self.code_size), np.uint8)
        bad = _native.pq_encode(x, self.codebooks_, codes, get_threads())
        if bad < len(x):
            raise ValueError(
                f"X must hold finite numbers below 1e18; row {first + bad} has NaN, infinity or a larger one"
            )
        return codes

    def matrix(self, codes: Codes) -> QuantizedMatrix:
        return QuantizedMatrix(codes, self)

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        self._check_fitted()
        settings = {
            "block": self.block,
            "n_centroids": self.n_centroids,
            "n_features": self.n_features,
            "rotation": self.rotation,
        }
        return settings, {"codebooks": self.codebooks_, **(self.rotation_.arrays() if self.rotation_ else {})}

    @classmethod
    def from_state(cls, settings: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        self = cls(settings["block"], settings["n_centroids"], settings["rotation"])
        d = _checks.count(settings["n_features"], "n_features")
        codebooks = arrays["codebooks"]
        shape = (-(-d // self.block), self.n_centroids, self.block)
        if codebooks.shape != shape or codebooks.dtype != np.float32:
            raise ValueError(f"codebooks must be float32 of shape {shape}; got {codebooks.dtype} of {codebooks.shape}")
        _checks.finite(codebooks, "codebooks")
        self._n_features = d
        self.codebooks_ = np.ascontiguousarray(codebooks)
        self.rotation_ = ROTATIONS[self.rotation].from_arrays(arrays, d) if self.rotation else None
        return self

    def __repr__(self) -> str:
        return f"ProductQuantizer(block={self.block}, n_centroids={self.n_centroids}, rotation={self.rotation!r})"
