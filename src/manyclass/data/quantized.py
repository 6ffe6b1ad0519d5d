"""Rows kept as one byte per block of columns, and products that use the bytes as they are."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from manyclass import _native
from manyclass._threads import get_threads
from manyclass.data.matrix import Matrix
from manyclass.data.tiles import Floats

if TYPE_CHECKING:
    from manyclass.data.product_quantizer import ProductQuantizer


class QuantizedMatrix(Matrix):
    """X[i] is the concatenation over blocks q of codebooks[q, codes[i, q]], rotated back where there is a rotation.

    X W makes one table of products of every centroid with W and then adds one entry per code; X' R adds rows of R by
    code and multiplies the sums with the centroids. Where few rows or narrow blocks make that slower than decoding
    rows a tile at a time, the matrix does the latter.

    Made by `ProductQuantizer.encode`.
    """

    def __init__(self, codes: NDArray[np.uint8], quantizer: "ProductQuantizer"):
        codes = codes if isinstance(codes, np.ndarray) else np.asarray(codes)
        if codes.dtype != np.uint8 or codes.ndim != 2 or codes.shape[1] != quantizer.code_size:
            raise ValueError(
                f"codes must be uint8 with one column per codebook ({quantizer.code_size}); "
                f"got {codes.dtype} of shape {codes.shape}"
            )
        if quantizer.n_centroids < 256 and codes.size and int(codes.max()) >= quantizer.n_centroids:
            raise ValueError(f"codes must be below the number of centroids, {quantizer.n_centroids}; got {codes.max()}")
        self.codes = np.ascontiguousarray(codes)
        self.quantizer = quantizer
        self.shape = (len(codes), quantizer.n_features)
        self.dtype = np.dtype(np.float32)

    @property
    def nbytes(self) -> int:
        return int(self.codes.nbytes)

    @property
    def codebooks(self) -> NDArray[np.float32]:
        """(blocks, centroids, block)."""
        return self.quantizer.codebooks_

    def _rows(self, index: slice | NDArray[np.intp]) -> Floats:
        return self._rotated_back(self._decoded(index))

    def _decoded(self, index: slice | NDArray[np.intp]) -> Floats:
        codes = np.ascontiguousarray(self.codes[index])
        rows = np.empty((len(codes), self.shape[1]), np.float32)
        # A tile of a product is decoded on one of several threads already.
        _native.pq_decode(codes, self.codebooks, rows, get_threads() if rows.nbytes > 16 << 20 else 1)
        return rows

    def _rotated_back(self, rows: Floats) -> Floats:
        rotation = self.quantizer.rotation_
        return rows if rotation is None else rotation.backward(rows)

    def _matmat(self, W: Floats) -> Floats:
        if not self._looks_up(W.shape[1]):
            return super()._matmat(W)
        rotation = self.quantizer.rotation_
        if rotation is not None:
            W = np.ascontiguousarray(rotation.forward(W.T).T)
        out = np.empty((self.shape[0], W.shape[1]), np.float32)
        _native.pq_matmat(self.codes, self.codebooks, W, out, get_threads())
        return out

    def _rmatmat(self, R: Floats) -> Floats:
        if not self._looks_up(R.shape[1]):
            return super()._rmatmat(R)
        out = np.empty((self.shape[1], R.shape[1]), np.float32)
        _native.pq_rmatmat(self.codes, self.codebooks, R, out, get_threads())
        return out if self.quantizer.rotation_ is None else np.ascontiguousarray(self._rotated_back(out.T).T)

    def _looks_up(self, k: int) -> bool:
        """Whether tables beat decoding.

        In operations on 16 columns, for every block: a table takes one for each number of its codebook, a look-up
        takes 3.2; decoding takes one and a half for each number, and then as many as the dense product has.
        """
        _, centroids, width = self.codebooks.shape
        n, tiles = self.shape[0], -(-k // 16)
        return bool(tiles * (centroids * (width + 2) + 3.2 * n) < n * width * (1.5 + tiles))
