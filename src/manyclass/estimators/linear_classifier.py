"""LinearClassifier: any loss, any penalty."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from manyclass.estimators.batch import BatchModel
from manyclass.estimators.history import Callback
from manyclass.penalties.by_name import check_penalty
from manyclass.penalties.penalty import Penalty
from manyclass.penalties.ridge import Ridge
from manyclass.penalties.trace import TraceNorm
from manyclass.solvers.points import Point, Whole
from manyclass.solvers.solution import Solution

# Penalties never change, so that all classifiers may share one.
_PENALTY = TraceNorm(1e-3) + Ridge(1e-5)


class LinearClassifier(BatchModel):
    """Minimizes the mean over examples of a loss of their scores, plus a penalty of the weights; the bias is free.

    Parameters
    ----------
    loss : "softmax", "smoothed_hinge", "squared", "logistic", or a ScoreLoss such as `SmoothedHinge(sharpness=5.0)`.
    penalty : `TraceNorm`, `GroupNorm` or `L1Norm`, `Ridge`, or a sum of one of the former and the latter. The ridge is
        strength * |W|^2, with no half before it.
    solver : "auto" (the fastest), "factored" (trace norms), "fista" (any penalty), "rank_one" and "stochastic" (a
        penalty with atoms), "published" (rank-one descent with its published settings: epsilon 0.035, at most 200
        steps), or "ridge" (a ridge alone).
    tolerance : of the objective, and of what it gains over W = 0: a duality gap below that ends the solver.
    max_iter, max_seconds : end it before that, with a ConvergenceWarning; the best point so far is kept.
    class_weight : None, "balanced" (n / (k * examples of the class)), or a dictionary from labels to weights.
    n_threads : None for as many as `manyclass.get_threads()`. It changes no bit of the result.
    warm_start : begin from the weights of the last fit.
    random_state : for "stochastic": None, an integer or a `numpy.random.RandomState`.
    callbacks : called with the record of each step; one that returns True ends the solver, without a warning.

    Attributes
    ----------
    classes_, coef_ (k, d), intercept_ (k,), n_features_in_; objective_ : mean loss and penalty; gap_ : how far it is
    above the optimum at most, by duality; status_ : "optimal", or what else ended the solver; n_iter_, seconds_;
    passes_ : products with all of X; history_ : one dictionary for every step.

    Examples
    --------
    >>> from manyclass.penalties.group import GroupNorm
    >>> X, y = np.eye(6), np.repeat(["a", "b", "c"], 2)
    >>> clf = LinearClassifier(loss="squared", penalty=GroupNorm(0.01)).fit(X, y)
    >>> clf.status_, clf.score(X, y)
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

    def _penalty(self) -> Penalty:
        return check_penalty(self.penalty)

    def _keep(self, found: Solution) -> None:
        self.coef_ = np.ascontiguousarray(found.W.T)
        self.intercept_ = found.b.astype(self.coef_.dtype)

    def _point(self) -> Point:
        return Whole(np.ascontiguousarray(self.coef_.T), self.intercept_.astype(np.float64))
