"""What the scores of a linear classifier mean: probabilities by a link, or by a temperature of held-out rows."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from manyclass._core.typing import Floats
from manyclass.data.dense import DenseMatrix
from manyclass.estimators.uncertainty.held_out import HeldOut, forget_held_out, some_rows
from manyclass.estimators.uncertainty.known_classes import KnownClasses
from manyclass.estimators.uncertainty.prediction_sets import PredictionSets
from manyclass.estimators.uncertainty.pseudo_unknowns import MOST_HELD_OUT, best_view
from manyclass.estimators.uncertainty.unknowns import Unknowns
from manyclass.estimators.validation import encode_known_labels, validation_problem
from manyclass.losses.multiclass import Softmax, best_temperature
from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd.judging import softmax_temperature
from manyclass.solvers.sgd.linear_weights import LinearWeights

if TYPE_CHECKING:
    from manyclass.estimators.heads.taxonomy import Taxa


def has_probabilities(classifier: Any) -> bool:
    """Whether a classifier knows what its scores mean; an AttributeError says what it needs."""
    return hasattr(classifier, "temperature_") or bool(classifier._link())


class Probabilities(PredictionSets, Unknowns):
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

    @available_if(has_probabilities)  # type: ignore[untyped-decorator]
    def predict_taxon(self, X: Any, taxonomy: Any, confidence: float = 0.8) -> "Taxa":
        """Predict the deepest node of a tree above the classes that is sure enough.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.
        taxonomy : Taxonomy, mapping, path or list
            The tree, a mapping of nodes to their parents, the path of a CSV file with the columns child and parent, or
            a list of label paths such as "plant/tree/oak".
        confidence : float, default=0.8
            What is sure enough: a probability, above 0 and at most 1.

        Returns
        -------
        Taxa
            The names of the nodes, the root if nothing else is sure enough, their probabilities and depths.
        """
        from manyclass.estimators.heads.taxonomy import as_taxonomy

        return as_taxonomy(taxonomy).predict(self, X, confidence)

    def calibrate(self, X: Any, y: Any, known: tuple[Any, Any] | None = None) -> Self:
        """Find the temperature T at which ``softmax(scores / T)`` fits these labels best; keep what is said of them.

        By the latter `predict_set` and `unknown_p_values` judge other rows. `fit`, `partial_fit`, and `add_classes` of
        a `StochasticClassifier`, forget both.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Rows that `fit` has not seen; of so many that their scores are more than 16 million, some, and with
            `known` 16,384 at most.
        y : array-like of shape (n,)
            Their labels.
        known : tuple of (X, y), default=None
            Rows that `fit` has seen, some of every class, and their labels. With them `unknown_p_values` goes by
            distances to classes too, which takes d x d numbers (`known_classes_`), in memory and in files; or by those
            to the nearest of these rows, of which up to 16 MB are kept then. Which of the two, and how much
            probabilities count beside it, is decided by X, judged as if its own class were unknown.

        Returns
        -------
        object
            The classifier itself, with `temperature_` and `held_out_`.
        """
        matrix = self._matrix(X)  # type: ignore[attr-defined]
        classes = encode_known_labels(y, self.classes_, len(matrix))
        index = some_rows(len(matrix), len(self.classes_), None if known is None else MOST_HELD_OUT)
        if not len(index):
            raise ValueError("X must have a row to calibrate by; got none")
        S, classes = self._scores(DenseMatrix(matrix.rows(index))), classes[index]  # type: ignore[attr-defined]
        learned = None if known is None else validation_problem(self, known, "known")
        found = None if learned is None else KnownClasses.of_rows(learned.X, learned.y, learned.k)
        forget_held_out(self)
        # As if one more had been wrong, lest nothing be doubted where all are right.
        self.temperature_ = best_temperature(S.astype(np.float64), classes, smoothing=1 / (1 + len(S)))
        held_out = HeldOut.by_scores(lambda at: S[at].copy(), matrix.shape[1], classes, self.temperature_)
        if learned is not None and found is not None:
            rows, machines = DenseMatrix(matrix.rows(index)), (S, self.temperature_)
            found, held_out = best_view(found, (learned.X, learned.y), rows, machines, held_out)
            self.known_classes_ = found._asdict()
        self.held_out_ = held_out._asdict()
        return self


def judge_held_out(machines: LinearWeights, judged: Problem, sizes: Any) -> tuple[float | None, dict[str, Any] | None]:
    """(the temperature by the length of weights, what is said) of examples that machines have not seen, or None.

    Classes count by their sizes (k,), or as they are held out if these are None.
    """
    temperature = held_out_temperature(machines, judged)
    if temperature is None:
        return None, None
    return temperature, held_out_examples(machines, judged, temperature, sizes)._asdict()


def held_out_temperature(machines: LinearWeights, judged: Problem) -> float | None:
    """The temperature on examples that machines have not seen, by the length of their weights; None if all are zero.

    By the length of W, as machines that see all examples for fewer or more epochs have another scale.
    """
    length = weights_length(machines.W)
    return softmax_temperature(machines, judged) / length if length else None


def held_out_examples(machines: LinearWeights, judged: Problem, temperature: float, sizes: Any) -> HeldOut:
    """What machines say of examples that they have not seen; the temperature is by the length of their weights."""
    index = judged.index[some_rows(len(judged), judged.k)]

    def scores(at: slice) -> Floats:
        rows = judged.X.rows(index[at]).astype(np.float32, copy=False)
        S: Floats = rows @ machines.W.T
        S += machines.biases
        return S

    return HeldOut.by_scores(scores, judged.d, judged.y[index], temperature * weights_length(machines.W), sizes)


def weights_length(W: Floats) -> float:
    """The root of the sum of squares of W, the same to the bit for any number of threads.

    >>> weights_length(np.array([[3.0], [4.0]]))
    5.0
    """
    return float(np.sqrt(sum(np.einsum("j,j->", row, row, dtype=np.float64) for row in W)))
