"""SharedStructureClassifier: classes that share characteristics, learned together by the trace norm."""

import os
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from manyclass._core.checks import check_count, check_finite
from manyclass._core.models import rollback_on_error
from manyclass._core.parallel import one_blas_thread
from manyclass._core.typing import Doubles, Floats
from manyclass.data.inputs import open_examples
from manyclass.data.matrix import Matrix
from manyclass.estimators.linear_model import LinearModel, warn_of_chance
from manyclass.estimators.shared.kernel_machines import KernelMachines
from manyclass.estimators.validation import (
    check_labels,
    encode_known_labels,
    encode_labels,
    encode_new_labels,
    example_weights,
)
from manyclass.losses.multiclass import SmoothedHinge
from manyclass.penalties.smoothed import HalfSquare
from manyclass.solvers.imprinting import KnownNegatives
from manyclass.solvers.problem import Problem
from manyclass.solvers.smooth import Coordinates, SmoothProblem


class SharedStructureClassifier(KernelMachines, LinearModel):  # type: ignore[misc]
    """A large-margin classifier whose classes share characteristics, for many classes with few examples each.

    It minimizes ``|W| + C sum_i log(1 + sum_{c != y_i} exp(a (1 + w_c'x_i - w_{y_i}'x_i))) / a``, where ``|W|`` is the
    trace norm, the sum of singular values, with its corner rounded off, and a is the sharpness (Amit et al.,
    "Uncovering shared structures in multiclass classification", ICML 2007). As W = F G, the columns of F are
    characteristics that all classes share, and G says how classes are made of them. There is no bias; add a constant
    column for one.

    X is held in memory as float64, and a kernel needs the Gram matrix of all rows as well.

    Parameters
    ----------
    kernel : {"linear", "rbf", "poly", "precomputed"} or callable, default="linear"
        "rbf" is ``exp(-gamma |x - z|^2)`` (for a width sigma, ``gamma = 1 / (2 sigma^2)``), "poly" is ``(gamma x'z +
        coef0)^degree``. With "precomputed", X is the Gram matrix (n, n) in `fit`, and kernel values with its rows
        afterwards; negative eigenvalues, as those of an earth mover's distance, are left out. A function takes rows (n,
        d) and (m, d) and returns an array (n, m).
    C : float, default=1.0
        Strength of the losses, which are added up.
    penalty : {"trace", "frobenius"}, default="trace"
        The trace norm, or ``|W|_F^2 / 2`` for comparison, with the same loss.
    smoothing : float, default=0.01
        Singular values below it are penalized by their square. It should be small beside the singular values; the
        optimum of the trace norm itself is approached as it falls.
    sharpness : float, default=20.0
        Sharpness of the loss; large values approach the multiclass hinge.
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
    class_weight : None, "balanced" or dict, default=None
        Weights of classes; "balanced" stands for n / (k * examples of the class).
    warm_start : bool, default=False
        Begin from the last fit, of the same rows if there is a kernel; for a path over C.
    random_state : object, default=None
        Not used: nothing is drawn.
    verbose : int, default=0
        1 for a line on stderr after each step; 0 for none. The logger "manyclass.estimators" has the same in any case.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels, sorted.
    n_features_in_ : int
        The number of columns of X.
    coef_ : ndarray of shape (k, d)
        The weights, if the kernel is linear.
    intercept_ : ndarray of shape (k,)
        Zeros, if the kernel is linear.
    dual_coef_ : ndarray of shape (n, k)
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
    >>> y = np.repeat(np.arange(20), 5)
    >>> X = (rng.normal(size=(20, 3)) @ rng.normal(size=(3, 30)))[y] + 0.3 * rng.normal(size=(100, 30))
    >>> clf = SharedStructureClassifier(C=0.1).fit(X, y)
    >>> int((clf.singular_values_ > clf.smoothing).sum()), bool(clf.score(X, y) > 0.8)
    (3, True)
    """

    objective_: float
    gap_: float
    n_iter_: int
    dual_coef_: Doubles

    def __init__(
        self,
        kernel: Any = "linear",
        C: float = 1.0,
        penalty: str = "trace",
        smoothing: float = 0.01,
        sharpness: float = 20.0,
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 1.0,
        tolerance: float = 1e-3,
        max_iter: int = 2000,
        class_weight: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.kernel = kernel
        self.C = C
        self.penalty = penalty
        self.smoothing = smoothing
        self.sharpness = sharpness
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tolerance = tolerance
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    @rollback_on_error
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows X with labels y.

        After an error or Ctrl-C the classifier is as it was before.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.
        y : array-like of shape (n,)
            Labels.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows; 1 by default.

        Returns
        -------
        SharedStructureClassifier
            The classifier itself.
        """
        self._check_machines()
        before = (self.classes_, self._weights()) if self.warm_start and hasattr(self, "classes_") else None
        matrix = open_examples(self, X, reset=True)
        self.classes_, indices = encode_labels(y, len(matrix))
        weights = self._strengths(example_weights(indices, self.classes_, self.class_weight, sample_weight))
        with one_blas_thread():
            points = self._points(matrix)
            penalty, k = self._penalty(), len(self.classes_)
            problem = SmoothProblem.of(points.Z, indices, k, weights, SmoothedHinge(self.sharpness), penalty)
            self._learn(points, self._descend(problem, self._start(points, before)))
        warn_of_chance(self, Problem.whole(matrix, indices, k))
        return self

    @rollback_on_error
    def add_classes(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn new classes in terms of the shared characteristics; the old classes stay the same to the bit.

        A handful of examples of each is enough: there are p numbers to learn for a class, not d. New classes are fitted
        to score above the old ones on their own rows, and below them on rows of old classes, if there are any.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.
        y : array-like of shape (n,)
            Labels, some of which are new.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows; 1 by default.

        Returns
        -------
        SharedStructureClassifier
            The classifier itself.
        """
        self._check_machines()
        latent = self.transform(X)
        y = check_labels(y, len(latent))
        new, indices = encode_new_labels(y, self.classes_)
        k = len(self.classes_)
        old = indices == len(new)
        indices += k
        indices[old] = encode_known_labels(y[old], self.classes_, int(old.sum())) if old.any() else 0
        weights = self._strengths(example_weights(indices, np.arange(k + len(new)), None, sample_weight))
        with one_blas_thread():
            loss, fixed = SmoothedHinge(self.sharpness), self._scores(X).astype(np.float64)
            G = self._descend(SmoothProblem.of(latent, indices, len(new), weights, loss, HalfSquare(), fixed)).W
            self._append(new, self.components_.T @ G)
        return self

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
        S = self._scores(X)
        k = min(check_count(k, "k"), S.shape[1])
        best = S.argmax(axis=1)[:, None] if k == 1 else np.argsort(-S, axis=1, kind="stable")[:, :k]
        return self.classes_[best]

    def to_onnx(self, path: str | os.PathLike[str], top: int = 5) -> None:
        """Write the fitted classifier as an ONNX graph, if its kernel is linear.

        Parameters
        ----------
        path : str or os.PathLike
            The file.
        top : int, default=5
            How many classes `top_labels` has for each row.

        Raises
        ------
        ValueError
            If the kernel is not linear.
        """
        if not self._is_linear():
            raise ValueError(f"kernel must be 'linear' for export to ONNX; got {self.kernel!r}")
        super().to_onnx(path, top)

    def _scores(self, X: Any) -> Floats:
        matrix = self._matrix(X)
        with np.errstate(invalid="ignore", over="ignore"):
            S = self._apply(matrix, self._weights())
        check_finite(S, "scores of X")
        return S

    def _start(self, points: Coordinates, before: tuple[NDArray[Any], Doubles] | None) -> Doubles | None:
        if before is None:
            return None
        classes, weights = before
        m = points.Z.shape[1] if points.forth is None else len(points.forth)
        if not np.array_equal(classes, self.classes_) or len(weights) != m:
            raise ValueError(
                f"warm_start needs the classes and columns of the last fit, {weights.shape[::-1]}; "
                f"got others, {(len(self.classes_), m)}"
            )
        return points.on_points(weights)

    def _negatives(self, X: Matrix, others: NDArray[np.intp]) -> KnownNegatives:
        raise ValueError("imprint_classes needs machines with a bias, which these have not; use add_classes")

    def _select_machines(self, places: NDArray[np.intp]) -> None:
        self._keep_weights(self._weights()[:, places])

    def _append(self, new: NDArray[Any], weights: Doubles) -> None:
        together = np.concatenate([self.classes_, new])
        order = np.argsort(together, kind="stable")
        self.classes_ = together[order]
        self._keep_weights(np.concatenate([self._weights(), weights], axis=1)[:, order])
