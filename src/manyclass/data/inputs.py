"""X as users give it, opened as a Matrix."""

import os
from typing import Any

import numpy as np

from manyclass._core.checks import check_finite
from manyclass.data.matrix import Matrix, spans
from manyclass.data.readers.as_matrix import as_matrix


def open_features(estimator: Any, X: Any, reset: bool = False) -> Matrix:
    """X as a Matrix; arrays pass scikit-learn's checks on the way, must be finite, and keep their dtype.

    With `reset` the estimator takes the number and the names of the columns from X; else they must be its own.
    """
    if not _ours(X):
        from sklearn.utils.validation import validate_data

        # Of NaN and infinity we speak ourselves, and say where they are; as in scikit-learn, before we count columns.
        plain = isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind == "f"
        if plain:
            _refuse_infinite_entries(X)
        X = validate_data(estimator, X, accept_sparse="csr", reset=reset, ensure_all_finite=False)
        if not plain:
            _refuse_infinite_entries(X)
        return as_matrix(X)
    matrix = as_matrix(X)
    if reset:
        vars(estimator).pop("feature_names_in_", None)
        estimator.n_features_in_ = matrix.shape[1]
    elif matrix.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {matrix.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )
    return matrix


def open_examples(estimator: Any, X: Any, reset: bool = False) -> Matrix:
    """X to learn from: some rows, and in each of them finite numbers that float32 can hold."""
    matrix = open_features(estimator, X, reset)
    if 0 in matrix.shape:
        raise ValueError(f"X must have at least one row and one column; got shape {matrix.shape}")
    # Of float32 arrays that is known already.
    if _ours(X) or matrix.dtype != np.float32:
        name = "X" if matrix.dtype == np.float32 else "X as float32"
        for start, rows in matrix.blocks():
            with np.errstate(over="ignore"):
                check_finite(rows.astype(np.float32, copy=False), name, start)
    return matrix


def _ours(X: Any) -> bool:
    return isinstance(X, Matrix | str | os.PathLike)


def _refuse_infinite_entries(X: Any) -> None:
    """Refuse NaN and infinity in an array, or a sparse one of compressed rows."""
    if hasattr(X, "indptr"):
        for place in np.flatnonzero(~np.isfinite(X.data))[:1]:
            _not_finite(int(np.searchsorted(X.indptr, place, side="right")) - 1, int(X.indices[place]))
    elif X.dtype.kind == "f":
        for at in spans(len(X), max(1, (1 << 20) // max(1, X.shape[1]))):
            for row, column in np.argwhere(~np.isfinite(X[at]))[:1]:
                _not_finite(at.start + int(row), int(column))


def _not_finite(row: int, column: int) -> None:
    raise ValueError(f"X must hold finite numbers; row {row} has NaN or infinity in column {column}")
