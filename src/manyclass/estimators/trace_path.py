"""TraceNormPath: a grid of trace norms and ridges for little more than the price of one, and the best of them."""

import os
import time
import warnings
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from manyclass import _checks
from manyclass._all_or_nothing import all_or_nothing
from manyclass._threads import get_threads, threads
from manyclass.data.tiles import Floats
from manyclass.estimators.batch import check_batch_settings, problem_of, seed_of, told
from manyclass.estimators.history import Callback, told_of_the_end
from manyclass.estimators.settings import flag
from manyclass.estimators.solver_names import named_solver
from manyclass.estimators.trace_grid import RIDGES, TRACES, grid
from manyclass.estimators.trace_norm import TraceNormClassifier
from manyclass.estimators.trace_walk import Walk
from manyclass.estimators.validation_set import validation_problem
from manyclass.losses.scores import as_score_loss
from manyclass.penalties.penalty import Penalty
from manyclass.penalties.ridge import Ridge
from manyclass.penalties.trace import TraceNorm
from manyclass.solvers.baseline import largest_useful
from manyclass.solvers.objective import Objective
from manyclass.solvers.path import follow, largest_ridge
from manyclass.solvers.problem import Problem
from manyclass.solvers.solution import Solution
from manyclass.solvers.solve import solve
from manyclass.solvers.validation import hold_out

# Settings that the classifiers of a path share with it.
_SHARED = ("loss", "fit_intercept", "solver", "tolerance", "max_iter", "class_weight", "n_threads", "random_state")
# What ends a path, or the refit after it, before its time.
_ENDED = ("time is up", "interrupted")


def _best_has(name: str) -> Any:
    return available_if(lambda path: hasattr(getattr(path, "best_", path._model(0.0, 0.0)), name))


