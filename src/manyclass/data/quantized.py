"""Rows kept as one byte per block of columns, and products that use the bytes as they are."""

from copy import copy
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from manyclass import _native
from manyclass._core.algebra.linalg import aligned_empty
from manyclass._core.parallel import get_threads, native_threads
from manyclass._core.typing import Floats, Singles
from manyclass.data.matrix import Matrix
from manyclass.data.quantizer import fixed_codes

if TYPE_CHECKING:
    from manyclass.data.product_quantizer import ProductQuantizer


class QuantizedMatrix(Matrix):
    """Rows stored as the codes of a product quantizer.

    Row i is the concatenation over blocks q of ``codebooks[q, codes[i, q]]``, rotated back if the quantizer rotates. X
    W computes one table of the products of every centroid with W, and then adds one entry per code; X' R adds rows of R
    by code, and multiplies the sums with the centroids. Where few rows or narrow blocks make that slower, rows are
    decoded a tile at a time instead. `ProductQuantizer.encode` makes such matrices.

    Parameters
    ----------
    codes : ndarray of uint8 of shape (n, n_blocks)
        The number of the centroid of every block. They are copied, unless they are read-only: a matrix never changes.
    quantizer : ProductQuantizer
        The fitted quantizer, which is copied: fitting it again does not change the matrix.

    Attributes
    ----------
    codes : ndarray of uint8 of shape (n, n_blocks)
        The codes.
    quantizer : ProductQuantizer
        The quantizer.
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
        self.codes = fixed_codes(codes)
        # A copy, so that fitting the quantizer again does not change what these codes mean.
        self.quantizer = copy(quantizer)
        self.shape = (len(codes), quantizer.n_features)
        self.dtype = np.dtype(np.float32)
        # By first and last row, and shared with all slices: a solver that asks for the same ones counts each once.
        self._start, self._crowding = 0, dict[tuple[int, int], NDArray[np.uint8]]()

    @property
    def nbytes(self) -> int:
        return int(self.codes.nbytes)

    @property
    def codebooks(self) -> NDArray[np.float32]:
        """The centroids, an ndarray of shape (n_blocks, n_centroids, block)."""
        return self.quantizer.codebooks_

    def _rows(self, index: slice | NDArray[np.intp]) -> Floats:
        return self._rotated_back(self._decoded(index))

    def _rows_in(self, room: Singles, index: NDArray[np.intp]) -> Floats:
        return self._rotated_back(self._decoded(index, room))

    def _decoded(self, index: slice | NDArray[np.intp], room: Singles | None = None) -> Floats:
        codes = np.ascontiguousarray(self.codes[index])
        rows = aligned_empty((len(codes), self.shape[1])) if room is None else room[: len(codes)]
        _native.pq_decode(codes, self.codebooks, rows, native_threads(rows.nbytes))
        return rows

    def _columns(self, columns: slice) -> Floats:
        width = self.codebooks.shape[2]
        blocks = slice(columns.start // width, -(-columns.stop // width))
        if self.quantizer.rotation_ is not None or self.codebooks.shape[0] * width != self.shape[1]:
            return super()._columns(columns)
        rows = np.empty((self.shape[0], (blocks.stop - blocks.start) * width), np.float32)
        codes, codebooks = np.ascontiguousarray(self.codes[:, blocks]), np.ascontiguousarray(self.codebooks[blocks])
        _native.pq_decode(codes, codebooks, rows, native_threads(rows.nbytes))
        return rows[:, columns.start - blocks.start * width :][:, : columns.stop - columns.start]

    def _row_slice(self, start: int, stop: int) -> Matrix:
        matrix = copy(self)
        matrix.codes, matrix.shape = self.codes[start:stop], (stop - start, self.shape[1])
        matrix._start = self._start + start
        return matrix

    def _rotated_back(self, rows: Floats) -> Floats:
        rotation = self.quantizer.rotation_
        return rows if rotation is None else rotation.backward(rows)

    def _matmat(self, W: Floats) -> Floats:
        if not self._gathers(W.shape[1]):
            return super()._matmat(W)
        rotation = self.quantizer.rotation_
        if rotation is not None:
            W = np.ascontiguousarray(rotation.forward(np.ascontiguousarray(W.T)).T)
        out = np.empty((self.shape[0], W.shape[1]), np.float32)
        _native.pq_matmat(self.codes, self.codebooks, W, out, get_threads())
        return out

    def _rmatmat(self, R: Floats) -> Floats:
        if not self._scatters(R.shape[1]):
            return super()._rmatmat(R)
        out = np.empty((self.shape[1], R.shape[1]), np.float32)
        _native.pq_rmatmat(self.codes, self.codebooks, self._crowded, R, out, get_threads())
        if self.quantizer.rotation_ is None:
            return out
        return np.ascontiguousarray(self._rotated_back(np.ascontiguousarray(out.T)).T)

    @property
    def _crowded(self) -> NDArray[np.uint8]:
        """Where one centroid takes so many rows of a chunk that their sum must be kept short; found once."""
        rows = self._start, self._start + self.shape[0]
        if rows not in self._crowding:
            crowded = np.empty((-(-self.shape[0] // _native.CHUNK_ROWS), self.codes.shape[1]), np.uint8)
            _native.pq_find_crowded(self.codes, self.codebooks, crowded, get_threads())
            self._crowding[rows] = crowded
        return self._crowding[rows]

    # Whether tables beat decoding rows and multiplying them, in operations on 16 columns for every block. A table takes
    # one for each number of its codebook, a look-up three. Decoding takes a few for every block and for every number,
    # and the dense product as many as it has columns; X' R adds up d x k numbers in float64 for every tile besides.

    def _gathers(self, k: int) -> bool:
        _, centroids, width = self.codebooks.shape
        n, tiles = self.shape[0], -(-k // 16)
        return bool(tiles * (centroids * (width + 2) + 3.2 * n) < n * (4 + width * (1.2 + tiles)))

    def _scatters(self, k: int) -> bool:
        _, centroids, width = self.codebooks.shape
        n, tiles = self.shape[0], -(-k // 16)
        dense = n * (4 + width * (1.2 + tiles)) + 8 * width * tiles * -(-n // 256)
        return bool(tiles * (centroids * (width + 8) + 3.6 * n) < dense)
