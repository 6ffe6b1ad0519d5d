"""TraceNormPath: a grid of trace norms and ridges for little more than the price of one, and the best of them."""

import os
import time
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from manyclass._core.checks import check_bool, check_fraction, draw_seed
from manyclass._core.models import rollback_on_error
from manyclass._core.parallel import get_threads, threads
from manyclass._core.typing import Callback, Floats
from manyclass.data.inputs import ScaleLimits
from manyclass.estimators.batch import ROWS_OF_CLASS, check_batch_settings
from manyclass.estimators.callbacks import combine_callbacks, watched
from manyclass.estimators.linear_model import warn_of_chance
from manyclass.estimators.trace._path_plots import PathPlots
from manyclass.estimators.trace.path_grid import (
    BEFORE_REFIT,
    DURING_REFIT,
    RIDGES,
    TRACES,
    PathRun,
    open_checkpoint,
    strength_grid,
)
from manyclass.estimators.trace.trace_norm import TraceNormClassifier
from manyclass.estimators.validation import make_problem, validation_problem
from manyclass.losses.multiclass import as_score_loss
from manyclass.penalties.norms import TraceNorm
from manyclass.penalties.penalty import Penalty
from manyclass.penalties.ridge import Ridge
from manyclass.solvers.batch.null_model import alpha_max
from manyclass.solvers.batch.path import PathCheckpoint, follow_path, ridge_max
from manyclass.solvers.batch.solution import Solution, Status
from manyclass.solvers.batch.solve import named_solver, solve
from manyclass.solvers.problem import Objective, Problem
from manyclass.solvers.sgd.subsets import hold_out

# Settings that the classifiers of a path share with it.
_SHARED = ("loss", "fit_intercept", "solver", "tolerance", "max_iter", "class_weight", "n_threads", "random_state")


def _best_has(name: str) -> Any:
    return available_if(lambda path: hasattr(getattr(path, "best_", path._model(0.0, 0.0)), name))


