"""MultiTaskTraceNorm: several binary tasks that share characteristics, learned together by the trace norm.

Answers become signs, with 0 for those that are not known.
"""

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from manyclass._core.checks import check_finite
from manyclass._core.models import rollback_on_error
from manyclass._core.parallel import one_blas_thread
from manyclass._core.typing import Doubles
from manyclass.data.inputs import open_examples, open_features
from manyclass.data.matrix import Matrix
from manyclass.estimators.shared.kernel_machines import KernelMachines
from manyclass.estimators.validation import check_labels, example_weights
from manyclass.losses.multitask import TaskHinge
from manyclass.solvers.smooth import SmoothProblem

Signs = NDArray[np.int8]

# A task is known by its two answers, sorted; the second is the positive one.
Classes = list[NDArray[Any]]


class MultiTaskTraceNorm(ClassifierMixin, KernelMachines):  # type: ignore[misc]
    """Large-margin machines for several binary tasks that share characteristics.

    It minimizes ``|W| + C sum_{i,j} log(1 + exp(a (1 - y_ij w_j'x_i))) / a`` over examples i and tasks j, where ``|W|``
    is the trace norm of the machines of all tasks, with its corner rounded off, and a is the sharpness (Amit et al.,
    ICML 2007, Eq. 11). Tasks with few examples gain from the others. There is no bias; add a constant column for one.

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly", "precomputed"} or callable, default="linear"
        As for `SharedStructureClassifier`.
    C : float, default=1.0
        Strength of the losses, which are added up.
    penalty : {"trace", "frobenius"}, default="trace"
        The trace norm, or ``|W|_F^2 / 2``, which learns every task by itself.
    smoothing : float, default=0.01
        Singular values below it are penalized by their square.
    sharpness : float, default=20.0
        Sharpness of the loss; large values approach the hinge.
    missing_label : object, default=0
        The value of y that stands for an answer which is not known, such as 0 or NaN; None if all are known.
    gamma : float or "scale", default="scale"
        Coefficient of "rbf" and "poly"; "scale" is 1 / (d * variance of X).
    degree : float, default=3
        Degree of "poly".
    coef0 : float, default=1.0
        Constant of "poly".
    tolerance : float, default=1e-3
        Stop when the objective is proven to be above the optimum by at most this part of itself.
    max_iter : int, default=2000
        The largest number of L-BFGS iterations; fewer than needed give a ConvergenceWarning.
    random_state : object, default=None
        Not used: nothing is drawn.
    verbose : int, default=0
        1 for a line on stderr after each step; 0 for none. The logger "manyclass.estimators" has the same in any case.

    Attributes
    ----------
    classes_ : ndarray of shape (2,) or list of ndarray
        The two answers, the second of which has scores above 0; a list of them if tasks differ.
    n_tasks_ : int
        The number t of tasks.
    y_is_vector_ : bool
        Whether `fit` was given one task as a vector.
    n_features_in_ : int
        The number of columns of X.
    coef_ : ndarray of shape (t, d)
        The weights, if the kernel is linear.
    intercept_ : ndarray of shape (t,)
        Zeros, if the kernel is linear.
    dual_coef_ : ndarray of shape (n, t)
        The weights of kernel values, if the kernel is not linear.
    X_fit_ : ndarray of shape (n, d)
        The rows of the fit, if the kernel is neither linear nor precomputed.
    kernel_ : dict
        The kernel with its numbers.
    singular_values_ : ndarray of shape (p,)
        The singular values of W, the largest first.
    components_ : ndarray of shape (p, d) or (p, n)
        The shared characteristics, over columns or over kernel values.
    objective_ : float
        The objective.
    gap_ : float
        An upper bound on how far the objective is above the optimum.
    n_iter_ : int
        Iterations of L-BFGS.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 8))
    >>> Y = np.sign(X @ rng.normal(size=(8, 2)) @ rng.normal(size=(2, 12)))
    >>> clf = MultiTaskTraceNorm(C=0.1).fit(X, Y)
    >>> clf.predict(X).shape, bool(clf.score(X, Y) > 0.9)
    ((60, 12), True)
    """

    classes_: Any
    n_tasks_: int
    y_is_vector_: bool
    objective_: float
    gap_: float
    n_iter_: int

    former_names: ClassVar[dict[str, Any]] = {"unknown": "missing_label"}  # of files that earlier versions wrote

    def __init__(
        self,
        kernel: Any = "linear",
        C: float = 1.0,
        penalty: str = "trace",
        smoothing: float = 0.01,
        sharpness: float = 20.0,
        missing_label: Any = 0,
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 1.0,
        tolerance: float = 1e-3,
        max_iter: int = 2000,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.kernel = kernel
        self.C = C
        self.penalty = penalty
        self.smoothing = smoothing
        self.sharpness = sharpness
        self.missing_label = missing_label
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tolerance = tolerance
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.target_tags.multi_output = True
        return tags

    @rollback_on_error
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows X with the answers y.

        Tasks that have rows of their own are given as two lists. After an error or Ctrl-C everything is as it was
        before.

        Parameters
        ----------
        X : matrix-like of shape (n, d) or list of array-like of shape (n_j, d)
            The rows of all tasks, or of each.
        y : array-like of shape (n, t) or (n,), or list of array-like of shape (n_j,)
            The answers of every row, or of the rows of each task.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows; 1 by default.

        Returns
        -------
        MultiTaskTraceNorm
            The model itself.
        """
        self._check_machines()
        matrix, signs = self._examples(X, y)
        rows = np.zeros(len(matrix), np.int32)
        weights = self._strengths(example_weights(rows, np.zeros(1), None, sample_weight))
        with one_blas_thread():
            points = self._points(matrix)
            loss, penalty = TaskHinge(self.sharpness), self._penalty()
            problem = SmoothProblem.of(points.Z, signs, signs.shape[1], weights, loss, penalty)
            self._learn(points, self._descend(problem))
        return self

    def decision_function(self, X: Any) -> Doubles:
        """Compute the scores, which are above 0 for the second answer of a task.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.

        Returns
        -------
        ndarray of shape (n, t) or (n,)
            The score of every task; a vector if y was one.
        """
        S = self._scores(X)
        return S[:, 0] if self.y_is_vector_ else S

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the answer of every row to every task.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.

        Returns
        -------
        ndarray of shape (n, t) or (n,)
            The answers; a vector if y was one.
        """
        S = self._scores(X)
        found = decode_tasks(S, self._pairs(S.shape[1]))
        return found[:, 0] if self.y_is_vector_ else found

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Compute the accuracy over all tasks, on the answers that are known.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.
        y : array-like of shape (n, t) or (n,)
            The answers.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows; 1 by default.

        Returns
        -------
        float
            The fraction of the known answers that are right.
        """
        found, y = self.predict(X), np.asarray(y)
        if y.shape != found.shape:
            raise ValueError(f"y must have shape {found.shape}, as predictions have; got {y.shape}")
        known = is_labeled(y, self.missing_label)
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, float)
        return float(np.average(found == y, weights=(known.T * weights).T))

    def _examples(self, X: Any, y: Any) -> tuple[Matrix, Signs]:
        if isinstance(X, list) and isinstance(y, list) and X and np.ndim(X[0]) == 2:
            X, pairs, signs = encode_lists(X, y)
            matrix, self.y_is_vector_ = open_examples(self, X, reset=True), False
        else:
            matrix = open_examples(self, X, reset=True)
            pairs, signs = encode_tasks(y, len(matrix), self.missing_label)
            self.y_is_vector_ = np.asarray(y).ndim == 1
        self.n_tasks_ = len(pairs)
        self.classes_ = pairs[0] if all(np.array_equal(pair, pairs[0]) for pair in pairs) else pairs
        return matrix, signs

    def _scores(self, X: Any) -> Doubles:
        check_is_fitted(self)
        matrix = open_features(self, X)
        with np.errstate(invalid="ignore", over="ignore"):
            S = self._apply(matrix, self._weights())
        check_finite(S, "scores of X")
        return S

    def _pairs(self, n_tasks: int) -> Classes:
        return self.classes_ if isinstance(self.classes_, list) else [self.classes_] * n_tasks

    def _n_machines(self, fitted: dict[str, Any]) -> int:
        return int(fitted["n_tasks_"])


def encode_tasks(y: Any, n: int, unknown: Any) -> tuple[Classes, Signs]:
    """(the two answers of each task, signs (n, t) with 0 where y (n, t) or (n,) is `unknown`)."""
    classes: Classes = []
    answers = list(_columns(y, n))
    signs = np.zeros((n, len(answers)), np.int8)
    for task, column in enumerate(answers):
        known = np.flatnonzero(is_labeled(column, unknown))
        unsaid = (
            f" besides missing_label={unknown!r}; if that is an answer, pass missing_label=None"
            if len(known) < n
            else ""
        )
        pair, signs[known, task] = _encode(column[known], task, unsaid)
        classes.append(pair)
    return classes, signs


def encode_lists(X: list[Any], y: list[Any]) -> tuple[NDArray[Any], Classes, Signs]:
    """(all rows, the two answers of each task, signs), of tasks that have rows (n_j, d) and answers (n_j,) each."""
    if len(X) != len(y):
        raise ValueError(f"X and y must be lists with one entry per task; got {len(X)} and {len(y)}")
    X = [np.asarray(rows) for rows in X]
    for task, rows in enumerate(X):
        if rows.ndim != 2 or rows.shape[1] != X[0].shape[1]:
            raise ValueError(
                f"X must be a list of arrays (n_j, d) with the same d; got shape {rows.shape} for task {task}"
            )
    ends = np.cumsum([0, *(len(rows) for rows in X)])
    classes: Classes = []
    signs = np.zeros((ends[-1], len(X)), np.int8)
    for task, answers in enumerate(y):
        start, end = ends[task : task + 2]
        pair, signs[start:end, task] = _encode(check_labels(answers, end - start), task)
        classes.append(pair)
    return np.concatenate(X), classes, signs


def decode_tasks(S: NDArray[Any], classes: Classes) -> NDArray[Any]:
    """The answers (n, t) that scores (n, t) give."""
    return np.stack([pair[(s > 0).astype(np.intp)] for pair, s in zip(classes, S.T, strict=True)], axis=1)


def is_labeled(y: NDArray[Any], unknown: Any) -> NDArray[np.bool_]:
    """Which answers are there, in an array of any shape; None stands for no answer's being unknown."""
    if unknown is None:
        return np.ones(y.shape, bool)
    # NaN is the one value that differs from itself.
    return np.asarray(y == y if unknown != unknown else y != unknown)


def _columns(y: Any, n: int) -> Iterator[NDArray[Any]]:
    if y is None:
        raise ValueError("this classifier requires y to be passed, but the target y is None")
    y = np.asarray(y)
    if y.ndim not in (1, 2) or y.shape[-1] == 0:
        raise ValueError(f"y must hold one answer for each row and task, (n, t); got shape {y.shape}")
    if len(y) != n:
        raise ValueError(f"y must have one row per row of X ({n}); got {len(y)}, inconsistent numbers of samples")
    yield from y.T if y.ndim == 2 else [y]


def _encode(answers: NDArray[Any], task: int, unsaid: str = "") -> tuple[NDArray[Any], Signs]:
    pair, indices = np.unique(check_labels(answers, len(answers)), return_inverse=True)
    if len(pair) != 2:
        kinds = "1 class" if len(pair) == 1 else f"{len(pair)} classes"
        rule = f"Only binary classification is supported: task {task} of y must have 2 classes"
        raise ValueError(f"{rule}; got {kinds}{unsaid if len(pair) < 2 else ''}")
    return pair, (2 * indices - 1).astype(np.int8)
