"""What linear classifiers have in common once they are fitted: scores, predictions, files."""

import os
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from manyclass._core.checks import check_count, check_finite
from manyclass._core.typing import Floats
from manyclass.data.dense import DenseMatrix
from manyclass.data.inputs import RowScale, open_features, scale_limits
from manyclass.data.matrix import Matrix, spans
from manyclass.estimators.class_updates import ClassUpdates
from manyclass.solvers.problem import Problem
from manyclass.solvers.row_sums import Scorer
from manyclass.solvers.sgd.top_k import top_classes
from manyclass.solvers.shortlist import SCORES, top_by_shortlist

if TYPE_CHECKING:
    from manyclass.estimators.heads.quantized_head import QuantizedHead


class LinearModel(ClassUpdates, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
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

        Of equal scores the class that is first in `classes_` comes first. Where there are thousands of rows and of
        classes, packed weights tell which classes come near the best, and only those are scored by `coef_`; of the
        classes that are found, fewer than one in a thousand is another than all scores would give.

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
        k = min(check_count(k, "k"), len(self.intercept_))
        with np.errstate(invalid="ignore", over="ignore"):
            found = self._shortlisted(X, k)
            if found is None:
                block = self._blocks()
                found = top_classes(lambda at: block(X.rows(at), at.start), X.shape, len(self.classes_), k)
        return self._labels_at(found)

    def _labels_at(self, found: NDArray[Any]) -> NDArray[Any]:
        """The labels of classes, by their numbers."""
        return np.asarray(self.classes_[found])

    def _shortlisted(self, X: Matrix, k: int) -> NDArray[Any] | None:
        """The k best classes of each row, where there is a faster way than all scores."""
        if len(X) * len(self.classes_) < SCORES:
            return None
        return top_by_shortlist(X.rows, X.shape, *self._ranking_weights(), k)

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

    def compress(self, bits: int = 8, path: str | os.PathLike[str] | None = None, rows: Any = None) -> "QuantizedHead":
        """Make a small head of the fitted classifier, which keeps its weights by a few bits each.

        Parameters
        ----------
        bits : {4, 8, 12, 16}, default=8
            Bits of a weight.
        path : str or os.PathLike, default=None
            A file to make the head in, from which it is then mapped; None to make it in memory.
        rows : matrix-like of shape (m, d), default=None
            Some rows such as it will meet; with their mean known, fewer classes need a second look.

        Returns
        -------
        QuantizedHead
            The head, with the same labels and probabilities.
        """
        from manyclass.estimators.heads.quantized_head import QuantizedHead

        return QuantizedHead.from_classifier(self, bits, path, rows)

    def _blocks(self, intercept: Floats | None = None) -> Callable[[Floats, int], Scorer]:
        """The scores of some rows, of which the second argument is the number of the first; biases may be others."""
        coef, ranking = self._ranking_weights()
        intercept = ranking if intercept is None else intercept

        def block(rows: Floats, start: int) -> Scorer:
            return lambda classes: finite_scores(rows, coef[classes], intercept[classes], start)

        return block

    def _ranking_weights(self) -> tuple[Floats, Floats]:
        """Weights (k, d) and biases (k,) by whose scores classes are ranked."""
        return self.coef_, self.intercept_

    def _shape(self) -> tuple[int, ...]:
        """That of coef_, (k, d)."""
        return np.shape(self.coef_)


def finite_scores(rows: Floats, coef: Floats, intercept: Floats, start: int) -> Floats:
    """rows coef' + intercept, all of them finite; `start` is the number of the first row."""
    S: Floats = rows @ coef.T.astype(rows.dtype, copy=False)
    S += intercept
    check_finite(S, "scores of X", start)
    return S


_LEAST_ROWS = 200  # of fewer, chance alone gives a sample of two classes 7 % more

_FIRST_LOOK = 128  # rows, enough for most classifiers, at a fourth of the time of all that are looked at


def warn_of_chance(classifier: Any, problem: Problem) -> None:
    """Tell of a fitted classifier that is no better than chance on the rows that it was fitted on; by a sample of them.

    Chance is to guess the most frequent class, or any; a classifier of rare classes may be no better than the former,
    and one of frequent classes no better than the latter, so it must be neither.
    """
    if len(problem.index) < _LEAST_ROWS or len(classifier.classes_) < problem.k:  # of a part of them it cannot be told
        return
    if _Guesses.of(classifier, problem, _FIRST_LOOK).is_better(3):
        return
    sample = _Guesses.of(classifier, problem, 512)
    # Where the scale of the rows is the reason, that is told already.
    several = len(np.unique(sample.y)) > 1
    if several and not sample.is_better(2) and not RowScale.of(problem.X).troubles(scale_limits(classifier)):
        warnings.warn(
            f"{type(classifier).__name__} is right on {100 * sample.right.mean():.3g} % of {len(sample.y)} rows that "
            f"it has seen, no better than to guess one class for all ({100 * sample.most:.3g} %); see whether the "
            "labels belong to these rows in their order, whether the columns of X need a scale, and whether a penalty "
            "or a step is too large",
            UserWarning,
            stacklevel=4,
        )


class _Guesses(NamedTuple):
    """Labels (n,) of rows that a classifier of k classes was fitted on, and whether it is right."""

    y: NDArray[Any]
    right: NDArray[np.bool_]
    k: int

    @classmethod
    def of(cls, classifier: Any, problem: Problem, size: int) -> "_Guesses":
        """So many, evenly spaced, or all."""
        n = len(problem.index)
        index = problem.index[np.linspace(0, n - 1, min(n, size)).astype(np.intp)]
        y = classifier.classes_[problem.y[index]]
        # A few at a time where they are long, lest they be a copy of all that there are.
        parts = spans(len(index), max(1, (1 << 22) // problem.X.shape[1]))
        found = np.concatenate([classifier.predict(DenseMatrix(problem.X.rows(index[at]))) for at in parts])
        return cls(y, found == y, len(classifier.classes_))

    @property
    def most(self) -> float:
        """The share of the most frequent class."""
        return float(np.unique(self.y, return_counts=True)[1].max() / len(self.y))

    def is_better(self, deviations: float) -> bool:
        """Whether it is by so many standard deviations above chance, over all rows or over classes.

        To guess one class is right on all rows of one of the classes of the sample.
        """
        _, places, counts = np.unique(self.y, return_inverse=True, return_counts=True)
        each, k = np.bincount(places, self.right) / counts, self.k
        spread = np.sqrt((1 - 1 / k) / k * (1 / counts).sum()) / len(counts)
        chance = self.most + deviations * np.sqrt(self.most * (1 - self.most) / len(self.y))
        return bool(self.right.mean() > chance or each.mean() > 1 / len(counts) + deviations * spread)
