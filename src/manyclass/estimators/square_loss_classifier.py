"""SquareLossClassifier: ridge regression of every class, in closed form."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from manyclass._core.algebra.linalg import unit_rows
from manyclass._core.checks import check_bool, check_class_weight, check_count
from manyclass._core.models import rollback_on_error
from manyclass._core.parallel import get_threads, one_blas_thread, threads
from manyclass._core.typing import Doubles, Embeddings, Floats
from manyclass.data.inputs import open_examples
from manyclass.estimators._closed_form_updates import SUMS, ClosedFormUpdates
from manyclass.estimators.centers import as_center, check_center_scale, moved_center
from manyclass.estimators.linear_model import warn_of_chance
from manyclass.estimators.multilabel.several_labels import SeveralLabels
from manyclass.estimators.multilabel.thresholds import left_out_rules, rule_shapes
from manyclass.estimators.uncertainty.held_out import HeldOut, forget_held_out
from manyclass.estimators.validation import check_strengths, encode_known_labels, weighted_problem
from manyclass.losses.multiclass import best_temperature
from manyclass.solvers.class_moments import ClassMoments
from manyclass.solvers.closed_form import ColumnSystem, RidgeSystem, closed_form
from manyclass.solvers.leave_one_out import LeaveOneOut, left_out_scores
from manyclass.solvers.problem import Problem


class SquareLossClassifier(ClosedFormUpdates, SeveralLabels):
    """Ridge regression of every class in closed form, with the strength chosen by exact leave-one-out.

    With targets of 1 for the class of a row and -1 for all others, it minimizes the mean over rows of the squared
    errors, plus ``regularization * |W|^2``; the bias is not penalized. It is the square-loss exemplar machine with many
    positives. All strengths come from one factorization, of the covariance of the d columns or, where there are fewer,
    of the Gram matrix of the rows.

    It is for features of many more columns than there are classes. With few, a class that lies between others is masked
    by them, whatever the strength; `StochasticClassifier` is the better choice then.

    Parameters
    ----------
    regularization : float, "auto" or array-like of float, default="auto"
        Strength of the ridge, on the scale of the variance of the features, as that of `SquareLossExemplar`; several to
        choose from, or "auto" for strengths around that scale. Of those that are right about as often on rows left out
        (within half a standard error), the one of least squared error is taken.
    class_weight : None, "balanced" or dict, default=None
        Weights of classes; "balanced" stands for n / (k * examples of the class). The weight of an example is that of
        its own class, in every machine.
    keep_sums : bool, default=True
        Let `fit` keep the sums by which rows and classes are added and removed, d x d numbers, in memory and in files
        (`mean_`, `scatter_`, `class_sums_`). With fewer rows than columns there are none.
    n_threads : int, default=None
        Threads; None for `manyclass.get_threads()`. It does not change a bit of the result.
    center : array-like of shape (k, d) or dict, default=None
        Weights W0 that are known before: the penalty is ``regularization * |W - center_scale * W0|^2``. They may be
        embeddings of the names of classes, means of other examples, or an older model. A row for each class in the
        order of `classes_`, or rows by label, of which some may be missing: these are zero. An older model is
        ``dict(zip(old.classes_.tolist(), old.coef_))``.
    center_scale : float or "auto", default="auto"
        What multiplies the center; "auto" for the scale of least squared error on rows left out, 0 included, so that a
        center that is of no use is left alone.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels, sorted.
    coef_ : ndarray of shape (k, d)
        The weights.
    intercept_ : ndarray of shape (k,)
        The biases.
    n_features_in_ : int
        The number of columns of X.
    regularization_ : float
        The strength that was used.
    path_ : list of dict
        Of every strength, weakest first: "regularization", the mean squared error "loss" and the fraction "accuracy" on
        rows left out one by one, as many as "rows".
    negatives_ : ndarray of shape (m, d)
        Where there are no sums, rows with the mean and the covariance of those of the fit, at most 128.
    temperature_ : float
        The temperature T of the probabilities ``softmax(scores / T)``, which fits the rows left out best.
    center_scale_ : float
        The scale of the center that was used, if there is a center.
    class_counts_ : ndarray of int64 of shape (k,)
        The rows of each class.
    class_weights_ : ndarray of shape (k,)
        The sums of their weights; `class_prior_` has their shares.
    held_out_ : dict of str to ndarray of shape (m,)
        What is said of the rows left out: "losses", -log of the probability of their "classes", how "sure" and "near"
        they are, and "weights", all 1.
    thresholds_ : ndarray of shape (k,)
        With several labels per row: the scores above which a row is of each class.
    slopes_, offsets_ : ndarray of shape (k,)
        Likewise: the probability of a class is ``1 / (1 + exp(-(slope score + offset)))``.
    label_form_ : str
        Likewise: whether y was "lists", an "indicator" matrix or a "sparse" one.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(np.arange(20), 30)
    >>> X = rng.normal(size=(20, 16))[y] + 0.3 * rng.normal(size=(600, 16))
    >>> clf = SquareLossClassifier().fit(X, y)
    >>> clf.score(X, y) > 0.99, len(clf.path_)
    (True, 7)
    >>> fresh = SquareLossClassifier(clf.regularization_).fit(X[30:], y[30:])
    >>> np.allclose(clf.remove_classes(X[:30], y[:30]).coef_, fresh.coef_)
    True
    """

    objective = "square"  # as records call it

    regularization_: float
    center_scale_: float
    path_: list[dict[str, Any]]

    def __init__(
        self,
        regularization: Any = "auto",
        class_weight: Any = None,
        keep_sums: bool = True,
        n_threads: int | None = None,
        center: Any = None,
        center_scale: float | str = "auto",
    ):
        self.regularization = regularization
        self.class_weight = class_weight
        self.keep_sums = keep_sums
        self.n_threads = n_threads
        self.center = center
        self.center_scale = center_scale

    @rollback_on_error
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Solve for rows X with labels y; after an error or Ctrl-C the classifier is as it was before.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.
        y : array-like of shape (n,), list of list, or matrix of shape (n, k)
            Labels, or any number of them for every row: lists, or an indicator matrix, dense or sparse.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows; those of weight 0 are left out.

        Returns
        -------
        SquareLossClassifier
            The classifier itself.
        """
        with self._computing():
            problem = self._make_problem(X, y, sample_weight)
            center = self._center()
            system, moments = closed_form(problem)
            if center is not None:
                system.set_center(center)
            self._choose(system, problem, float(problem.weights[problem.index].sum(dtype=np.float64)))
            self._solve(system, problem.X.dtype)
        self._count_classes(problem)
        self._keep(moments if self.keep_sums else None)
        if problem.labels is None:
            if not hasattr(self, "scatter_"):
                self._keep_negatives(problem)
            warn_of_chance(self, problem)
        return self

    def leave_one_out(self, X: Any, y: Any, sample_weight: Any = None) -> Floats:
        """Compute the scores of every row by machines of all other rows, exactly and at the cost of one fit.

        The penalty is that of all rows: with total weight C and a row of weight c, the scores are those of a fit on the
        others with ``regularization_ * C / (C - c)``.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            The rows that the classifier was fitted on.
        y : array-like of shape (n,)
            Their labels.
        sample_weight : array-like of shape (n,), default=None
            Their weights, which must be above 0.

        Returns
        -------
        ndarray of shape (n, k), float64
            The score of every class.
        """
        check_is_fitted(self)
        with self._computing():
            matrix = open_examples(self, X)
            if self.has_several_labels:
                problem = self._list_problem(matrix, self._encode_known(y, len(matrix)), sample_weight)
            else:
                indices = encode_known_labels(y, self.classes_, len(matrix))
                problem = weighted_problem(self, matrix, indices, sample_weight)
            if len(problem) < len(matrix):
                raise ValueError("sample_weight must be above 0 for rows to be left out; got 0; leave out those rows")
            return left_out_scores(problem, self.regularization_, self._center(), getattr(self, "center_scale_", 0.0))

    def class_embeddings(self) -> Embeddings:
        """Compute the directions of the machines, for a gallery of classes.

        They are the embeddings that `SquareLossExemplar`, fitted on the same rows with the strength `regularization_`,
        gives to the means of the classes, so that images and classes are searched alike.

        Returns
        -------
        ndarray of shape (k, d), float32
            Rows of unit length.
        """
        check_is_fitted(self)
        return unit_rows(self.coef_.astype(np.float64)).astype(np.float32)

    def fitted_shapes(self, fitted: dict[str, Any]) -> dict[str, tuple[int, ...]]:
        """Return the shapes that the arrays of a saved classifier must have.

        Parameters
        ----------
        fitted : dict
            Fitted attributes by name.

        Returns
        -------
        dict of str to tuple
            Shapes by attribute.
        """
        k, d = len(fitted["classes_"]), fitted["n_features_in_"]
        sums = zip(SUMS, ((d,), (d, d), (k, d), (k,), (k,)), strict=True) if "scatter_" in fitted else ()
        kept = {"negatives_": (len(fitted["negatives_"]), d)} if "negatives_" in fitted else {}
        return {"coef_": (k, d), "intercept_": (k,), **dict(sums), **kept, **rule_shapes(fitted, k)}

    def _choose(self, system: RidgeSystem, problem: Problem, total: float) -> None:
        """Take the strength that does best on rows left out, and the temperature that fits them."""
        left_out = LeaveOneOut(system, problem, total, scale=check_center_scale(self.center_scale))
        strengths = check_strengths(self.regularization)
        found = left_out.search() if strengths is None else left_out.judge(strengths)
        best, scale = found.best(), 0.0
        self.regularization_, self.path_ = float(found.strengths[best]), found.records()
        self.__dict__.pop("center_scale_", None)
        if found.scales is not None:
            scale = self.center_scale_ = float(found.scales[best])
        forget_held_out(self)
        if problem.labels is not None:
            self._take_rules(left_out_rules(system, problem, total, self.regularization_, scale))
            return
        with one_blas_thread():
            S = left_out.scores(self.regularization_, system.B.astype(np.float32), scale)
        self.temperature_ = best_temperature(S, left_out.y, left_out.p)
        self.held_out_ = HeldOut.by_scores(lambda at: S[at].copy(), problem.d, left_out.y, self.temperature_)._asdict()

    def _center(self) -> Doubles | None:
        """W0 (d, k) of the classes that there are."""
        return None if self.center is None else as_center(self.center, self.classes_, self.n_features_in_)

    def _move_settings(self, classes: NDArray[Any], places: NDArray[np.intp]) -> None:
        if self.center is not None:
            self.center = moved_center(self.center, self.classes_, classes, places)
        super()._move_settings(classes, places)

    def _column_system(self, moments: ClassMoments) -> ColumnSystem:
        center = self._center()
        system = ColumnSystem(moments)
        if center is not None:
            system.set_center(center)
        return system

    def _solve(self, system: RidgeSystem, dtype: Any) -> None:
        W, b = system.weights(self.regularization_, getattr(self, "center_scale_", 0.0))
        self._forget_prior()
        self.__dict__.pop("imprinted_", None)
        self.coef_, self.intercept_ = np.ascontiguousarray(W.T, dtype), b.astype(dtype)

    def _link(self) -> str:
        raise AttributeError("predict_proba needs a temperature, which fit finds; call fit or calibrate")

    @contextmanager
    def _computing(self) -> Iterator[None]:
        check_strengths(self.regularization)
        check_class_weight(self.class_weight)
        check_bool(self.keep_sums, "keep_sums")
        check_center_scale(self.center_scale)
        if self.n_threads is not None:
            check_count(self.n_threads, "n_threads")
        with threads(self.n_threads or get_threads()):
            yield
