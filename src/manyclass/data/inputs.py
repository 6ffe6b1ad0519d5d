"""X as users give it, opened as a Matrix; and the scale of its rows, of which users are told where it does harm."""

import os
import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

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
        matrix = as_matrix(X)
        return matrix if reset else _check_scale(estimator, matrix)
    matrix = X if isinstance(X, Matrix) else as_matrix(X)
    if reset:
        vars(estimator).pop("feature_names_in_", None)
        estimator.n_features_in_ = matrix.shape[1]
    elif matrix.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {matrix.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )
    return matrix if reset else _check_scale(estimator, matrix)


def open_rows(X: Any, name: str = "X") -> Matrix:
    """Anything that `as_matrix` takes, where no estimator asks: some rows and columns, all of finite numbers."""
    matrix = as_matrix(X)
    if 0 in matrix.shape:
        raise ValueError(f"{name} must have at least one row and one column; got shape {matrix.shape}")
    for start, rows in matrix.blocks():
        check_finite(rows, name, start)
    return matrix


def open_examples(estimator: Any, X: Any, reset: bool = False, limits: "ScaleLimits | None" = None) -> Matrix:
    """X to learn from, with `reset` by `remember_scale` too."""
    matrix = read_examples(estimator, X, reset)
    if reset:
        remember_scale(estimator, matrix, limits)
    return matrix


def read_examples(estimator: Any, X: Any, reset: bool = False) -> Matrix:
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


def remember_scale(estimator: Any, matrix: Matrix, limits: "ScaleLimits | None" = None) -> None:
    """Keep the scale of the rows that an estimator is to be fitted on; tell of it where it does harm.

    That is beyond the limits, by default those of the estimator.
    """
    scale = RowScale.of(matrix)
    estimator.row_lengths_ = scale.lengths
    for words in scale.troubles(scale_limits(estimator) if limits is None else limits):
        _tell(words)


def scale_limits(estimator: Any) -> "ScaleLimits":
    """What an estimator bears."""
    limits: ScaleLimits = getattr(estimator, "scale_limits", ScaleLimits())
    return limits


class ScaleLimits(NamedTuple):
    """What an estimator bears: the least fraction of squared lengths in which rows differ; of variance beside a column.

    Closed forms and solvers with curvature bear nearly all that float64 can hold.
    """

    apart: float = 0.0
    beside: float = 1e-11


@dataclass(frozen=True)
class RowScale:
    """The scale of rows, on a sample of them.

    >>> from manyclass.data.dense import DenseMatrix
    >>> scale = RowScale.of(DenseMatrix(np.array([[3.0, 1e3], [4.0, 1e3 + 4]])))
    >>> scale.column, round(scale.beside, 3)
    (1, 0.059)
    """

    lengths: tuple[float, float]  # of which all but a hundredth are longer, and shorter; 0 where there are few rows
    apart: float  # the fraction of the squared length in which rows differ from their mean
    column: int  # the one of largest variance
    beside: float  # the fraction of the variance that is in other columns
    large: (
        tuple[int, float] | None
    )  # the largest column whose spread float32 loses, if it tells that of others; its size

    @classmethod
    def of(cls, X: Matrix) -> "RowScale":
        """The scale of X, which has rows."""
        rows = _sample(X, 512)
        lengths = _range(rows)
        with np.errstate(over="ignore", invalid="ignore"):
            size, square = np.abs(rows.mean(axis=0)), np.einsum("ij,ij->", rows, rows) / len(rows)
            # Differences from one of them keep the digits that squares of large numbers would lose.
            rows -= rows[0].copy()
            rows -= rows.mean(axis=0)
            variance = np.einsum("ij,ij->j", rows, rows) / len(rows)
        total, column = variance.sum(), int(variance.argmax())
        beside = float(np.delete(variance, column).sum() / total) if total else 1.0
        told = np.sqrt(variance) > np.finfo(np.float32).eps * size
        at = int(np.where(told, 0.0, size).argmax())
        large = None if told[at] or not told.any() else (at, float(size[at]))
        return cls(lengths, float(total / square) if square else 1.0, column, beside, large)

    def troubles(self, limits: ScaleLimits) -> list[str]:
        """Why an estimator with these limits learns little from such rows, and what to do about it; a sentence each."""
        words = []
        # Rows that are all the same, but for rounding of float32, have nothing to learn from, and no way out.
        if self.apart <= _ROUNDING and self.apart < limits.apart and self.large is not None:
            words.append(
                f"column {self.large[0]} of X has values of about {self.large[1]:.1g}, beside which float32 loses the "
                "others; subtract its mean from that column, or leave it out"
            )
        elif _ROUNDING < self.apart < limits.apart:
            words.append(
                f"rows of X differ in only {self.apart:.1g} of their squared length, so that most steps follow their "
                "common mean and little is learned; subtract the mean of X from its rows"
            )
        # Columns that are all the same beside one that is not do not count.
        if 0 < self.beside < limits.beside:
            words.append(
                f"column {self.column} of X has all but {self.beside:.1g} of the variance, so that little is learned "
                "from the others; divide the columns of X by their standard deviations, or leave that one out"
            )
        return words