class TraceNormPath(PathPlots, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Fit a `TraceNormClassifier` for every pair of a trace and a ridge, and keep the best on validation.

    The strongest come first, and every pair begins where a neighbor ended (Harchaoui et al., CVPR 2012).

    Parameters
    ----------
    traces : int or sequence of float, default=10
        The strengths of the trace norm, or how many: in geometric steps down from half of that from which on W = 0.
    ridges : int or sequence of float, default=10
        The strengths of the ridge, or how many: in geometric steps down from that which halves the first step.
    loss : {"softmax", "smoothed_hinge", "squared", "logistic"} or ScoreLoss, default="softmax"
        The loss of the scores of an example.
    fit_intercept : bool, default=True
        Whether to learn a bias.
    solver : str, default="auto"
        As for `TraceNormClassifier`; the path of the paper has "published".
    tolerance : float, default=1e-4
        The relative duality gap to which each pair is solved.
    max_iter : int, default=1000
        The largest number of steps of each pair.
    max_seconds : float, default=None
        The time limit for the whole path and the refit; what was done until then counts.
    validation_fraction : float, default=0.1
        The fraction of every class, and at least one example of those that have two, that is held out unless `fit` is
        given a validation set. The mean over classes of the accuracy on it decides; of equals, the stronger trace.
    refit : bool, default=True
        Train the best pair again on all examples, after some were held out.
    class_weight : None, "balanced" or dict, default=None
        Weights of classes; "balanced" stands for n / (k * examples of the class).
    n_threads : int, default=None
        Threads; None for `manyclass.get_threads()`. It does not change a bit of the result.
    random_state : None, int or numpy.random.RandomState, default=None
        The source of the examples held out, and of random numbers for "stochastic".
    callbacks : list of callable, default=()
        Called with the row of each pair, and its number `point` of `points`; one that returns True ends the path.
    checkpoint : str or os.PathLike, default=None
        A folder in which `fit` keeps every pair that it has solved. The same fit again goes on from there, to the same
        bits as if it had never stopped; a folder of other data or settings is refused and left alone. A fit that ends
        removes it. It needs an integer `random_state`.
    verbose : int, default=0
        1 for a line on stderr after each pair; 0 for none. The logger "manyclass.estimators" has the same in any case.

    Attributes
    ----------
    best_ : TraceNormClassifier
        The best classifier, to which `predict`, `transform` and the like are delegated.
    table_ : list of dict
        One row for each pair: trace, ridge, accuracy, rank, objective, gap, seconds, passes and status. The gap and the
        objective are on the rows that are not held out.
    classes_ : ndarray of shape (k,)
        The labels, sorted.
    n_features_in_ : int
        The number of columns of X.
    n_iter_ : int
        Steps of all pairs together.
    status_ : str
        What ended the path, a `Status`: "done", "time limit reached", "interrupted" or "stopped by a callback".

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(np.arange(8), 20)
    >>> X = rng.normal(size=(8, 3))[y] @ rng.normal(size=(3, 12)) + rng.normal(size=(160, 12))
    >>> path = TraceNormPath(traces=3, ridges=2, random_state=0).fit(X, y)
    >>> len(path.table_), path.best_.trace == max(path.table_, key=lambda row: row["accuracy"])["trace"]
    (6, True)
    """

    best_: TraceNormClassifier
    table_: list[dict[str, Any]]
    status_: Status
    n_iter_: int
    # Measured: float32 holds too little of the differences to find strengths by.
    scale_limits = ScaleLimits(apart=1e-7)

    keeps_checkpoint = False  # after a fit too, for whoever has yet to save what was learned

    classes_: NDArray[Any]
    n_features_in_: int

    def __init__(
        self,
        traces: int | Sequence[float] = 10,
        ridges: int | Sequence[float] = 10,
        loss: Any = "softmax",
        fit_intercept: bool = True,
        solver: str = "auto",
        tolerance: float = 1e-4,
        max_iter: int = 1000,
        max_seconds: float | None = None,
        validation_fraction: float = 0.1,
        refit: bool = True,
        class_weight: Any = None,
        n_threads: int | None = None,
        random_state: Any = None,
        callbacks: Iterable[Callback] = (),
        checkpoint: str | os.PathLike[str] | None = None,
        verbose: int = 0,
    ):
        self.traces = traces
        self.ridges = ridges
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tolerance = tolerance
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.validation_fraction = validation_fraction
        self.refit = refit
        self.class_weight = class_weight
        self.n_threads = n_threads
        self.random_state = random_state
        self.callbacks = callbacks
        self.checkpoint = checkpoint
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @rollback_on_error
    def fit(self, X: Any, y: Any, validation: tuple[Any, Any] | None = None, sample_weight: Any = None) -> Self:
        """Fit all pairs on rows X with labels y.

        Ctrl-C and `max_seconds` end the path, or the refit, with the best of the pairs so far, and a
        ConvergenceWarning. After an error, or Ctrl-C before the first pair is done, nothing has changed.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.
        y : array-like of shape (n,)
            Labels.
        validation : tuple of (X, y), default=None
            A validation set, in place of examples held out.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows; 1 by default.

        Returns
        -------
        TraceNormPath
            The path itself.
        """
        started = time.perf_counter()
        check_batch_settings(self)
        check_fraction(self.validation_fraction, "validation_fraction")
        check_bool(self.refit, "refit")
        with threads(self.n_threads or get_threads()), watched(self) as callbacks:
            whole = make_problem(self, X, y, sample_weight)
            problem = whole.in_row_space(ROWS_OF_CLASS * whole.k)
            seed = draw_seed(self.random_state)
            train, judged = self._split(problem, validation, seed)
            checkpoint = open_checkpoint(self, problem, judged, ("traces", "ridges", *_SHARED))
            walk = self._walk(train, judged, seed, checkpoint, combine_callbacks(callbacks))
            self.table_, self.n_iter_ = walk.rows, walk.steps
            found = walk.solution
            if self.refit and len(train) < len(problem) and walk.status is Status.DONE:
                found = self._refit(problem, walk, seed, started)
            if problem is not whole:
                found = replace(found, point=found.point.lift(problem.X))
        self.best_ = self._model(walk.trace, walk.ridge, found)
        self.best_._count_classes(whole)
        self.best_._keep_negatives(whole)
        self.status_ = walk.status
        if not self.status_.is_unfinished and not self.keeps_checkpoint:
            checkpoint.remove()
        walk.warn(self.tolerance)
        warn_of_chance(self, whole)
        return self

    def _refit(self, problem: Problem, walk: PathRun, seed: int, started: float) -> Solution:
        """The best pair on everything; after Ctrl-C or without time, as far as it came, or as the path has it."""
        left = None if self.max_seconds is None else self.max_seconds - (time.perf_counter() - started)
        if left is not None and left <= 0:
            walk.end_refit(Status.TIME_LIMIT, BEFORE_REFIT)
            return walk.solution
        everything = self._objective(problem).with_penalty(_penalty(walk.trace, walk.ridge))
        try:
            with closing(everything):
                found: Solution = self._solver(seed)(everything, start=walk.solution.point, max_seconds=left)
        except KeyboardInterrupt:
            walk.end_refit(Status.INTERRUPTED, BEFORE_REFIT)
            return walk.solution
        if found.status.is_unfinished:
            walk.end_refit(found.status, DURING_REFIT)
        return found

    def _walk(self, train: Problem, judged: Problem, seed: int, checkpoint: PathCheckpoint, tell: Any) -> PathRun:
        with closing(self._objective(train)) as objective:
            traces = strength_grid(self.traces, "traces", TRACES, lambda: alpha_max(objective))
            ridges = strength_grid(self.ridges, "ridges", RIDGES, lambda: ridge_max(objective))
            points = follow_path(objective, traces, ridges, _penalty, self._solver(seed), self.max_seconds, checkpoint)
            walk = PathRun(judged, len(traces) * len(ridges), tell)
            walk.follow(points)
        return walk

    def _objective(self, problem: Problem) -> Objective:
        return Objective(problem, as_score_loss(self.loss), TraceNorm(1.0), bool(self.fit_intercept))

    def _solver(self, seed: int) -> Any:
        named = named_solver(self.solver, TraceNorm(1.0), lambda: seed)
        return partial(solve, solver=named, tolerance=self.tolerance, max_iter=self.max_iter)

    def _split(self, problem: Problem, validation: tuple[Any, Any] | None, seed: int) -> tuple[Problem, Problem]:
        if validation is None:
            train, held = hold_out(problem, self.validation_fraction, np.random.default_rng(seed))
            # Where no class can spare an example, those that there are must do.
            return (train, held) if len(held) else (problem, problem)
        return problem, validation_problem(self, validation).with_columns_of(problem)

    def _model(self, trace: float, ridge: float, found: Solution | None = None) -> TraceNormClassifier:
        """The classifier of one pair; fitted, if there is a solution."""
        shared = {name: getattr(self, name) for name in _SHARED}
        model = TraceNormClassifier(trace=trace, ridge=ridge, **shared)
        if found is not None:
            for name in ("classes_", "n_features_in_", "feature_names_in_", "row_lengths_"):
                if hasattr(self, name):
                    setattr(model, name, getattr(self, name))
            model._learn(found)
        return model

    @property
    def coef_(self) -> Floats:
        """The weights of the best classifier, an ndarray of shape (k, d)."""
        return self.best_.coef_

    @property
    def intercept_(self) -> NDArray[Any]:
        """The biases of the best classifier, an ndarray of shape (k,)."""
        return self.best_.intercept_

    @property
    def _n_features_out(self) -> int:
        return self.best_.rank_

    def decision_function(self, X: Any) -> Floats:
        """Compute the scores by the best classifier.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.

        Returns
        -------
        ndarray of shape (n, k) or (n,)
            The score of every class; for two classes, that of the second minus that of the first.
        """
        return self._fitted_best().decision_function(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of highest score for each row, by the best classifier.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.

        Returns
        -------
        ndarray of shape (n,)
            The classes.
        """
        return self._fitted_best().predict(X)

    def predict_top(self, X: Any, k: int = 5) -> NDArray[Any]:
        """Predict the k classes of highest score for each row, by the best classifier.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.
        k : int, default=5
            How many classes; all if there are fewer.

        Returns
        -------
        ndarray of shape (n, k)
            The classes, the best first.
        """
        return self._fitted_best().predict_top(X, k)

    @_best_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Compute probabilities by the best classifier, for the losses "softmax" and "logistic".

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.

        Returns
        -------
        ndarray of shape (n, k)
            The probability of every class.
        """
        probabilities: Floats = self._fitted_best().predict_proba(X)
        return probabilities

    def transform(self, X: Any) -> Floats:
        """Compute the latent features of the best classifier.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.

        Returns
        -------
        ndarray of shape (n, r)
            The latent features.
        """
        return self._fitted_best().transform(X)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the best classifier to a file, which `manyclass.load` reads; the table is not saved.

        Parameters
        ----------
        path : str or os.PathLike
            The file.
        """
        self._fitted_best().save(path)

    def to_onnx(self, path: str | os.PathLike[str], top: int = 5) -> None:
        """Write the best classifier as an ONNX graph.

        Parameters
        ----------
        path : str or os.PathLike
            The file.
        top : int, default=5
            How many classes `top_labels` has for each row.
        """
        self._fitted_best().to_onnx(path, top)

    def _fitted_best(self) -> TraceNormClassifier:
        check_is_fitted(self, "best_")
        return self.best_


def _penalty(trace: float, ridge: float) -> Penalty:
    return TraceNorm(trace) + Ridge(ridge)
