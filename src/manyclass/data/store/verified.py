"""VerifiedMatrix: the rows of a store, which are checked against their checksums before they are used."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.data.matrix import Matrix
from manyclass.data.quantizer import Quantizer
from manyclass.data.store.blocks import BlockFile
from manyclass.data.store.manifest import row_bytes
from manyclass.data.tiles import Floats


class VerifiedMatrix(Matrix):
    """The rows of a store, checked against their checksums before they are used.

    Reading rows checks the blocks that hold them, and products check all blocks; each is checked once. Sizes of files
    are checked every time. A block that differs from what was written raises `StoreCorruptedError`.

    Parameters
    ----------
    inner : Matrix of shape (n, d)
        The rows over mapped files.
    files : sequence of BlockFile
        Those files.
    quantizer : Quantizer, default=None
        The quantizer of the rows, if they are codes.

    Attributes
    ----------
    quantizer : Quantizer or None
        The quantizer of the rows, if they are codes.
    stored_dtype : numpy.dtype
        The dtype of the files.
    """

    def __init__(self, inner: Matrix, files: Sequence[BlockFile], quantizer: Quantizer | None = None):
        self.inner = inner
        self.quantizer = quantizer
        self.shape = inner.shape
        self.dtype = inner.dtype
        self.stored_dtype = files[0].array.dtype
        self._files = list(files)
        self._starts = np.cumsum([0, *(len(file.array) for file in files)])
        self._sound = False

    @property
    def nbytes(self) -> int:
        return sum(file.array.nbytes for file in self._files)

    def check(self) -> None:
        """Check every block that was not checked yet."""
        for file in self._files:
            file.check_size() if self._sound else file.check()
        self._sound = True

    def stored(self, start: int, stop: int) -> NDArray[Any]:
        """Read rows as the files have them.

        Parameters
        ----------
        start : int
            The first row.
        stop : int
            The row after the last.

        Returns
        -------
        ndarray
            Codes, or numbers of `stored_dtype`.
        """
        self._check_rows(slice(start, stop))
        pieces = [file.array[max(0, start - first) : max(0, stop - first)] for first, file in self._placed()]
        filled = [piece for piece in pieces if len(piece)] or pieces[:1]
        return filled[0] if len(filled) == 1 else np.concatenate(filled)

    def release(self) -> None:
        self.inner.release()

    def row_norms(self, squared: bool = False) -> Floats:
        self.check()
        return self.inner.row_norms(squared)

    def _rows(self, index: slice | NDArray[np.intp]) -> Floats:
        self._check_rows(index)
        return self.inner._rows(index)

    def _matmat(self, W: Floats) -> Floats:
        self.check()
        return self.inner._matmat(W)

    def _rmatmat(self, R: Floats) -> Floats:
        self.check()
        return self.inner._rmatmat(R)

    def _placed(self) -> list[tuple[int, BlockFile]]:
        return [(int(first), file) for first, file in zip(self._starts[:-1], self._files, strict=True)]

    def _check_rows(self, index: slice | NDArray[np.intp]) -> None:
        if self._sound:
            self.check()
            return
        for first, file in self._placed():
            blocks = _blocks(file, index, first)
            if len(blocks):
                file.check(blocks)
        self._sound = all(file.sound for file in self._files)


def _blocks(file: BlockFile, index: slice | NDArray[np.intp], first: int) -> NDArray[np.intp]:
    """The blocks of a file, whose first row is row `first` of all, in which the rows of an index lie."""
    n, per_block = len(file.array), file.record.block_bytes // row_bytes(file.record)
    if isinstance(index, slice):
        start, stop = max(0, index.start - first), min(n, index.stop - first)
        return np.arange(start // per_block, -(-stop // per_block)) if start < stop else np.zeros(0, np.intp)
    inside = index[(index >= first) & (index < first + n)] - first
    return np.unique(inside // per_block)
