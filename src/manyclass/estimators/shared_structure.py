"""SharedStructureClassifier: classes that share characteristics, learned together by the trace norm."""

import os
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from manyclass import _checks
from manyclass._all_or_nothing import all_or_nothing
from manyclass._blas import one_thread
from manyclass.data.inputs import open_examples
from manyclass.data.kernels import Doubles
from manyclass.data.tiles import Floats
from manyclass.estimators.kernel_machines import KernelMachines
from manyclass.estimators.labels import check_labels, encode_labels, known_labels, new_labels
from manyclass.estimators.linear import LinearModel
from manyclass.estimators.weights import example_weights
from manyclass.losses.smoothed_hinge import SmoothedHinge
from manyclass.penalties.smooth import HalfSquare
from manyclass.solvers.coordinates import Points
from manyclass.solvers.smooth_problem import SmoothProblem


class SharedStructureClassifier(KernelMachines, LinearModel):  # type: ignore[misc]
    """A large-margin classifier whose classes share characteristics, for many classes with few examples each.

    Minimizes |W| + C * the sum over examples of log(1 + sum_{c != y} exp(a (1 + w_c'x - w_y'x))) / a, where |W| is the
    trace norm, the sum of singular values, with its corner rounded off, and a is the sharpness (Amit et al.,
    "Uncovering shared structures in multiclass classification", ICML 2007). As W = F G, the columns of F are
    characteristics that all classes share, and G says how classes are made of them. There is no bias; add a constant
    column for one.

    X is held in memory as float64, and a kernel needs the Gram matrix of all rows beside it.

    Parameters
    ----------
    kernel : "linear"; "rbf", exp(-gamma |x - z|^2) (for a width sigma, gamma = 1 / (2 sigma^2)); "poly",
        (gamma x'z + coef0)^degree; a function of two arrays of rows (n, d), (m, d) that gives an array (n, m); or
        "precomputed": X is the Gram matrix (n, n) to fit, and kernel values with the rows of the fit afterwards. If
        the Gram matrix has negative eigenvalues, as one of an earth mover's distance may, they are left out.
    C : strength of the losses, which are added up.
    penalty : "trace", or "frobenius" for comparison: |W|_F^2 / 2 instead, the same loss.
    smoothing : singular values below it are penalized by their square; the optimum of the trace norm itself is
        approached as it falls. It is to be small beside the singular values.
    sharpness : that of the loss; large ones approach the multiclass hinge.
    gamma, degree, coef0 : of "rbf" and "poly"; gamma="scale" is 1 / (d times the variance of X).
    tolerance : stop when the objective is proven to be above the optimum by at most this part of itself.
    max_iter : L-BFGS iterations, after which a ConvergenceWarning says how far it may be from the optimum.
    class_weight : None, "balanced", or a dictionary from labels to weights.
    warm_start : begin from the last fit, of the same rows if there is a kernel; for a path over C.
    random_state : not used: nothing is drawn.

    Attributes
    ----------
    classes_, n_features_in_; coef_ (k, d) and intercept_ (k,), which is zero, if the kernel is linear, else dual_coef_
    (n, k) and, unless precomputed, X_fit_ (n, d); kernel_ : the kernel with its numbers; singular_values_ (p,);
    components_ : the shared characteristics (p, d), or (p, n) over kernel values; objective_; gap_ : how far that can
    be above the optimum; n_iter_.

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

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows X with labels y; after an error or Ctrl-C the classifier is as it was before."""
        self._check_machines()
        before = (self.classes_, self._weights()) if self.warm_start and hasattr(self, "classes_") else None
        matrix = open_examples(self, X, reset=True)
        self.classes_, codes = encode_labels(y, len(matrix))
        weights = self._strengths(example_weights(codes, self.classes_, self.class_weight, sample_weight))
        with one_thread():
            points = self._points(matrix)
            penalty, k = self._penalty(), len(self.classes_)
            problem = SmoothProblem.of(points.Z, codes, k, weights, SmoothedHinge(self.sharpness), penalty)
            self._learn(points, self._descend(problem, self._start(points, before)))
        return self

    @all_or_nothing
    def add_classes(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn new classes in terms of the shared characteristics; the old classes stay as they are, to the bit.

        A handful of examples of each is enough: there are p numbers to learn for a class, not d. They are to beat the
        old classes on their own rows, and rows of old classes, if there are some, are to be left to those.
        """
        self._check_machines()
        latent = self.transform(X)
        y = check_labels(y, len(latent))
        new, codes = new_labels(y, self.classes_)
        k = len(self.classes_)
        old = codes == len(new)
        codes += k
        codes[old] = known_labels(y[old], self.classes_, int(old.sum())) if old.any() else 0
        weights = self._strengths(example_weights(codes, np.arange(k + len(new)), None, sample_weight))
        with one_thread():
            loss, fixed = SmoothedHinge(self.sharpness), self._scores(X).astype(np.float64)
            G = self._descend(SmoothProblem.of(latent, codes, len(new), weights, loss, HalfSquare(), fixed)).W
            self._append(new, self.components_.T @ G)
        return self

    def predict_top(self, X: Any, k: int = 5) -> NDArray[Any]:
        """The k classes of highest score for each row (n, k), the best first; of equals the first in `classes_`."""
        S = self._scores(X)
        k = min(_checks.count(k, "k"), S.shape[1])
        best = S.argmax(axis=1)[:, None] if k == 1 else np.argsort(-S, axis=1, kind="stable")[:, :k]
        return self.classes_[best]

    def to_onnx(self, path: str | os.PathLike[str], top: int = 5) -> None:
        """Write the fitted classifier as an ONNX graph; only if its kernel is linear."""
        if not self._is_linear():
            raise ValueError(f"kernel must be 'linear' for a classifier to become a graph; got {self.kernel!r}")
        super().to_onnx(path, top)

    def _scores(self, X: Any) -> Floats:
        matrix = self._matrix(X)
        with np.errstate(invalid="ignore", over="ignore"):
            S = self._applied(matrix, self._weights())
        _checks.finite(S, "scores of X")
        return S

    def _start(self, points: Points, before: tuple[NDArray[Any], Doubles] | None) -> Doubles | None:
        if before is None:
            return None
        classes, weights = before
        m = points.Z.shape[1] if points.forth is None else len(points.forth)
        if not np.array_equal(classes, self.classes_) or len(weights) != m:
            raise ValueError(
                f"warm_start needs the classes and columns of the last fit, {weights.shape[::-1]}; "
                f"got other ones, {(len(self.classes_), m)}"
            )
        return points.on_points(weights)

    def _append(self, new: NDArray[Any], weights: Doubles) -> None:
        together = np.concatenate([self.classes_, new])
        order = np.argsort(together, kind="stable")
        self.classes_ = together[order]
        self._keep_weights(np.concatenate([self._weights(), weights], axis=1)[:, order])
