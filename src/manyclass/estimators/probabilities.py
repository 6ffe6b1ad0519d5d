"""What the scores of a linear classifier mean: probabilities by a link, or by a temperature of held-out rows."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from manyclass._core.typing import Floats
from manyclass.estimators.validation import encode_known_labels
from manyclass.losses.multiclass import Softmax, best_temperature
from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd.judging import softmax_temperature
from manyclass.solvers.sgd.linear_weights import LinearWeights


def has_probabilities(classifier: Any) -> bool:
    """Whether a classifier knows what its scores mean; an AttributeError says what it needs."""
    return hasattr(classifier, "temperature_") or bool(classifier._link())


class Probabilities:
    """For linear classifiers that know how their scores were learned."""

    classes_: NDArray[Any]
    temperature_: float

    def _link(self) -> str:
        """How scores become probabilities without a temperature: "softmax" or "logistic"; else an AttributeError."""
        raise NotImplementedError

    @available_if(has_probabilities)  # type: ignore[untyped-decorator]
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
        # As if one more had been wrong, lest nothing be doubted where all are right.
        self.temperature_ = best_temperature(
            S, encode_known_labels(y, self.classes_, len(S)), smoothing=1 / (1 + len(S))
        )
        return self


def held_out_temperature(machines: LinearWeights, judged: Problem) -> float | None:
    """The temperature on examples that machines have not seen, by the length of their weights; None if all are zero.

    By the length of W, as machines that see all examples for fewer or more epochs have another scale.
    """
    length = weights_length(machines.W)
    return softmax_temperature(machines, judged) / length if length else None


def weights_length(W: Floats) -> float:
    """The root of the sum of squares of W, the same to the bit for any number of threads.

    >>> weights_length(np.array([[3.0], [4.0]]))
    5.0
    """
    return float(np.sqrt(sum(np.einsum("j,j->", row, row, dtype=np.float64) for row in W)))
