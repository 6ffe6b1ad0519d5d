"""Quantizer: from rows of numbers to rows of bytes, and back."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyclass.data.matrix import Matrix
from manyclass.data.tiles import Floats

Codes = NDArray[np.uint8]
Progress = Callable[[int, int], None]  # (rows done, rows in all)


class Quantizer(ABC):
    """What product and scalar quantizers have in common: fit on a sample, then encode any number of rows.

    A fitted quantizer is plain arrays: `state` gives them, `from_state` takes them back, and neither needs what fitted
    them.
    """

    kind: str  # the name under which a store keeps it

    @abstractmethod
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from a sample of the rows of X."""

    @property
    @abstractmethod
    def n_features(self) -> int:
        """d, the numbers in a row."""

    @property
    @abstractmethod
    def code_size(self) -> int:
        """Bytes in a row of codes."""

    @abstractmethod
    def encode_rows(self, rows: Floats, first: int = 0) -> Codes:
        """Codes (m, code_size) of a block of rows (m, d); `first` is the number of its first row, for complaints."""

    @abstractmethod
    def matrix(self, codes: Codes) -> Matrix:
        """The Matrix whose rows are these codes."""

    @abstractmethod
    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """(what JSON can say, what arrays must) of the fitted quantizer."""

    @classmethod
    @abstractmethod
    def from_state(cls, settings: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """The quantizer of which `state` gave these; they come from a file, so they are checked."""

    def encode(self, X: Any, progress: Progress | None = None) -> Matrix:
        """X held as codes. X is whatever `as_matrix` takes and is read a block at a time."""
        from manyclass.data.opening import as_matrix

        X = as_matrix(X)
        if X.shape[1] != self.n_features:
            raise ValueError(f"X must have {self.n_features} columns, as in fit; got shape {X.shape}")
        codes = np.empty((X.shape[0], self.code_size), np.uint8)
        for start, rows in X.blocks():
            codes[start : start + len(rows)] = self.encode_rows(rows, start)
            if progress:
                progress(start + len(rows), X.shape[0])
        return self.matrix(codes)

    def decode(self, Xq: Matrix | ArrayLike) -> Floats:
        """All rows of a matrix of codes, or of an array of codes, as numbers."""
        return (Xq if isinstance(Xq, Matrix) else self.matrix(np.asarray(Xq))).toarray()
