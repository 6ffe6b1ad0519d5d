"""X as users give it, opened as a Matrix."""

import os
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from manyclass import _checks
from manyclass.data.matrix import Matrix
from manyclass.data.opening import as_matrix


def open_features(estimator: BaseEstimator, X: Any, reset: bool = False) -> Matrix:
    """X as a Matrix; arrays pass scikit-learn's checks on the way, and keep their dtype.

    With `reset` the estimator takes the number and the names of the columns from X; else they must be its own.
    """
    if not _ours(X):
        return as_matrix(validate_data(estimator, X, accept_sparse="csr", reset=reset))
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


def open_examples(estimator: BaseEstimator, X: Any, reset: bool = False) -> Matrix:
    """X to learn from: some rows, and in each of them finite numbers that float32 can hold."""
    matrix = open_features(estimator, X, reset)
    if 0 in matrix.shape:
        raise ValueError(f"X must have at least one row and one column; got shape {matrix.shape}")
    # Of float32 arrays scikit-learn has seen to it.
    if _ours(X) or matrix.dtype != np.float32:
        _refuse_infinite_rows(matrix)
    return matrix


def _ours(X: Any) -> bool:
    return isinstance(X, Matrix | str | os.PathLike)


def _refuse_infinite_rows(matrix: Matrix) -> None:
    name = "X" if matrix.dtype == np.float32 else "X as float32"
    for start, rows in matrix.blocks():
        with np.errstate(over="ignore"):
            _checks.finite(rows.astype(np.float32, copy=False), name, start)
