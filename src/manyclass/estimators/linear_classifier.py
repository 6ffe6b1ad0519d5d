"""LinearClassifier: any loss, any penalty."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.typing import Callback
from manyclass.estimators.batch import BatchModel
from manyclass.penalties.norms import TraceNorm, check_penalty
from manyclass.penalties.penalty import Penalty
from manyclass.penalties.ridge import Ridge
from manyclass.solvers.batch.points import DenseWeights, Weights
from manyclass.solvers.batch.solution import Solution

# Penalties never change, so that all classifiers may share one.
_PENALTY = TraceNorm(1e-3) + Ridge(1e-5)


class LinearClassifier(BatchModel):
    """A linear classifier with any loss and any penalty.

    It minimizes the mean over examples of a loss of their scores, plus a penalty of the weights; the bias is not
    penalized. Softmax with a ridge of strength ``1 / (2 * C * n)`` alone is what scikit-learn's LogisticRegression
    minimizes, and is solved in less time (docs/benchmarks/softmax.md). With a ridge alone a step takes two products
    with X; scores are kept where three times as many numbers as examples times classes fit into a gigabyte. Where
    examples are many, the covariance of the rows of X is factored once, so that steps are about half as many.

    Parameters
    ----------
    loss : {"softmax", "smoothed_hinge", "squared", "logistic"} or ScoreLoss, default="softmax"
        The loss of the scores of an example, such as `SmoothedHinge(sharpness=5.0)`.
    penalty : Penalty, default=TraceNorm(0.001) + Ridge(1e-05)
        `TraceNorm`, `GroupNorm`, `L1Norm` or `Ridge`, or the sum of one of the first three and a ridge. The ridge is
        ``strength * |W|^2``, without a factor of one half, or with a center ``strength * |W - center|^2``:
        ``Ridge(1e-3, center=old.coef_.T)``, for the classes in their order, draws W to an older model.
    solver : str, default="auto"
        "auto" (the fastest), "factored" (trace norms), "fista" (any penalty), "rank_one" and "stochastic" (a penalty
        with atoms), "published" (rank-one descent with its published settings: epsilon 0.035, at most 200 steps), or
        "ridge" (a ridge alone).
    tolerance : float, default=1e-4
        Stop when the duality gap is below this part of the objective, and of what W gains over W = 0.
    fit_intercept : bool, default=True
        Whether to learn a bias.
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
    coef_ : ndarray of shape (k, d)
        The weights.
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
    >>> from manyclass.penalties.norms import GroupNorm
    >>> X, y = np.eye(6), np.repeat(["a", "b", "c"], 2)
    >>> clf = LinearClassifier(loss="squared", penalty=GroupNorm(0.01)).fit(X, y)
    >>> str(clf.status_), clf.score(X, y)
    ('optimal', 1.0)
    """

    def __init__(
        self,
        loss: Any = "softmax",
        penalty: Penalty = _PENALTY,
        solver: str = "auto",
        tolerance: float = 1e-4,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        max_seconds: float | None = None,
        class_weight: Any = None,
        n_threads: int | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        callbacks: Iterable[Callback] = (),
        verbose: int = 0,
    ):
        self.loss = loss
        self.penalty = penalty
        self.solver = solver
        self.tolerance = tolerance
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.class_weight = class_weight
        self.n_threads = n_threads
        self.warm_start = warm_start
        self.random_state = random_state
        self.callbacks = callbacks
        self.verbose = verbose

    def _penalty(self) -> Penalty:
        return check_penalty(self.penalty)

    def _move_settings(self, classes: NDArray[Any], places: NDArray[np.intp]) -> None:
        super()._move_settings(classes, places)
        gauge, ridge = self._penalty().parts()
        if ridge.center is None:
            return
        # Classes that are new are drawn to zero.
        more = max(0, int(places.max()) + 1 - ridge.center.shape[1])
        moved = Ridge(ridge.strength, center=np.pad(ridge.center, ((0, 0), (0, more)))[:, places])
        self.penalty = moved if gauge is None else gauge + moved

    def _keep(self, found: Solution) -> None:
        self.coef_ = np.ascontiguousarray(found.W.T)
        self.intercept_ = found.b.astype(self.coef_.dtype)

    def _point(self) -> Weights:
        return DenseWeights(np.ascontiguousarray(self.coef_.T), self.intercept_.astype(np.float64))
