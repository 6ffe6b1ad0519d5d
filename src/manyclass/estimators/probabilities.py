"""Probabilities from scores, where they mean something."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from manyclass.data.tiles import Floats
from manyclass.estimators.labels import known_labels
from manyclass.losses.softmax import Softmax


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
        from scipy.optimize import minimize_scalar

        S = self._scores(X).astype(np.float64)  # type: ignore[attr-defined]
        codes = known_labels(y, self.classes_, len(S))

        def loss(log_temperature: float) -> float:
            return float(Softmax().value_and_gradient(S / np.exp(log_temperature), codes)[0].mean())

        self.temperature_ = float(np.exp(minimize_scalar(loss, bounds=(-8, 6), method="bounded").x))
        return self
