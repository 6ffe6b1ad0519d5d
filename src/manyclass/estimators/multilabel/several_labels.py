"""Several labels per row: y as lists of labels or an indicator matrix; thresholds and probabilities of classes."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from manyclass._core.errors import SettingsError
from manyclass._core.label_lists import LabelLists, LabelPairs, holds_lists
from manyclass._core.typing import Doubles, Floats
from manyclass.data.inputs import read_examples, remember_scale
from manyclass.data.matrix import Matrix, spans
from manyclass.estimators.linear_model import LinearModel, finite_scores
from manyclass.estimators.multilabel.thresholds import RULES, ScoreRules
from manyclass.estimators.prior_adjustment import PriorAdjustment
from manyclass.estimators.probabilities import has_probabilities
from manyclass.estimators.validation import check_labels, encode_known_labels, example_weights, make_problem
from manyclass.solvers.problem import Problem

_SCORES = 1 << 22  # that are held at a time


def _has_class_probabilities(classifier: Any) -> bool:
    if not hasattr(classifier, "label_form_"):
        return has_probabilities(classifier)
    if hasattr(classifier, "slopes_"):
        return True
    raise AttributeError("predict_proba needs rows that fit has not seen: early_stopping=True, or a call to calibrate")


class SeveralLabels(PriorAdjustment, LinearModel):
    """For linear classifiers whose classes do not compete, so that a row may have several of them, or none.

    Which it is, y of `fit` says: with lists of labels or an indicator matrix, `predict` gives the same again.
    """

    class_weight: Any
    label_form_: str
    thresholds_: Doubles
    slopes_: Doubles
    offsets_: Doubles

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self._has_apart_classes()
        return tags

    @property
    def has_several_labels(self) -> bool:
        """Whether rows had any number of labels when it was fitted, a bool."""
        return hasattr(self, "label_form_")

    def decision_function(self, X: Any) -> Floats:
        """Compute the scores ``X coef_' + intercept_``.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.

        Returns
        -------
        ndarray of shape (n, k) or (n,)
            The score of every class; for two classes that compete, that of the second minus that of the first.
        """
        return self._scores(X) if self.has_several_labels else super().decision_function(X)

    def predict(self, X: Any, unknown: float | None = None) -> Any:
        """Predict the class of highest score for each row; or, of any number of labels, all above their thresholds.

        All scores are never held at once.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.
        unknown : float, default=None
            With one label per row: say None of rows that look as strange as this part of those of known classes.

        Returns
        -------
        ndarray of shape (n,), ndarray or sparse matrix of shape (n, k), or list of list
            The classes; with several labels per row an indicator matrix, or lists of labels, as y of `fit` was.
        """
        if not self.has_several_labels:
            return super().predict(X, unknown)
        if unknown is not None:
            raise ValueError(f"unknown must be None for several labels per row, which may be none; got {unknown!r}")
        return self._as_given(self.predict_lists(X))

    def predict_lists(self, X: Any) -> LabelLists:
        """Predict the positions in `classes_` of all labels of each row.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.

        Returns
        -------
        LabelLists
            The positions, whatever y of `fit` was.
        """
        matrix = self._matrix(X)
        parts = spans(len(matrix), max(1, _SCORES // len(self.classes_)))
        return LabelLists.join([LabelLists.above(self._block(matrix, at), self.thresholds_) for at in parts])

    @available_if(_has_class_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Compute the probability of every class.

        Of classes that compete they add up to 1: by the softmax and logistic losses, or after `calibrate`. Logistic
        machines give each class a probability of its own; these are divided by their sum. Where rows have any number of
        labels, each class has a probability of its own, ``1 / (1 + exp(-(slope score + offset)))``.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.

        Returns
        -------
        ndarray of shape (n, k)
            The probability of every class.
        """
        if not self.has_several_labels:
            return super().predict_proba(X)  # type: ignore[no-any-return]
        S = self._scores(X)
        S *= self.slopes_.astype(S.dtype)
        S += self.offsets_.astype(S.dtype)
        # Neither 0 nor 1, which nothing can be sure of.
        return 1 / (1 + np.exp(-np.clip(S, -15, 15)))

    def calibrate(self, X: Any, y: Any, known: tuple[Any, Any] | None = None) -> Self:
        """Find what scores mean by rows that `fit` has not seen, which `fit` and all other learning forgets.

        That is the temperature T at which ``softmax(scores / T)`` fits their labels best; or, with several labels per
        row, the threshold of every class and its probabilities.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Rows that `fit` has not seen.
        y : array-like of shape (n,), or what `fit` takes for several labels per row
            Their labels.
        known : tuple of (X, y), default=None
            With one label per row: rows that `fit` has seen, for `unknown_p_values`.

        Returns
        -------
        object
            The classifier itself, with `temperature_` and `held_out_`, or `thresholds_`.
        """
        if not self.has_several_labels:
            return super().calibrate(X, y, known)
        if known is not None:
            raise ValueError("known must be None for several labels per row, which may be none")
        matrix = self._matrix(X)
        labels = self._encode_known(y, len(matrix))

        def scores(classes: NDArray[np.intp]) -> Floats:
            parts = [self._block(matrix, at, classes) for at in spans(len(matrix), max(1, _SCORES // len(classes)))]
            return np.concatenate(parts).T

        rules, counts = ScoreRules.learn(scores, labels, len(self.classes_)), getattr(self, "class_counts_", None)
        return self._take_rules(rules if counts is None else rules.never(counts == 0))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Compute the accuracy: the fraction of rows whose labels are predicted, all of them and no others.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.
        y : array-like of shape (n,), or what `fit` takes for several labels per row
            Their labels.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows.

        Returns
        -------
        float
            The accuracy.
        """
        if not self.has_several_labels:
            return float(super().score(X, y, sample_weight))
        found = self.predict_lists(X)
        truth = self._encode_known(y, len(found))
        same = found.hits(truth)
        return float(np.average((same == found.counts) & (same == truth.counts), weights=sample_weight))

    def _make_problem(self, X: Any, y: Any, sample_weight: Any) -> Problem:
        """The examples to learn from; the estimator learns its classes and columns, and whether labels are lists."""
        for name in ("label_form_", *RULES):
            self.__dict__.pop(name, None)
        if not holds_lists(y):
            return make_problem(self, X, y, sample_weight)
        self._check_several_labels()
        matrix = read_examples(self, X, reset=True)
        pairs = _check_pairs(LabelPairs.of(y), len(matrix))
        self.classes_, places = _encode_pairs(pairs)
        self.label_form_ = pairs.form
        remember_scale(self, matrix)
        return self._list_problem(matrix, LabelLists.of_pairs(pairs.rows, places, pairs.n), sample_weight)

    def _list_problem(self, matrix: Matrix, labels: LabelLists, sample_weight: Any) -> Problem:
        """Rows with their lists of classes, those whose weight is above 0."""
        weights = example_weights(np.zeros(len(labels), np.int32), self.classes_, None, sample_weight)
        problem = Problem.of_lists(matrix, labels, len(self.classes_), weights)
        return problem.part(np.flatnonzero(weights > 0))

    def _check_several_labels(self) -> None:
        """Refuse settings that mean nothing where rows have any number of labels."""
        if self.class_weight is not None:
            raise SettingsError(
                "class_weight must be None for several labels per row, as the weight of a row would be that of one of "
                f"them; got {self.class_weight!r}; use sample_weight, or leave rare classes to their thresholds"
            )

    def _has_apart_classes(self) -> bool:
        """Whether its classes do not compete."""
        return True

    def _check_changeable(self) -> None:
        super()._check_changeable()
        self._check_one_label("a change of classes")

    def _check_all_learned(self) -> None:
        self._check_one_label("set_prior")
        super()._check_all_learned()

    def _check_one_label(self, task: str) -> None:
        """Refuse what is there for one label per row alone."""
        if self.has_several_labels:
            raise ValueError(f"{task} needs one label per row; this classifier was fitted with several; call fit")

    def _encode_known(self, y: Any, n: int) -> LabelLists:
        """Positions of the labels of n rows in `classes_`, which must have them."""
        pairs = _check_pairs(LabelPairs.of(y), n)
        if pairs.columns is None:
            if not len(pairs.rows):
                return LabelLists.of_pairs([], [], n)
            return LabelLists.of_pairs(pairs.rows, encode_known_labels(pairs.labels, self.classes_, len(pairs.rows)), n)
        if pairs.columns != len(self.classes_):
            raise ValueError(f"y must have a column for each of {len(self.classes_)} classes; got {pairs.columns}")
        return LabelLists.of_pairs(pairs.rows, pairs.labels, n)

    def _ranking_weights(self) -> tuple[Floats, Floats]:
        """Those of the logarithms of odds, where they are known: classes that do not compete share no scale."""
        coef, intercept = super()._ranking_weights()
        if not self.has_several_labels or not hasattr(self, "slopes_"):
            return coef, intercept
        slopes = self.slopes_.astype(coef.dtype)
        return coef * slopes[:, None], intercept * slopes + self.offsets_.astype(intercept.dtype)

    def _take_rules(self, rules: ScoreRules) -> Self:
        for name, values in zip(RULES, rules, strict=True):
            self.__dict__.pop(name, None)
            if len(values):
                setattr(self, name, values)
        return self

    def _block(self, matrix: Matrix, at: slice, classes: Any = slice(None)) -> Floats:
        return finite_scores(matrix.rows(at), self.coef_[classes], self.intercept_[classes], at.start)

    def _as_given(self, found: LabelLists) -> Any:
        """Predictions in the form of y of `fit`."""
        if self.label_form_ == "lists":
            labels = self.classes_[found.classes].tolist()
            return [labels[a:b] for a, b in zip(found.starts[:-1].tolist(), found.starts[1:].tolist(), strict=True)]
        if self.label_form_ == "indicator":
            return found.indicator(len(self.classes_), np.int64)
        from scipy.sparse import csr_matrix

        shape = (len(found), len(self.classes_))
        return csr_matrix((np.ones(len(found.classes), np.int64), found.classes, found.starts), shape)


def _check_pairs(pairs: LabelPairs, n: int) -> LabelPairs:
    if pairs.n != n:
        raise ValueError(f"y must have labels for every row of X ({n}); got {pairs.n}, inconsistent numbers of samples")
    return pairs


def _encode_pairs(pairs: LabelPairs) -> tuple[NDArray[Any], NDArray[Any]]:
    """(classes, the position of every label in them)."""
    if pairs.columns is not None:
        classes: NDArray[Any] = np.arange(pairs.columns)
        places: NDArray[Any] = pairs.labels
    else:
        labels = check_labels(pairs.labels, len(pairs.rows)) if len(pairs.rows) else np.zeros(0, np.int64)
        classes, places = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y must hold at least two classes; got {len(classes)}")
    return classes, places
