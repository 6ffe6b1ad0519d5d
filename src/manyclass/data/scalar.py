"""Rows kept as one small integer per number."""

from copy import copy
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from manyclass.data import tiles
from manyclass.data.matrix import Matrix
from manyclass.data.quantizer import Codes
from manyclass.data.tiles import Floats

if TYPE_CHECKING:
    from manyclass.data.scalar_quantizer import ScalarQuantizer


class ScalarMatrix(Matrix):
    """Rows stored as the codes of a scalar quantizer, ``x_ij = scale_j * (code_ij - zero_j)``.

    Products fold the scale into the other factor, so that a tile is a cast of its codes. `ScalarQuantizer.encode` makes
    such matrices.

    Parameters
    ----------
    codes : ndarray of uint8 of shape (n, code_size)
        The codes.
    quantizer : ScalarQuantizer
        The fitted quantizer, which is copied: fitting it again does not change the matrix.

    Attributes
    ----------
    codes : ndarray of uint8 of shape (n, code_size)
        The codes.
    quantizer : ScalarQuantizer
        The quantizer.
    """

    def __init__(self, codes: Codes, quantizer: "ScalarQuantizer"):
        codes = np.asarray(codes)
        if codes.dtype != np.uint8 or codes.ndim != 2 or codes.shape[1] != quantizer.code_size:
            wanted = f"bytes of shape (n, {quantizer.code_size})"
            raise ValueError(f"codes must be {wanted}; got {codes.dtype} of shape {codes.shape}")
        self.codes = codes
        self.quantizer = copy(quantizer)  # fitting it again must not change what these codes mean
        self.shape = (codes.shape[0], quantizer.n_features)
        self.dtype = np.dtype(np.float32)
        self._zero = quantizer.zero_.astype(np.float32) if quantizer.zero_.any() else None

    @property
    def nbytes(self) -> int:
        return int(self.codes.nbytes)

    def _rows(self, index: slice | NDArray[np.intp]) -> Floats:
        rows = self._tile(index)
        rows *= self.quantizer.scale_
        return rows

    def _tile(self, index: slice | NDArray[np.intp]) -> Floats:
        tile = self.quantizer.unpack(self.codes[index])
        # Subtracting here is exact; a correction after the product would cancel badly.
        if self._zero is not None:
            tile -= self._zero
        return tile

    def _matmat(self, W: Floats) -> Floats:
        return tiles.matmat(self._tile, self.shape, self.quantizer.scale_[:, None] * W)

    def _rmatmat(self, R: Floats) -> Floats:
        return self.quantizer.scale_[:, None] * tiles.rmatmat(self._tile, self.shape, R)
