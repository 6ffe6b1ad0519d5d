"""Fitting a quantizer on some rows, and measuring it on others."""

from dataclasses import dataclass
from typing import Any

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
    n = X.shape[0]
    if n == 0:
        raise ValueError("the source must have at least one row; got none")
    order = np.random.default_rng(seed).permutation(n)
    apart = np.sort(order[: min(_MOST_ERROR_ROWS, max(1, n // 10))])
    rest = np.sort(order[len(apart) :][:n_sample])
    if n_sample is None:
        quantizer.fit(X)
    else:
        quantizer.fit(_finite_rows(X, rest if len(rest) else apart))
    error = relative_error(quantizer, _finite_rows(X, apart))
    held_out = n_sample is not None and len(rest) > 0
    return Fitted(quantizer, len(rest) if held_out else n, error, len(apart), held_out)


def relative_error(quantizer: Any, rows: NDArray[Any]) -> float:
    """||X - decoded X||_F / ||X||_F, and 0 where X is nothing but zeros."""
    exact = rows.astype(np.float64)
    decoded = quantizer.matrix(quantizer.encode_rows(rows)).toarray()
    length = float(np.linalg.norm(exact))
    return float(np.linalg.norm(exact - decoded)) / length if length else 0.0


def _finite_rows(X: Any, index: NDArray[np.intp]) -> NDArray[Any]:
    rows: NDArray[Any] = X.rows(index)
    bad = index[~np.isfinite(rows).all(axis=1)]
    if len(bad):
        raise ValueError(f"the source must hold finite numbers; row {bad[0]} has NaN or infinity")
    return rows
