"""The parts of a kernel machine's embedding: the image, its slope and its coordinates."""

import numpy as np

from manyclass.data.kernels import Doubles
from manyclass.data.tiles import spans
from manyclass.exemplar.encoder import Codes

_TILE_BYTES = 4 << 20
_TILE_ROWS = 256


class CodeParts:
    """Embeddings (n, d + 2 r), read as float64 some rows at a time, for what is left of k - v'v may be small.

    >>> parts = CodeParts(np.arange(5, dtype=np.float32)[None], rank=1)
    >>> parts.images(slice(1)), parts.slopes(slice(1)), parts.coordinates(slice(1))
    (array([[0., 1., 2.]]), array([[3.]]), array([[4.]]))
    """

    def __init__(self, codes: Codes, rank: int):
        self.codes = codes
        self.end, self.middle = codes.shape[1], codes.shape[1] - rank
        self.start = self.middle - rank

    def __len__(self) -> int:
        return len(self.codes)

    def tiles(self) -> list[slice]:
        """All embeddings, in as many as are read at a time."""
        return spans(len(self), max(_TILE_ROWS, _TILE_BYTES // (8 * self.end)))

    def images(self, at: slice) -> Doubles:
        """Rows (n, d); of a precomputed kernel they have no columns."""
        return self._part(at, slice(0, self.start))

    def slopes(self, at: slice) -> Doubles:
        """s (n, r), lambda times the slope within what the negatives span."""
        return self._part(at, slice(self.start, self.middle))

    def coordinates(self, at: slice) -> Doubles:
        """v (n, r)."""
        return self._part(at, slice(self.middle, self.end))

    def _part(self, at: slice, columns: slice) -> Doubles:
        return self.codes[at, columns].astype(np.float64)
