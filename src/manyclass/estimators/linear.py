"""What linear classifiers have in common once they are fitted: scores, predictions, the best few classes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from manyclass._blas import in_order
from manyclass.data.matrix import Matrix
from manyclass.data.opening import as_matrix
from manyclass.data.tiles import Floats, spans


class LinearClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Scores X coef_' + intercept_; X is an array, a sparse array, a memory map, a Matrix, or a path of one."""

    classes_: NDArray[Any]
    coef_: NDArray[np.float32]  # (k, d)
    intercept_: NDArray[np.float32]  # (k,)
    n_features_in_: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _scores(self, X: Any) -> Floats:
        S = self._matrix(X).matmat(self.coef_.T)
        S += self.intercept_.astype(S.dtype)
        return S

    def _matrix(self, X: Any) -> Matrix:
        """X for a fitted classifier."""
        check_is_fitted(self)
        matrix = open_features(self, X, reset=False)
        if matrix.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {matrix.shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )
        return matrix

    def decision_function(self, X: Any) -> Floats:
        """Scores (n, k); for two classes, how much the second is above the first (n,)."""
        S = self._scores(X)
        return S[:, 1] - S[:, 0] if len(self.classes_) == 2 else S

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of highest score for each row; all scores are never held at once."""
        return self.predict_top(X, 1)[:, 0]

    def predict_top(self, X: Any, k: int = 5) -> NDArray[Any]:
        """The k classes of highest score for each row (n, k), the best first; of equals the first in `classes_`."""
        X = self._matrix(X)
        k = min(k, len(self.classes_))
        # Rows whose scores take about 8 MB.
        size = max(1, (8 << 20) // (4 * max(len(self.classes_), X.shape[1])))
        blocks = in_order(lambda at: _best(X.rows(at), self.coef_, self.intercept_, k), spans(X.shape[0], size))
        found = np.concatenate([np.zeros((0, k), np.intp), *blocks])
        return self.classes_[found]  # type: ignore[no-any-return]


def _best(rows: Floats, coef: Floats, intercept: Floats, k: int) -> NDArray[np.intp]:
    S: Floats = rows @ coef.T.astype(rows.dtype, copy=False) + intercept
    best: NDArray[np.intp] = S.argmax(axis=1)[:, None] if k == 1 else np.argsort(-S, axis=1, kind="stable")[:, :k]
    return best


def open_features(estimator: BaseEstimator, X: Any, reset: bool = True, **more: Any) -> Matrix:
    """X as a Matrix; arrays pass scikit-learn's checks on the way, and keep their dtype."""
    if isinstance(X, Matrix | str) or hasattr(X, "__fspath__"):
        matrix = as_matrix(X)
        if reset:
            estimator.n_features_in_ = matrix.shape[1]
        return matrix
    return as_matrix(validate_data(estimator, X, accept_sparse="csr", reset=reset, **more))
