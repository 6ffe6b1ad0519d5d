"""MultiTaskTraceNorm: several binary tasks that share characteristics, learned together by the trace norm."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from manyclass import _checks
from manyclass._all_or_nothing import all_or_nothing
from manyclass._blas import one_thread
from manyclass.data.inputs import open_examples, open_features
from manyclass.data.kernels import Doubles
from manyclass.data.matrix import Matrix
from manyclass.estimators.kernel_machines import KernelMachines
from manyclass.estimators.tasks import Classes, Signs, decode_tasks, encode_lists, encode_tasks, is_known
from manyclass.estimators.weights import example_weights
from manyclass.losses.task_hinge import TaskHinge
from manyclass.solvers.smooth_problem import SmoothProblem


class MultiTaskTraceNorm(ClassifierMixin, KernelMachines):  # type: ignore[misc]
    """Large-margin machines for several binary tasks that share characteristics.

    Minimizes |W| + C * the sum over tasks and examples of log(1 + exp(a (1 - y w'x))) / a, where |W| is the trace norm
    of the machines of all tasks, with its corner rounded off, and a is the sharpness (Amit et al., ICML 2007, Eq. 11).
    Tasks with few examples gain from the others. There is no bias; add a constant column for one.

    Parameters
    ----------
    unknown : the value of y that stands for an answer which is not known, such as 0 or NaN; None if all are known.
    kernel, C, penalty, smoothing, sharpness, gamma, degree, coef0, tolerance, max_iter, random_state : as for
        `SharedStructureClassifier`; penalty="frobenius" learns every task for itself.

    Attributes
    ----------
    classes_ : the two answers, the second of which has scores above 0, or a list of such arrays if tasks differ in
    them; n_tasks_; y_is_vector_; coef_ (t, d), intercept_ (t,), dual_coef_ (n, t), X_fit_, kernel_, singular_values_,
    components_, objective_, gap_, n_iter_, n_features_in_ : as for `SharedStructureClassifier`.

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.target_tags.multi_output = True
        return tags

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows X (n, d) with answers y (n, t), or (n,) for one task.

        Tasks that have rows of their own are given as two lists, of X (n_j, d) and of y (n_j,) for each. After an error
        or Ctrl-C everything is as it was before.
        """
        self._check_machines()
        matrix, signs = self._examples(X, y)
        rows = np.zeros(len(matrix), np.int32)
        weights = self._strengths(example_weights(rows, np.zeros(1), None, sample_weight))
        with one_thread():
            points = self._points(matrix)
            loss, penalty = TaskHinge(self.sharpness), self._penalty()
            problem = SmoothProblem.of(points.Z, signs, signs.shape[1], weights, loss, penalty)
            self._learn(points, self._descend(problem))
        return self

    def decision_function(self, X: Any) -> Doubles:
        """Scores (n, t), above 0 for the second answer of a task; (n,) if y was a vector."""
        S = self._scores(X)
        return S[:, 0] if self.y_is_vector_ else S

    def predict(self, X: Any) -> NDArray[Any]:
        """The answer of every row to every task (n, t); (n,) if y was a vector."""
        S = self._scores(X)
        found = decode_tasks(S, self._pairs(S.shape[1]))
        return found[:, 0] if self.y_is_vector_ else found

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The part of the known answers, over all tasks, that are right."""
        found, y = self.predict(X), np.asarray(y)
        if y.shape != found.shape:
            raise ValueError(f"y must have shape {found.shape}, as predictions have; got {y.shape}")
        known = is_known(y, self.missing_label)
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
            S = self._applied(matrix, self._weights())
        _checks.finite(S, "scores of X")
        return S

    def _pairs(self, n_tasks: int) -> Classes:
        return self.classes_ if isinstance(self.classes_, list) else [self.classes_] * n_tasks

    def _n_machines(self, fitted: dict[str, Any]) -> int:
        return int(fitted["n_tasks_"])
