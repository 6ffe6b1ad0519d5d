"""TraceNormClassifier: classes that share few latent features, with weights that are kept in factors."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from manyclass._core.algebra.singular import singular_triples, svd_flip
from manyclass._core.checks import check_finite, check_nonnegative
from manyclass._core.parallel import one_blas_thread
from manyclass._core.typing import Callback, Doubles, Floats
from manyclass.data.dense import DenseMatrix
from manyclass.data.matrix import Matrix
from manyclass.estimators.batch import BatchModel
from manyclass.estimators.linear_model import LinearModel, finite_scores
from manyclass.penalties.norms import TraceNorm
from manyclass.penalties.penalty import Penalty
from manyclass.penalties.ridge import Ridge
from manyclass.solvers.batch.points import Factors, LowRankWeights, Weights
from manyclass.solvers.batch.solution import Solution
from manyclass.solvers.row_sums import Scorer


class FactoredModel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, LinearModel):  # type: ignore[misc]
    """W = U diag(s) V', with U (d, r), s (r,) and V (k, r); scores cost d r + r k where that is less than d k."""

    factors_: Factors

    @property
    def coef_(self) -> Floats:  # type: ignore[override]
        """The weights, an ndarray of shape (k, d), multiplied out at every access."""
        U, s, V = self.factors_
        with one_blas_thread():
            return np.asarray((V * s.astype(V.dtype)) @ U.T)

    @property
    def rank_(self) -> int:
        """The number of singular values of W that the objective would rise without, an int."""
        return len(self.factors_[1])

    @property
    def singular_values_(self) -> NDArray[np.float64]:
        """The singular values of W, the largest first, an ndarray of shape (r,)."""
        return self.factors_[1]

    @property
    def _n_features_out(self) -> int:
        return self.rank_

    def transform(self, X: Any) -> Floats:
        """Compute the latent features ``X U diag(sqrt(s))``.

        Scores are their products with the rows of ``V diag(sqrt(s))``. Both sides of W have an equal share of its
        singular values, so that classes and examples are points of one space.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.

        Returns
        -------
        ndarray of shape (n, r)
            The latent features.
        """
        matrix, (U, s, _) = self._matrix(X), self.factors_
        with np.errstate(invalid="ignore", over="ignore"):
            Z = matrix.matmat(U * np.sqrt(s).astype(U.dtype))
        check_finite(Z, "latent features of X")
        return Z

    def _scores(self, X: Any) -> Floats:
        matrix = self._matrix(X)
        if not self._narrow():
            return super()._scores(matrix)
        left, right = self._sides()
        with np.errstate(invalid="ignore", over="ignore"):
            Z = matrix.matmat(left)
            S: Floats = DenseMatrix(Z).matmat(np.ascontiguousarray(right.T, Z.dtype))
            S += self.intercept_.astype(S.dtype)
        check_finite(S, "scores of X")
        return S

    def _blocks(self, intercept: Floats | None = None) -> Callable[[Floats, int], Scorer]:
        if not self._narrow():
            return super()._blocks(intercept)
        (left, right), intercept = self._sides(), self.intercept_ if intercept is None else intercept

        def block(rows: Floats, start: int) -> Scorer:
            Z = rows @ left.astype(rows.dtype, copy=False)
            return lambda classes: finite_scores(Z, right[classes], intercept[classes], start)

        return block

    def _shortlisted(self, X: Matrix, k: int) -> NDArray[Any] | None:
        return None if self._narrow() else super()._shortlisted(X, k)

    def _append_machines(self, new: NDArray[Any], W: Doubles, b: Doubles, counts: NDArray[np.int64]) -> None:
        """The rank grows by as many as come: what old classes share says too little of new ones."""
        U, s, V = self.factors_
        with one_blas_thread():
            basis = np.linalg.qr(np.concatenate([U, W.T], axis=1))[0]
            self._keep_factors(basis, np.concatenate([(V * s) @ (U.T @ basis), W @ basis]))
        super()._append_machines(new, W, b, counts)

    def _select_machines(self, places: NDArray[np.intp]) -> None:
        U, s, V = self.factors_
        self.factors_ = U, s, V[places]
        if len(places) < len(V):
            self._keep_factors(U, V[places] * s)
        super()._select_machines(places)

    def _keep_factors(self, basis: Floats, rows: Doubles) -> None:
        """Let W' be these rows (k, r) times an orthonormal basis (d, r)', in factors anew."""
        U, _, V = self.factors_
        with one_blas_thread():
            left, s, right = singular_triples(rows.astype(V.dtype))
            found = svd_flip(basis @ right, s, left)
        self.factors_ = found[0].astype(U.dtype), found[1], found[2].astype(V.dtype)

    def _sides(self) -> tuple[Floats, Floats]:
        """U diag(s) and V."""
        U, s, V = self.factors_
        return U * s.astype(U.dtype), V

    def _narrow(self) -> bool:
        """Whether the factors have fewer numbers than W."""
        k, d = self._shape()
        return self.rank_ * (d + k) < d * k

    def _shape(self) -> tuple[int, ...]:
        U, s, V = self.factors_
        if U.ndim != 2 or V.ndim != 2 or not U.shape[1] == V.shape[1] == len(s):
            raise ValueError(
                f"factors_ must have one column for each of {len(s)} singular values; got {U.shape}, {V.shape}"
            )
        return len(V), len(U)


