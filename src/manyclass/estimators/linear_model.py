"""What linear classifiers have in common once they are fitted: scores, predictions, probabilities, files.

`LinearModel` gives scores and the best few classes, `Probabilities` what scores mean where that is known.
"""

import os
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from manyclass._core.checks import check_count, check_finite
from manyclass._core.typing import Floats
from manyclass.data.inputs import open_features
from manyclass.data.matrix import Matrix
from manyclass.estimators.validation import encode_known_labels
from manyclass.losses.multiclass import Softmax, describe_loss, loss_from_description
from manyclass.penalties.norms import describe_penalty, penalty_from_description
from manyclass.solvers.problem import Scorer
from manyclass.solvers.sgd.descent import top_classes


def describe_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    """Replace losses and penalties among parameters by dictionaries that describe them.

    Parameters
    ----------
    parameters : dict
        The parameters of an estimator.

    Returns
    -------
    dict
        The parameters as values that JSON can hold.

    Examples
    --------
    >>> from manyclass.penalties.norms import TraceNorm
    >>> describe_parameters({"penalty": TraceNorm(0.5), "loss": "softmax"})
    {'penalty': {'TraceNorm': 0.5}, 'loss': 'softmax'}
    """
    plain = dict(parameters)
    if "penalty" in plain and not isinstance(plain["penalty"], str):
        plain["penalty"] = describe_penalty(plain["penalty"])
    if "loss" in plain and not isinstance(plain["loss"], str):
        plain["loss"] = describe_loss(plain["loss"])
    return plain


def restore_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    """Restore what `describe_parameters` was given.

    Parameters
    ----------
    parameters : dict
        What `describe_parameters` returned.

    Returns
    -------
    dict
        The parameters of an estimator.
    """
    objects = dict(parameters)
    if isinstance(objects.get("penalty"), dict):
        objects["penalty"] = penalty_from_description(objects["penalty"])
    if isinstance(objects.get("loss"), dict):
        objects["loss"] = loss_from_description(objects["loss"])
    return objects


class LinearModel(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Scores X coef_' + intercept_; X is an array, a sparse array, a memory map, a Matrix, or a path of one."""

    classes_: NDArray[Any]
    coef_: NDArray[np.float32]  # (k, d)
    intercept_: NDArray[np.float32]  # (k,)
    n_features_in_: int

    # Losses and penalties among the parameters, as a file of the model has them, and back.
    plain_parameters = staticmethod(describe_parameters)
    parameters_of = staticmethod(restore_parameters)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _scores(self, X: Any) -> Floats:
        matrix = self._matrix(X)
        with np.errstate(invalid="ignore", over="ignore"):
            S = matrix.matmat(self.coef_.T)
            S += self.intercept_.astype(S.dtype)
        check_finite(S, "scores of X")
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
        k = min(check_count(k, "k"), len(self.classes_))
        block = self._blocks()
        with np.errstate(invalid="ignore", over="ignore"):
            found = top_classes(lambda at: block(X.rows(at), at.start), X.shape, len(self.classes_), k)
        return self.classes_[found]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted classifier to one safetensors file, which `manyclass.load` reads.

        Parameters
        ----------
        path : str or os.PathLike
            The file.
        """
        from manyclass._core.models import save_model

        save_model(self, path)

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

    def _blocks(self) -> Callable[[Floats, int], Scorer]:
        """The scores of some rows, of which the second argument is the number of the first."""
        coef, intercept = self.coef_, self.intercept_

        def block(rows: Floats, start: int) -> Scorer:
            return lambda classes: finite_scores(rows, coef[classes], intercept[classes], start)

        return block

    def _shape(self) -> tuple[int, ...]:
        """That of coef_, (k, d)."""
        return np.shape(self.coef_)


def finite_scores(rows: Floats, coef: Floats, intercept: Floats, start: int) -> Floats:
    """rows coef' + intercept, all of them finite; `start` is the number of the first row."""
    S: Floats = rows @ coef.T.astype(rows.dtype, copy=False)
    S += intercept
    check_finite(S, "scores of X", start)
    return S


def _has_probabilities(classifier: Any) -> bool:
    return hasattr(classifier, "temperature_") or bool(classifier._link())


class Probabilities:
    """For linear classifiers that know how their scores were learned."""

    classes_: NDArray[Any]
    temperature_: float

    def _link(self) -> str:
        """How scores become probabilities without a temperature: "softmax" or "logistic"; else an AttributeError."""
        raise NotImplementedError

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Compute probabilities, for the softmax and logistic losses, or after `calibrate`.

        Logistic machines give each class a probability of its own; these are divided by their sum.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.

        Returns
        -------
        ndarray of shape (n, k)
            The probability of every class.
        """
        S = self._scores(X)  # type: ignore[attr-defined]
        if hasattr(self, "temperature_"):
            S /= S.dtype.type(self.temperature_)
        elif self._link() == "logistic":
            # Of logarithms, lest all of a row vanish together.
            S = -np.logaddexp(0, -S)
        return Softmax().probabilities(S)

    def calibrate(self, X: Any, y: Any) -> Self:
        """Find the temperature T at which ``softmax(scores / T)`` fits these labels best.

        `fit`, `partial_fit` and `add_classes` forget it.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Rows that `fit` has not seen.
        y : array-like of shape (n,)
            Their labels.

        Returns
        -------
        object
            The classifier itself, with `temperature_`.
        """
        S = self._scores(X).astype(np.float64)  # type: ignore[attr-defined]
        self.temperature_ = best_temperature(S, encode_known_labels(y, self.classes_, len(S)))
        return self


def best_temperature(S: Floats, y: NDArray[np.int32]) -> float:
    """The T at which softmax(S / T) of scores S (n, k) fits the classes y (n,) best."""
    from scipy.optimize import minimize_scalar

    def loss(log_temperature: float) -> float:
        T = S.dtype.type(np.exp(log_temperature))
        return float(Softmax().value_and_gradient(S / T, y)[0].mean())

    return float(np.exp(minimize_scalar(loss, bounds=(-8, 6), method="bounded").x))
