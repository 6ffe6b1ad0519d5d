"""What classifiers that minimize over all rows at once have in common: fit, and what it reports."""

import warnings
from collections.abc import Callable, Iterable
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from manyclass import _checks
from manyclass._all_or_nothing import all_or_nothing
from manyclass._threads import get_threads, threads
from manyclass.data.inputs import open_examples
from manyclass.estimators.history import Callback, told_of_the_end
from manyclass.estimators.labels import encode_labels
from manyclass.estimators.linear import LinearModel
from manyclass.estimators.probabilities import Probabilities
from manyclass.estimators.settings import class_weight, flag, functions
from manyclass.estimators.solver_names import named_solver
from manyclass.estimators.weights import example_weights
from manyclass.losses.scores import as_score_loss
from manyclass.penalties.penalty import Penalty
from manyclass.solvers.objective import Objective
from manyclass.solvers.points import Point
from manyclass.solvers.problem import Problem
from manyclass.solvers.solution import Solution
from manyclass.solvers.solve import solve

# What ends a solver before its goal, and what to do about it.
_WAYS_OUT = {
    "time is up": "raise max_seconds or tolerance",
    "interrupted": "fit again with warm_start=True to go on from here",
    "not solved": "raise max_iter or tolerance",
    "as near as rounding": "pass X as float64 or raise tolerance",
}


class BatchModel(Probabilities, LinearModel):
    """A subclass says what its penalty is, how it keeps a solution, and where a warm start begins."""

    objective_: float
    gap_: float
    status_: str
    n_iter_: int
    history_: list[dict[str, Any]]
    seconds_: float
    passes_: float

    loss: Any
    fit_intercept: bool
    solver: str
    tolerance: float
    max_iter: int
    max_seconds: float | None
    class_weight: Any
    n_threads: int | None
    warm_start: bool
    random_state: Any
    callbacks: Iterable[Callback]

    def _penalty(self) -> Penalty:
        """What is added to the mean loss."""
        raise NotImplementedError

    def _keep(self, found: Solution) -> None:
        """Take over W and b."""
        raise NotImplementedError

    def _point(self) -> Point:
        """W and b as they were fitted."""
        raise NotImplementedError

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Minimize the objective on rows X with labels y.

        What ends it early (Ctrl-C, `max_seconds`, `max_iter`) leaves the best point so far, with a ConvergenceWarning
        and the reason in `status_`. After an error, or Ctrl-C before there is a point, the classifier is as it was
        before.

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
        object
            The classifier itself.
        """
        check_batch_settings(self)
        penalty, fitted = self._penalty(), hasattr(self, "status_")
        before = (self.classes_, self._shape()) if self.warm_start and fitted else None
        with threads(self.n_threads or get_threads()), told_of_the_end(self.callbacks):
            objective = Objective(
                problem_of(self, X, y, sample_weight), as_score_loss(self.loss), penalty, bool(self.fit_intercept)
            )
            found = solve(
                objective,
                named_solver(self.solver, penalty, lambda: seed_of(self)),
                tolerance=self.tolerance,
                max_iter=self.max_iter,
                max_seconds=self.max_seconds,
                start=None if before is None else self._started(before),
                callback=told(self.callbacks),
            )
        self._learn(found)
        self._warn(found)
        return self

    def _started(self, before: tuple[Any, tuple[int, ...]]) -> Point:
        classes, shape = before
        now = len(self.classes_), self.n_features_in_
        if shape != now or not np.array_equal(classes, self.classes_):
            raise ValueError(f"warm_start needs the classes and columns of the last fit, {shape}; got others, {now}")
        return self._point()

    def _learn(self, found: Solution) -> None:
        self.__dict__.pop("temperature_", None)
        self._keep(found)
        self.objective_, self.gap_, self.status_ = found.objective, found.gap, found.status
        self.n_iter_, self.history_ = found.iterations, found.history
        self.seconds_, self.passes_ = found.seconds, found.passes

    def _warn(self, found: Solution) -> None:
        way_out = next((advice for words, advice in _WAYS_OUT.items() if found.status.startswith(words)), None)
        if way_out is not None:
            how_far = f"at most {found.gap:.2g} above it" if np.isfinite(found.gap) else "with no bound on the gap"
            way_out += ", or use solver='auto'" if self.solver != "auto" and "max_iter" in way_out else ""
            words = f"{found.status} before the optimum was proved: the objective is {found.objective:.6g}, {how_far}"
            warnings.warn(f"{type(self).__name__}: {words}; {way_out}", ConvergenceWarning, stacklevel=4)

    def _link(self) -> str:
        name: str = as_score_loss(self.loss).name
        if name in ("softmax", "logistic"):
            return name
        raise AttributeError(
            f"predict_proba needs loss='softmax', loss='logistic' or a call to calibrate; got loss={name!r}"
        )


def check_batch_settings(settings: Any) -> None:
    """Refuse the first setting that is not one, in a sentence."""
    as_score_loss(settings.loss)
    _checks.nonnegative(settings.tolerance, "tolerance")
    _checks.count(settings.max_iter, "max_iter")
    if settings.max_seconds is not None:
        _checks.positive(settings.max_seconds, "max_seconds")
    if settings.n_threads is not None:
        _checks.count(settings.n_threads, "n_threads")
    class_weight(settings.class_weight)
    flag(settings.fit_intercept, "fit_intercept")
    functions(settings.callbacks, "callbacks")


def problem_of(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Problem:
    """The examples whose weight is above 0; the estimator learns its classes and columns."""
    matrix = open_examples(estimator, X, reset=True)
    estimator.classes_, codes = encode_labels(y, len(matrix))
    weights = example_weights(codes, estimator.classes_, estimator.class_weight, sample_weight)
    return Problem.whole(matrix, codes, len(estimator.classes_), weights).part(np.flatnonzero(weights > 0))


def seed_of(estimator: Any) -> int:
    """A number drawn from its random_state."""
    return int(check_random_state(estimator.random_state).randint(2**31 - 1))


def told(callbacks: Iterable[Callback]) -> Callable[[dict[str, Any]], bool]:
    """One callback for all; it wants to stop when one of them does."""
    every = tuple(callbacks)

    def tell(record: dict[str, Any]) -> bool:
        # A copy: what a callback writes into it must not come into the history. And all of them are told.
        wishes = [callback(dict(record)) for callback in every]
        return any(wish is True for wish in wishes)

    return tell