class TraceNormClassifier(FactoredModel, BatchModel):
    """A linear classifier whose classes share few latent features (Harchaoui et al., CVPR 2012).

    It minimizes the mean loss + trace * (sum of the singular values of W) + ridge * (sum of squares of W); the bias is
    not penalized. Sharing helps where many classes share few directions; and as W is kept in factors, it is small and
    fast to apply.

    Parameters
    ----------
    trace : float, default=1e-3
        Strength of the trace norm, at least 0. `TraceNormPath` finds it.
    ridge : float, default=0.0
        Strength of the ridge, at least 0. `TraceNormPath` finds it.
    loss : {"softmax", "smoothed_hinge", "squared", "logistic"} or ScoreLoss, default="softmax"
        The loss of the scores of an example.
    fit_intercept : bool, default=True
        Whether to learn a bias.
    solver : str, default="auto"
        "auto" (the fastest), "rank_one" (R1D, until the gap is below the tolerance), "published" (R1D with its
        published settings: epsilon 0.035, at most 200 steps), "fista", "stochastic" or "factored". This epsilon is a
        part of the least trace at which W = 0: the absolute one of the paper is of use for one scale of X alone.
    tolerance : float, default=1e-4
        Stop when the duality gap is below this part of the objective, and of what W gains over W = 0.
    max_iter : int, default=1000
        The largest number of steps; fewer than needed give a ConvergenceWarning and the best point so far.
    max_seconds : float, default=None
        The time limit, after which the same holds.
    class_weight : None, "balanced" or dict, default=None
        Weights of classes; "balanced" stands for n / (k * examples of the class).
    n_threads : int, default=None
        Threads; None for `manyclass.get_threads()`. It does not change a bit of the result.
    warm_start : bool, default=False
        Begin from the weights of the last fit.
    random_state : None, int or numpy.random.RandomState, default=None
        The source of random numbers for "stochastic".
    callbacks : list of callable, default=()
        Called with the record of each step; one that returns True ends the solver, without a warning.
    verbose : int, default=0
        1 for a line on stderr after each step; 0 for none. The logger "manyclass.estimators" has the same in any case.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels, sorted.
    factors_ : tuple of ndarray
        The factors U (d, r), s (r,) and V (k, r), with W = U diag(s) V'.
    intercept_ : ndarray of shape (k,)
        The biases.
    n_features_in_ : int
        The number of columns of X.
    negatives_ : ndarray of shape (m, d)
        Rows with the mean and the covariance of those of the fit, at most 128, for classes that come later.
    objective_ : float
        The mean loss plus the penalty.
    gap_ : float
        An upper bound on how far the objective is above the optimum, by duality.
    status_ : str
        What ended the solver, a `Status`: "optimal", "iteration limit reached", "time limit reached" and the like.
    n_iter_ : int
        Steps of the solver.
    seconds_ : float
        The time that the solver took; not of a model that was loaded.
    passes_ : float
        Products with all of X, or with the coordinates of its rows in their span, where these are far fewer numbers.
    history_ : list of dict
        The record of every step.
    class_counts_ : ndarray of int64 of shape (k,)
        The rows of each class.
    class_weights_ : ndarray of shape (k,)
        The sums of their weights; `class_prior_` has their shares.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(np.arange(10), 20)
    >>> X = rng.normal(size=(10, 2))[y] @ rng.normal(size=(2, 30)) + rng.normal(size=(200, 30))
    >>> clf = TraceNormClassifier(trace=0.2).fit(X, y)
    >>> clf.rank_, clf.transform(X).shape, str(clf.status_)
    (2, (200, 2), 'optimal')
    """

    def __init__(
        self,
        trace: float = 1e-3,
        ridge: float = 0.0,
        loss: Any = "softmax",
        fit_intercept: bool = True,
        solver: str = "auto",
        tolerance: float = 1e-4,
        max_iter: int = 1000,
        max_seconds: float | None = None,
        class_weight: Any = None,
        n_threads: int | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        callbacks: Iterable[Callback] = (),
        verbose: int = 0,
    ):
        self.trace = trace
        self.ridge = ridge
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tolerance = tolerance
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.class_weight = class_weight
        self.n_threads = n_threads
        self.warm_start = warm_start
        self.random_state = random_state
        self.callbacks = callbacks
        self.verbose = verbose

    def _penalty(self) -> Penalty:
        trace, ridge = check_nonnegative(self.trace, "trace"), check_nonnegative(self.ridge, "ridge")
        return TraceNorm(trace) + Ridge(ridge)

    def _keep(self, found: Solution) -> None:
        self.factors_ = svd_flip(*found.point.factors())
        self.intercept_ = found.point.b.astype(self.factors_[0].dtype)

    def _point(self) -> Weights:
        U, s, V = self.factors_
        roots = np.sqrt(s).astype(U.dtype)
        return LowRankWeights(U * roots, V * roots, self.intercept_.astype(np.float64))
