"""TraceNormClassifier: classes that share few latent features."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from manyclass._core.checks import check_nonnegative
from manyclass._core.linalg import svd_flip
from manyclass.estimators.batch import BatchModel
from manyclass.estimators.callbacks import Callback
from manyclass.estimators.linear_model import FactoredModel
from manyclass.penalties.norms import TraceNorm
from manyclass.penalties.penalty import Penalty, Ridge
from manyclass.solvers.batch.points import LowRankWeights, Weights
from manyclass.solvers.batch.solution import Solution


class TraceNormClassifier(FactoredModel, BatchModel):
    """A linear classifier whose classes share few latent features (Harchaoui et al., CVPR 2012).

    It minimizes the mean loss + trace * (sum of the singular values of W) + ridge * (sum of squares of W); the bias is
    not penalized. Sharing helps where examples are few; and as W is kept in factors, it is small and fast to apply.

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
        published settings: epsilon 0.035, at most 200 steps), "fista", "stochastic" or "factored".
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
    objective_ : float
        The mean loss plus the penalty.
    gap_ : float
        An upper bound on how far the objective is above the optimum, by duality.
    status_ : str
        What ended the solver, a `Status`: "optimal", "iteration limit reached", "time limit reached" and the like.
    n_iter_ : int
        Steps of the solver.
    seconds_ : float
        The time that the solver took.
    passes_ : float
        Products with all of X.
    history_ : list of dict
        The record of every step.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(np.arange(10), 20)
    >>> X = rng.normal(size=(10, 2))[y] @ rng.normal(size=(2, 30)) + rng.normal(size=(200, 30))
    >>> clf = TraceNormClassifier(trace=0.2).fit(X, y)
    >>> clf.rank_, clf.transform(X).shape, clf.status_
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