class TraceNormPath(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Fits a `TraceNormClassifier` for every pair of a trace and a ridge, and keeps the best on validation.

    The strongest come first, and every pair begins where a neighbor ended (Harchaoui et al., CVPR 2012).

    Parameters
    ----------
    traces, ridges : how many, in geometric steps down from half of the trace from which on W = 0, and from the ridge
        that halves the first step, both of which are computed; or the strengths themselves.
    validation_fraction : of every class, and at least one example of those that have two, held out unless fit is given
        a validation set. The mean over classes of the accuracy on it decides; of equals, the stronger trace.
    refit : train the best pair again on everything, after a part was held out.
    max_seconds : for the whole path and the refit. What was done until then counts.
    loss, fit_intercept, solver, tolerance, max_iter, class_weight, n_threads : as in `TraceNormClassifier`. The path of
        the paper has solver="published".
    random_state : for the part held out, and for solver "stochastic".
    callbacks : called with the row of each pair, and its number `point` of `points`; one that returns True ends it.

    Attributes
    ----------
    best_ : a fitted `TraceNormClassifier`, to which predict, transform and the like are passed on; table_ : one
    dictionary for each pair: trace, ridge, accuracy, rank, objective, gap, seconds, passes, status, with `gap` and
    `objective` on the rows that are not held out; classes_, coef_, intercept_, n_features_in_; n_iter_ :
    steps of all pairs together; status_ : "done", or what ended the path.

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
    status_: str
    n_iter_: int
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @all_or_nothing
    def fit(self, X: Any, y: Any, validation: tuple[Any, Any] | None = None, sample_weight: Any = None) -> Self:
        """Fit all pairs on rows X with labels y; `validation` is (X, y) to judge by, in place of a part held out.

        Ctrl-C and `max_seconds` end the path, or the refit, with the best of the pairs so far, and a
        ConvergenceWarning. After an error, or Ctrl-C before the first pair is done, nothing has changed.
        """
        started = time.perf_counter()
        check_batch_settings(self)
        _check_fraction(self.validation_fraction)
        flag(self.refit, "refit")
        with threads(self.n_threads or get_threads()), told_of_the_end(self.callbacks):
            problem = problem_of(self, X, y, sample_weight)
            seed = seed_of(self)
            train, judged = self._split(problem, validation, seed)
            walk = self._walk(train, judged, seed)
            self.table_, self.status_, self.n_iter_ = walk.rows, walk.status, walk.steps
            found = walk.solution
            if self.refit and len(train) < len(problem) and walk.status == "done":
                found = self._refitted(problem, walk, seed, started)
        self.best_ = self._model(walk.trace, walk.ridge, found)
        self._warn(walk)
        return self

    def _refitted(self, problem: Problem, walk: Walk, seed: int, started: float) -> Solution:
        """The best pair on everything; after Ctrl-C or without time, as far as it came, or as the path has it."""
        left = None if self.max_seconds is None else self.max_seconds - (time.perf_counter() - started)
        if left is not None and left <= 0:
            self.status_ = "time is up before the refit"
            return walk.solution
        everything = self._objective(problem).with_penalty(_penalty(walk.trace, walk.ridge))
        try:
            found: Solution = self._solver(seed)(everything, start=walk.solution.point, max_seconds=left)
        except KeyboardInterrupt:
            self.status_ = "interrupted before the refit"
            return walk.solution
        if found.status in _ENDED:
            self.status_ = f"{found.status} in the refit"
        return found

    def _walk(self, train: Problem, judged: Problem, seed: int) -> Walk:
        objective = self._objective(train)
        traces = grid(self.traces, "traces", TRACES, lambda: largest_useful(objective))
        ridges = grid(self.ridges, "ridges", RIDGES, lambda: largest_ridge(objective))
        points = follow(objective, traces, ridges, _penalty, self._solver(seed), self.max_seconds)
        walk = Walk(judged, len(traces) * len(ridges), told(self.callbacks))
        walk.along(points)
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
        return problem, validation_problem(self, validation)

    def _model(self, trace: float, ridge: float, found: Solution | None = None) -> TraceNormClassifier:
        """The classifier of one pair; fitted, if there is a solution."""
        shared = {name: getattr(self, name) for name in _SHARED}
        model = TraceNormClassifier(trace=trace, ridge=ridge, **shared)
        if found is not None:
            for name in ("classes_", "n_features_in_", "feature_names_in_"):
                if hasattr(self, name):
                    setattr(model, name, getattr(self, name))
            model._learn(found)
        return model

    def _warn(self, walk: Walk) -> None:
        if self.status_.startswith(_ENDED):
            words = f"{self.status_} after {len(walk.rows)} of {walk.points} pairs; best_ is the best of those"
            refitted = "was refitted in part" if self.status_.endswith("in the refit") else "was not refitted"
            advice = "raise max_seconds, or take fewer traces and ridges" if "time" in self.status_ else "fit again"
            warnings.warn(f"TraceNormPath: {words}, and {refitted}; {advice}", ConvergenceWarning, stacklevel=4)
            return
        unsolved = [row for row in walk.rows if not self._settled(row)]
        if unsolved:
            words = f"{len(unsolved)} of {walk.points} pairs were not solved to the tolerance"
            advice = "see their status in table_; raise max_iter or tolerance"
            warnings.warn(f"TraceNormPath: {words}; {advice}", ConvergenceWarning, stacklevel=4)

    def _settled(self, row: dict[str, Any]) -> bool:
        """Optimal, or ended by rounding where the gap is small beside the objective: nothing that a user could mend."""
        rounded = row["status"].startswith("as near as rounding")
        return bool(
            row["status"].startswith("optimal") or (rounded and row["gap"] <= self.tolerance * row["objective"])
        )

    @property
    def coef_(self) -> Floats:
        """That of the best (k, d)."""
        return self.best_.coef_

    @property
    def intercept_(self) -> NDArray[Any]:
        """That of the best (k,)."""
        return self.best_.intercept_

    @property
    def _n_features_out(self) -> int:
        return self.best_.rank_

    def decision_function(self, X: Any) -> Floats:
        """Scores of the best (n, k); for two classes, how much the second is above the first (n,)."""
        return self._fitted().decision_function(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of highest score for each row, by the best."""
        return self._fitted().predict(X)

    def predict_top(self, X: Any, k: int = 5) -> NDArray[Any]:
        """The k classes of highest score for each row (n, k), by the best."""
        return self._fitted().predict_top(X, k)

    @_best_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities (n, k) by the best, for losses "softmax" and "logistic"."""
        probabilities: Floats = self._fitted().predict_proba(X)
        return probabilities

    def transform(self, X: Any) -> Floats:
        """The latent features of the best (n, rank)."""
        return self._fitted().transform(X)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the best classifier to a file, which `manyclass.load` reads; the table is not kept."""
        self._fitted().save(path)

    def to_onnx(self, path: str | os.PathLike[str], top: int = 5) -> None:
        """Write the best classifier as an ONNX graph."""
        self._fitted().to_onnx(path, top)

    def plot(self, target: Any = None) -> Any:
        """Accuracy, rank and objective over the grid: into a file, into three axes, or into a figure of its own.

        The figure; needs `pip install "manyclass[plot]"`.
        """
        from manyclass.estimators.trace_plots import draw_grid

        check_is_fitted(self)
        return draw_grid(self.table_, target)

    def plot_spectrum(self, target: Any = None) -> Any:
        """The singular values of the best, into a file, into axes, or into a figure of its own; the figure."""
        from manyclass.estimators.trace_plots import draw_spectrum

        return draw_spectrum(self._fitted().singular_values_, target)

    def plot_classes(self, target: Any = None) -> Any:
        """The classes at their places in the two leading latent features of the best; the figure."""
        from manyclass.estimators.trace_plots import draw_classes

        best = self._fitted()
        return draw_classes(best.factors_, best.classes_, target)

    def _fitted(self) -> TraceNormClassifier:
        check_is_fitted(self, "best_")
        return self.best_


def _penalty(trace: float, ridge: float) -> Penalty:
    return TraceNorm(trace) + Ridge(ridge)


def _check_fraction(fraction: Any) -> None:
    if not _checks.positive(fraction, "validation_fraction") < 1:
        raise ValueError(f"validation_fraction must be a number between 0 and 1; got {fraction!r}")
