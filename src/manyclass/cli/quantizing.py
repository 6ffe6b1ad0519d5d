"""Fitting a quantizer on some rows, and measuring it on others."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

_MOST_ERROR_ROWS = 4096


@dataclass(frozen=True)
class Fitted:
    """A quantizer, and ||X - decoded X|| / ||X|| over rows that were held out, unless there were too few."""

    quantizer: Any
    fit_rows: int
    error: float
    error_rows: int
    held_out: bool


def fit_on_sample(quantizer: Any, X: Any, n_sample: int | None, seed: int) -> Fitted:
    """Fit on n_sample rows of X, or on all; measure on a tenth of the rows, at most 4096, that the fit has not seen."""
    parts = _Parts.drawn(X.shape[0], n_sample, seed)
    quantizer.fit(X if parts.fit is None else _numbers(X, parts.fit))
    return _measured(quantizer, X, parts)


def measured(quantizer: Any, X: Any, n_sample: int | None, seed: int) -> Fitted:
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


def _measured(quantizer: Any, X: Any, parts: _Parts) -> Fitted:
    error = relative_error(quantizer, _numbers(X, parts.measure), parts.measure)
    fit_rows = X.shape[0] if parts.fit is None else len(parts.fit)
    return Fitted(quantizer, fit_rows, error, len(parts.measure), parts.held_out)


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
