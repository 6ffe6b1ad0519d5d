"""A linear classifier whose weights are kept in factors: small, fast to apply, and with features of its own."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from manyclass import _checks
from manyclass._blas import one_thread
from manyclass.data.tiles import Floats
from manyclass.estimators.linear import LinearModel, checked_scores
from manyclass.solvers.best_classes import Scores
from manyclass.solvers.points import Factors, times


class FactoredModel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, LinearModel):  # type: ignore[misc]
    """W = U diag(s) V', with U (d, r), s (r,) and V (k, r); scores cost d r + r k where that is less than d k."""

    factors_: Factors

    @property
    def coef_(self) -> Floats:  # type: ignore[override]
        """The weights, an ndarray of shape (k, d), multiplied out at every access."""
        U, s, V = self.factors_
        with one_thread():
            return np.asarray((V * s.astype(V.dtype)) @ U.T)

    @property
    def rank_(self) -> int:
        """The number of singular values of W above rounding, an int."""
        return len(self.factors_[1])

    @property
    def singular_values_(self) -> NDArray[np.float64]:
        """The singular values of W, the largest first, an ndarray of shape (r,)."""
        return self.factors_[1]

    @property
    def _n_features_out(self) -> int:
        return self.rank_

    def transform(self, X: Any) -> Floats:
        """Compute the latent features ``X U diag(sqrt(s))``.

        Scores are their products with the rows of ``V diag(sqrt(s))``. Both sides of W have an equal share of its
        singular values, so that classes and examples are points of one space.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.

        Returns
        -------
        ndarray of shape (n, r)
            The latent features.
        """
        matrix, (U, s, _) = self._matrix(X), self.factors_
        with np.errstate(invalid="ignore", over="ignore"):
            Z = matrix.matmat(U * np.sqrt(s).astype(U.dtype))
        _checks.finite(Z, "latent features of X")
        return Z

    def _scores(self, X: Any) -> Floats:
        matrix = self._matrix(X)
        if not self._narrow():
            return super()._scores(matrix)
        left, right = self._sides()
        with np.errstate(invalid="ignore", over="ignore"):
            Z = matrix.matmat(left)
            S: Floats = times(Z, np.ascontiguousarray(right.T, Z.dtype))
            S += self.intercept_.astype(S.dtype)
        _checks.finite(S, "scores of X")
        return S

    def _blocks(self) -> Callable[[Floats, int], Scores]:
        if not self._narrow():
            return super()._blocks()
        (left, right), intercept = self._sides(), self.intercept_

        def block(rows: Floats, start: int) -> Scores:
            Z = rows @ left.astype(rows.dtype, copy=False)
            return lambda classes: checked_scores(Z, right[classes], intercept[classes], start)

        return block

    def _sides(self) -> tuple[Floats, Floats]:
        """U diag(s) and V."""
        U, s, V = self.factors_
        return U * s.astype(U.dtype), V

    def _narrow(self) -> bool:
        """Whether the factors have fewer numbers than W."""
        k, d = self._shape()
        return self.rank_ * (d + k) < d * k

    def _shape(self) -> tuple[int, ...]:
        U, s, V = self.factors_
        if U.ndim != 2 or V.ndim != 2 or not U.shape[1] == V.shape[1] == len(s):
            raise ValueError(
                f"factors_ must have one column for each of {len(s)} singular values; got {U.shape}, {V.shape}"
            )
        return len(V), len(U)


def signed(factors: Factors) -> Factors:
    """The factors with signs such that the largest entry of every column of U is above zero."""
    U, s, V = factors
    if not len(s):
        return factors
    signs = np.sign(U[np.abs(U).argmax(axis=0), np.arange(len(s))])
    return U * signs, s, V * signs
