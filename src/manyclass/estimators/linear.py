"""What linear classifiers have in common once they are fitted: scores, predictions, the best few classes."""

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from manyclass import _checks
from manyclass.data.inputs import open_features
from manyclass.data.matrix import Matrix
from manyclass.data.tiles import Floats
from manyclass.estimators.plain_formulas import as_objects, as_plain
from manyclass.solvers.best_classes import Scores, best_classes


class LinearModel(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Scores X coef_' + intercept_; X is an array, a sparse array, a memory map, a Matrix, or a path of one."""

    classes_: NDArray[Any]
    coef_: NDArray[np.float32]  # (k, d)
    intercept_: NDArray[np.float32]  # (k,)
    n_features_in_: int

    # Losses and penalties among the parameters, as a file of the model has them, and back.
    plain_parameters = staticmethod(as_plain)
    parameters_of = staticmethod(as_objects)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _scores(self, X: Any) -> Floats:
        matrix = self._matrix(X)
        with np.errstate(invalid="ignore", over="ignore"):
            S = matrix.matmat(self.coef_.T)
            S += self.intercept_.astype(S.dtype)
        _checks.finite(S, "scores of X")
        return S

    def _matrix(self, X: Any) -> Matrix:
        """X for a fitted classifier."""
        check_is_fitted(self)
        return open_features(self, X)

    def decision_function(self, X: Any) -> Floats:
        """Compute the scores ``X coef_' + intercept_``.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.

        Returns
        -------
        ndarray of shape (n, k) or (n,)
            The score of every class; for two classes, that of the second minus that of the first.
        """
        S = self._scores(X)
        return S[:, 1] - S[:, 0] if len(self.classes_) == 2 else S

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of highest score for each row.

        All scores are never held at once.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.

        Returns
        -------
        ndarray of shape (n,)
            The classes.
        """
        return self.predict_top(X, 1)[:, 0]

    def predict_top(self, X: Any, k: int = 5) -> NDArray[Any]:
        """Predict the k classes of highest score for each row, the best first.

        Of equal scores the class that is first in `classes_` comes first.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.
        k : int, default=5
            How many classes; all if there are fewer.

        Returns
        -------
        ndarray of shape (n, k)
            The classes.
        """
        X = self._matrix(X)
        k = min(_checks.count(k, "k"), len(self.classes_))
        block = self._blocks()
        with np.errstate(invalid="ignore", over="ignore"):
            found = best_classes(lambda at: block(X.rows(at), at.start), X.shape, len(self.classes_), k)
        return self.classes_[found]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted classifier to one safetensors file, which `manyclass.load` reads.

        Parameters
        ----------
        path : str or os.PathLike
            The file.
        """
        from manyclass._models import save

        save(self, path)

    def to_onnx(self, path: str | os.PathLike[str], top: int = 5) -> None:
        """Write the fitted classifier as an ONNX graph.

        Its input is `X`, its outputs are `label`, `top_labels`, `scores` and, where there are some, `probabilities`.

        Parameters
        ----------
        path : str or os.PathLike
            The file.
        top : int, default=5
            How many classes `top_labels` has for each row.
        """
        from manyclass.estimators.onnx_export import export_onnx

        export_onnx(self, path, top)

    def _blocks(self) -> Callable[[Floats, int], Scores]:
        """The scores of some rows, of which the second argument is the number of the first."""
        coef, intercept = self.coef_, self.intercept_

        def block(rows: Floats, start: int) -> Scores:
            return lambda classes: checked_scores(rows, coef[classes], intercept[classes], start)

        return block

    def _shape(self) -> tuple[int, ...]:
        """That of coef_, (k, d)."""
        return np.shape(self.coef_)


def checked_scores(rows: Floats, coef: Floats, intercept: Floats, start: int) -> Floats:
    """rows coef' + intercept, all of them finite; `start` is the number of the first row."""
    S: Floats = rows @ coef.T.astype(rows.dtype, copy=False)
    S += intercept
    _checks.finite(S, "scores of X", start)
    return S
