"""ScalarQuantizer: 8 or 4 bits for every number; ScalarMatrix: products with them."""

import warnings
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from manyclass._core.checks import check_count, check_finite
from manyclass._core.typing import Floats
from manyclass.data.matrix import Matrix, matmat, rmatmat
from manyclass.data.quantizer import Codes, Quantizer, fixed_codes
from manyclass.data.readers.as_matrix import as_matrix

_LEAST_CODES, _MANY_ROWS = 4, 32  # with fewer codes rows are hardly told apart; a few rows may well be alike


class ScalarMatrix(Matrix):
    """Rows stored as the codes of a scalar quantizer, ``x_ij = scale_j * (code_ij - zero_j)``.

    Products fold the scale into the other factor, so that a tile is a cast of its codes. `ScalarQuantizer.encode` makes
    such matrices.

    Parameters
    ----------
    codes : ndarray of uint8 of shape (n, code_size)
        The codes. They are copied, unless they are read-only: a matrix never changes.
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
        self.codes = fixed_codes(codes)
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

    def _row_slice(self, start: int, stop: int) -> Matrix:
        matrix = copy(self)
        matrix.codes, matrix.shape = self.codes[start:stop], (stop - start, self.shape[1])
        return matrix

    def _tile(self, index: slice | NDArray[np.intp]) -> Floats:
        tile = self.quantizer.unpack(self.codes[index])
        # Subtracting here is exact; a correction after the product would cancel badly.
        if self._zero is not None:
            tile -= self._zero
        return tile

    def _matmat(self, W: Floats) -> Floats:
        return matmat(self._tile, self.shape, self.quantizer.scale_[:, None] * W)

    def _rmatmat(self, R: Floats) -> Floats:
        return self.quantizer.scale_[:, None] * rmatmat(self._tile, self.shape, R)


class ScalarQuantizer(Quantizer):
    """Store every number in 8 or 4 bits, ``x ~ scale_j * (code - zero_j)`` for column j.

    Codes go from 0 to ``2^bits - 1``. The scales span the least and the greatest value of each column, over all rows
    that `fit` sees, and zero. So zero is decoded to exactly zero, a value in that range within ``scale_j / 2``, and a
    value outside is clipped. With 4 bits, two columns share a byte, the earlier one in its low half.

    Parameters
    ----------
    bits : {8, 4}, default=8
        Bits per number.

    Attributes
    ----------
    scale_ : ndarray of float32 of shape (d,)
        The step between two codes of each column.
    zero_ : ndarray of uint8 of shape (d,)
        The code of zero in each column.

    Examples
    --------
    >>> quantizer = ScalarQuantizer(bits=8).fit([[0.0, -1.0], [2.55, 1.0]])
    >>> quantizer.encode([[1.0, 0.0]]).rows(0)
    array([1., 0.], dtype=float32)
    """

    kind = "scalar"

    def __init__(self, bits: int = 8):
        if bits not in (4, 8):
            raise ValueError(f"bits must be 4 or 8; got {bits!r}")
        self.bits = bits
        self.scale_: NDArray[np.float32]
        self.zero_: Codes

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the range of every column, in one pass over all rows of X.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.
        y : object, default=None
            Not used; for compatibility with scikit-learn.

        Returns
        -------
        ScalarQuantizer
            The quantizer itself.
        """
        X = as_matrix(X)
        if not X.shape[0] or not X.shape[1]:
            raise ValueError(f"X must have at least one row and one column; got shape {X.shape}")
        least, greatest = np.full((2, X.shape[1]), [[np.inf], [-np.inf]])
        for start, rows in X.blocks():
            check_finite(rows, "X", start)
            np.minimum(least, rows.min(axis=0), out=least)
            np.maximum(greatest, rows.max(axis=0), out=greatest)
        low, high = np.minimum(least, 0), np.maximum(greatest, 0)  # so that 0 is a code
        scale, zero = _affine(low, high, self._most)
        _check_range(low, high, _decodes(scale, zero, self._most))
        self.scale_, self.zero_ = scale, zero
        if len(X) >= _MANY_ROWS:
            _warn_of_few_codes(greatest - least, scale)
        return self

    @property
    def n_features(self) -> int:
        self._check_fitted()
        return len(self.scale_)

    @property
    def code_size(self) -> int:
        return -(-self.n_features * self.bits // 8)

    @property
    def _most(self) -> int:
        return (1 << self.bits) - 1

    def encode_rows(self, rows: Floats, first: int = 0) -> Codes:
        """Encode a block of rows.

        Parameters
        ----------
        rows : ndarray of shape (m, d)
            The rows.
        first : int, default=0
            The number of the first row, for error messages.

        Returns
        -------
        ndarray of uint8 of shape (m, code_size)
            The codes.
        """
        rows = np.asarray(rows)
        if rows.ndim != 2 or rows.shape[1] != self.n_features:
            raise ValueError(f"X must have {self.n_features} columns, as in fit; got shape {rows.shape}")
        check_finite(rows, "X", first)
        zero = self.zero_.astype(np.float32)
        # Clipping before the division keeps it from overflowing.
        inside = np.clip(rows, -zero * self.scale_, (self._most - zero) * self.scale_)
        codes: Codes = np.clip(np.rint(inside / self.scale_) + zero, 0, self._most).astype(np.uint8)
        return codes if self.bits == 8 else _pack(codes)

    def unpack(self, codes: Codes) -> NDArray[np.float32]:
        """Unpack codes to one number per column.

        Parameters
        ----------
        codes : ndarray of uint8 of shape (m, code_size)
            Packed codes.

        Returns
        -------
        ndarray of float32 of shape (m, d)
            The code of every number.
        """
        if self.bits == 8:
            return codes.astype(np.float32)
        out = np.empty((len(codes), self.n_features), np.float32)
        out[:, 0::2] = codes & 15
        out[:, 1::2] = codes[:, : self.n_features // 2] >> 4
        return out

    def matrix(self, codes: Codes) -> ScalarMatrix:
        """Make a matrix of codes.

        Parameters
        ----------
        codes : ndarray of uint8 of shape (n, code_size)
            The codes.

        Returns
        -------
        ScalarMatrix
            The matrix whose rows they are.
        """
        return ScalarMatrix(codes, self)

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Describe the fitted quantizer by plain values and arrays.

        Returns
        -------
        settings : dict
            The number of `bits`.
        arrays : dict of str to ndarray
            The `scale`, float32 of shape (d,), and the `zero`, uint8 of shape (d,).
        """
        self._check_fitted()
        return {"bits": self.bits}, {"scale": self.scale_, "zero": self.zero_}

    def _check_fitted(self) -> None:
        if not hasattr(self, "scale_"):
            raise ValueError("the ScalarQuantizer must be fitted first; call fit(X)")

    @classmethod
    def from_state(cls, settings: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Make a quantizer of what `state` returned, after checking it.

        Parameters
        ----------
        settings : dict
            The number of `bits`.
        arrays : dict of str to ndarray
            The `scale` and the `zero` of every column.

        Returns
        -------
        ScalarQuantizer
            The fitted quantizer.
        """
        if set(settings) != {"bits"} or set(arrays) != {"scale", "zero"}:
            got = f"{sorted(settings)} and {sorted(arrays)}"
            raise ValueError(f"a scalar quantizer must have the setting bits and the arrays scale and zero; got {got}")
        quantizer = cls(check_count(settings["bits"], "bits"))
        scale, zero = np.asarray(arrays["scale"]), np.asarray(arrays["zero"])
        _check_state(scale, zero, quantizer._most)
        quantizer.scale_, quantizer.zero_ = scale, zero
        return quantizer


def _warn_of_few_codes(spread: NDArray[np.float64], scale: NDArray[np.float32]) -> None:
    """Tell of columns that lie so far from 0, which is a code, that few codes are left for what tells rows apart."""
    varies = spread > 0
    codes = float(np.median(spread[varies] / scale[varies])) if varies.any() else np.inf
    if codes < _LEAST_CODES:
        warnings.warn(
            f"columns of X lie so far from 0 that only about {codes:.1g} codes are left to tell rows apart; "
            "subtract the mean of X from its rows",
            UserWarning,
            stacklevel=3,
        )


def _affine(low: Floats, high: Floats, most: int) -> tuple[NDArray[np.float32], Codes]:
    """Scale and zero of columns with these ranges, both of which include zero.

    Rounding the zero shifts the range by at most half a step, so that no end is clipped by more than that.
    """
    with np.errstate(over="ignore"):  # what is too wide has an infinite step, and is refused
        step = (high - low) / most
        step[step < np.finfo(np.float32).tiny] = 1.0  # a column of zeros, for which any step does
        return step.astype(np.float32), np.rint(-low / step).astype(np.uint8)


def _decodes(scale: NDArray[np.float32], zero: Codes, most: int) -> NDArray[np.bool_]:
    """For each column, whether its least and its greatest code stand for numbers."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.isfinite(scale * zero) & np.isfinite(scale * (most - zero.astype(np.float32)))  # type: ignore[no-any-return]


def _check_range(low: Floats, high: Floats, good: NDArray[np.bool_]) -> None:
    if not good.all():
        j = int(np.flatnonzero(~good)[0])
        rule = "X must hold numbers that float32 can hold, with half a step to spare"
        raise ValueError(f"{rule}; column {j} goes from {low[j]:g} to {high[j]:g}")


def _pack(codes: Codes) -> Codes:
    packed = codes[:, 0::2].copy()
    packed[:, : codes.shape[1] // 2] |= codes[:, 1::2] << 4
    return packed


def _check_state(scale: NDArray[Any], zero: NDArray[Any], most: int) -> None:
    if (
        scale.dtype != np.float32
        or zero.dtype != np.uint8
        or scale.shape != zero.shape
        or scale.ndim != 1
        or not scale.size
    ):
        got = f"{scale.dtype} {scale.shape} and {zero.dtype} {zero.shape}"
        raise ValueError(f"scale and zero must be vectors of one length, float32 and uint8; got {got}")
    wrong = ~(scale > 0) | (zero > most) | ~_decodes(scale, zero, most)
    if wrong.any():
        j = int(np.flatnonzero(wrong)[0])
        rule = f"scale must be finite and positive, also times {most}, and zero at most {most}"
        raise ValueError(f"{rule}; got {scale[j]} and {zero[j]} in column {j}")
