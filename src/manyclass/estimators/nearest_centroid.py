"""NearestCentroid: the class whose mean is nearest, by angle or by distance."""

from contextlib import closing
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from manyclass._core.algebra.linalg import unit_rows
from manyclass._core.checks import check_count, check_one_of
from manyclass._core.models import rollback_on_error
from manyclass._core.parallel import get_threads, threads
from manyclass._core.typing import Doubles
from manyclass.data.inputs import open_examples
from manyclass.data.views import UnitRows
from manyclass.estimators.class_updates import class_counts
from manyclass.estimators.linear_model import LinearModel
from manyclass.estimators.validation import check_labels, encode_new_labels, example_weights, make_problem
from manyclass.solvers.class_moments import weighted_rows
from manyclass.solvers.problem import Problem
from manyclass.solvers.row_blocks import open_blocks

METRICS = ("cosine", "euclidean")

_NEVER = -1e30  # the bias of a class without any weight, which is never the nearest


class NearestCentroid(LinearModel):
    """The class whose mean is nearest.

    It takes one pass over the rows and has nothing to tune, which makes it the first thing to compare with. By both
    metrics scores are linear in a row, so that it is saved and exported like every other classifier. By "cosine" the
    weights are the means of rows of unit length, themselves brought to unit length; by "euclidean" they are the means
    m, with biases ``-|m|^2 / 2``, and the answers those of scikit-learn's NearestCentroid. Squares of float32 rows that
    are a hundred times as far from the origin as from one another lose their digits: subtract the mean of all first.

    Parameters
    ----------
    metric : {"cosine", "euclidean"}, default="cosine"
        By which a mean is near.
    n_threads : int, default=None
        Threads; None for `manyclass.get_threads()`. It does not change a bit of the result.

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

    Examples
    --------
    >>> X, y = np.array([[1.0, 0.0], [3.0, 1.0], [0.0, 2.0]]), ["a", "a", "b"]
    >>> NearestCentroid().fit(X, y).predict([[1.0, 3.0]])
    array(['b'], dtype='<U1')
    """

    objective = "nearest mean"  # as records call it
    class_weight = None  # on which a mean does not depend

    def __init__(self, metric: str = "cosine", n_threads: int | None = None):
        self.metric = metric
        self.n_threads = n_threads

    @rollback_on_error
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Compute the means of rows X with labels y; after an error the classifier is as it was before.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.
        y : array-like of shape (n,)
            Labels.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows; a class must have one above 0.

        Returns
        -------
        NearestCentroid
            The classifier itself.
        """
        check_one_of(self.metric, "metric", METRICS)
        if self.n_threads is not None:
            check_count(self.n_threads, "n_threads")
        with threads(self.n_threads or get_threads()):
            problem = make_problem(self, X, y, sample_weight)
            means, weights = class_means(problem, self.metric)
        W, b = self._of_means(means)
        dtype = problem.X.dtype
        self.coef_, self.intercept_ = W.astype(dtype), np.where(weights > 0, b, _NEVER).astype(dtype)
        return self

    @rollback_on_error
    def imprint_classes(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add the means of new classes: what a fit on all rows would give.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Rows of new classes; those of old classes are left out.
        y : array-like of shape (n,)
            Labels.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows; those of weight 0 are left out.

        Returns
        -------
        NearestCentroid
            The classifier itself.
        """
        check_is_fitted(self)
        matrix = open_examples(self, X)
        new, indices = encode_new_labels(check_labels(y, len(matrix)), self.classes_)
        weights = example_weights(indices, np.arange(len(new) + 1), None, sample_weight)
        used = np.flatnonzero((indices < len(new)) & (weights > 0))
        counts = class_counts(indices[used], new)
        means, _ = class_means(Problem.whole(matrix, indices, len(new) + 1, weights).part(used), self.metric)
        self._append_machines(new, *self._of_means(means[:-1]), counts)
        return self

    def _of_means(self, means: Doubles) -> tuple[Doubles, Doubles]:
        """Weights (k, d) and biases (k,) by which the nearest mean has the largest score."""
        if self.metric == "cosine":
            return unit_rows(means), np.zeros(len(means))
        return means, -0.5 * np.einsum("ij,ij->i", means, means)


def class_means(problem: Problem, metric: str) -> tuple[Doubles, Doubles]:
    """The weighted means (k, d) of the rows of each class, of unit length for "cosine", and their weights (k,)."""
    X, labels, c = weighted_rows(problem)
    weights = np.bincount(labels.classes, c[labels.rows], problem.k).astype(np.float64)
    sums = np.zeros((problem.k, problem.d))
    near = np.zeros(problem.d)
    with closing(open_blocks(UnitRows(X) if metric == "cosine" else X, labels, c)) as blocks:
        for classes, found in blocks.sums("class_sums", near):
            sums[classes] += found
    return sums / np.where(weights > 0, weights, 1)[:, None], weights