_ROUNDING = 1e-14  # fraction of squared lengths, about the square of float32's resolution

_FAR = 4  # rows that are so many times as long as any, or as short, come from elsewhere

_LEAST_ROWS = 32  # that say how long others will be


def _check_scale(estimator: Any, matrix: Matrix) -> Matrix:
    """The matrix; tells of rows that are far longer or shorter than those that the estimator was fitted on."""
    known = getattr(estimator, "row_lengths_", None)
    if known is None or not known[1] or 0 in matrix.shape:
        return matrix
    lengths = _lengths(_sample(matrix, 64))
    usual = float(np.median(lengths)) if len(lengths) else known[0]
    if not known[0] / _FAR <= usual <= known[1] * _FAR:
        _tell(
            f"rows of X have lengths of about {usual:.2g}, and {type(estimator).__name__} was fitted on rows of "
            f"lengths from {known[0]:.2g} to {known[1]:.2g}; scale the rows of both in the same way, "
            "for example to unit length"
        )
    return matrix


def _sample(X: Matrix, size: int) -> Any:
    """At most so many rows (m, d), evenly spaced, in float64."""
    n, d = X.shape
    count = min(n, size, max(32, (1 << 22) // d))
    return X.rows(np.linspace(0, n - 1, count).astype(np.intp)).astype(np.float64)


def _lengths(rows: Any) -> Any:
    with np.errstate(over="ignore"):
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return lengths[(lengths > 0) & np.isfinite(lengths)]


def _range(rows: Any) -> tuple[float, float]:
    lengths = _lengths(rows)
    low, high = np.quantile(lengths, (0.01, 0.99)) if len(lengths) >= _LEAST_ROWS else (0.0, 0.0)
    return float(low), float(high)


def _tell(words: str) -> None:
    warnings.warn(words, UserWarning, stacklevel=5)


def _ours(X: Any) -> bool:
    return isinstance(X, Matrix | str | os.PathLike)


def _refuse_infinite_entries(X: Any) -> None:
    """Refuse NaN and infinity in an array, or a sparse one of compressed rows."""
    if hasattr(X, "indptr"):
        for place in np.flatnonzero(~np.isfinite(X.data))[:1]:
            _not_finite(int(np.searchsorted(X.indptr, place, side="right")) - 1, int(X.indices[place]))
    elif X.dtype.kind == "f":
        for at in spans(len(X), max(1, (1 << 20) // max(1, X.shape[1]))):
            with np.errstate(over="ignore", invalid="ignore"):
                finite = np.isfinite(X[at].sum())  # a fourth of the time of looking at each, and mostly enough
            for row, column in [] if finite else np.argwhere(~np.isfinite(X[at]))[:1]:
                _not_finite(at.start + int(row), int(column))


def _not_finite(row: int, column: int) -> None:
    raise ValueError(f"X must hold finite numbers; row {row} has NaN or infinity in column {column}")
