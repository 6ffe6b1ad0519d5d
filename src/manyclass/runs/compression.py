"""Fitting a quantizer on some rows, and measuring it on others.

Coding: what the options of `manyclass compress` ask for.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

_MOST_ERROR_ROWS = 4096


@dataclass(frozen=True)
class FittedQuantizer:
    """A quantizer, and ||X - decoded X|| / ||X|| over rows that were held out, unless there were too few."""

    quantizer: Any
    fit_rows: int
    error: float
    error_rows: int
    held_out: bool


def fit_on_sample(quantizer: Any, X: Any, n_sample: int | None, seed: int) -> FittedQuantizer:
    """Fit on n_sample rows of X, or on all; measure on a tenth of the rows, at most 4096, that the fit has not seen."""
    parts = _Parts.drawn(X.shape[0], n_sample, seed)
    quantizer.fit(X if parts.fit is None else _numbers(X, parts.fit))
    return _measured(quantizer, X, parts)


def measure_error(quantizer: Any, X: Any, n_sample: int | None, seed: int) -> FittedQuantizer:
    """What `fit_on_sample` gave when it fitted this quantizer."""
    return _measured(quantizer, X, _Parts.drawn(X.shape[0], n_sample, seed))


def relative_error(quantizer: Any, rows: NDArray[Any], index: NDArray[np.intp] | None = None) -> float:
    """||X - decoded X||_F / ||X||_F, and 0 where X is nothing but zeros; index has the numbers of the rows."""
    exact = rows.astype(np.float64)
    decoded = quantizer.matrix(_encoded(quantizer, rows, np.arange(len(rows)) if index is None else index)).toarray()
    length = float(np.linalg.norm(exact))
    return float(np.linalg.norm(exact - decoded)) / length if length else 0.0


class _Parts(NamedTuple):
    """Numbers of the rows that fit, None for all, and of those that measure, which may have been held out."""

    fit: NDArray[np.intp] | None
    measure: NDArray[np.intp]
    held_out: bool

    @classmethod
    def drawn(cls, n: int, n_sample: int | None, seed: int) -> Self:
        if n == 0:
            raise ValueError("the source must have at least one row; got none")
        order = np.random.default_rng(seed).permutation(n)
        apart = np.sort(order[: min(_MOST_ERROR_ROWS, max(1, n // 10))])
        rest = np.sort(order[len(apart) :][:n_sample])
        if n_sample is None:
            return cls(None, apart, held_out=False)
        return cls(rest if len(rest) else apart, apart, held_out=len(rest) > 0)


def _measured(quantizer: Any, X: Any, parts: _Parts) -> FittedQuantizer:
    error = relative_error(quantizer, _numbers(X, parts.measure), parts.measure)
    fit_rows = X.shape[0] if parts.fit is None else len(parts.fit)
    return FittedQuantizer(quantizer, fit_rows, error, len(parts.measure), parts.held_out)


def _numbers(X: Any, index: NDArray[np.intp]) -> NDArray[Any]:
    rows: NDArray[Any] = X.rows(index)
    with np.errstate(over="ignore"):
        bad = index[~np.isfinite(rows.astype(np.float32, copy=False)).all(axis=1)]
    if len(bad):
        rule = "the source must hold finite numbers within float32"
        raise ValueError(f"{rule}; row {bad[0]} has NaN, infinity or a larger one")
    return rows


def _encoded(quantizer: Any, rows: NDArray[Any], index: NDArray[np.intp]) -> Any:
    try:
        return quantizer.encode_rows(rows)
    except ValueError:
        for number, row in zip(index.tolist(), rows, strict=True):
            quantizer.encode_rows(row[None], number)  # complains of the row by its number in the source
        raise


_BLOCK = 8

_SAMPLE = 16384  # rows for a product quantizer: 64 for each of 256 centroids


class QuantizerKind(StrEnum):
    """How rows become bytes."""

    product = "product"
    scalar = "scalar"


class Bits(StrEnum):
    """How fine a column is cut."""

    four = "4"
    eight = "8"


class RotationName(StrEnum):
    """What happens to the columns before they are cut into blocks."""

    none = "none"
    permutation = "permutation"
    orthogonal = "orthogonal"


@dataclass(frozen=True)
class Coding:
    """A quantizer that is to be fitted: its kind and settings, the rows to learn from (None for all), and the seed."""

    kind: QuantizerKind
    settings: dict[str, Any]
    sample: int | None
    seed: int

    def quantizer(self) -> Any:
        """The quantizer, not fitted yet."""
        import manyclass as mc

        if self.kind is QuantizerKind.scalar:
            return mc.ScalarQuantizer(**self.settings)
        return mc.ProductQuantizer(**self.settings, sample=self.sample, random_state=self.seed)

    def identity(self, shape: tuple[int, int]) -> dict[str, Any]:
        """What tells a write of so many rows and columns from others, so that it can be gone on with."""
        coding = {"kind": self.kind.value, **self.settings, "sample": self.sample, "seed": self.seed}
        return {"command": "compress", "coding": coding, "rows": shape[0], "columns": shape[1]}


def scalar_coding(bits: Bits, sample: int | None, seed: int) -> Coding:
    """Some bits for every column."""
    return Coding(QuantizerKind.scalar, {"bits": int(bits)}, sample, seed)


def product_coding(
    d: int, source: Any, block: int | None, centroids: int, rotation: RotationName, sample: int | None, seed: int
) -> Coding:
    """One byte for every block of the d columns of a source."""
    if block is not None and block > d:
        raise ValueError(f"--block must be at most {d}, the columns of {source}; got {block}")
    settings = {
        "block": block or max(1, min(_BLOCK, d)),
        "n_centroids": centroids,
        "rotation": None if rotation is RotationName.none else rotation.value,
    }
    return Coding(QuantizerKind.product, settings, sample or _SAMPLE, seed)
