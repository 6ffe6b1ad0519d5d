"""What classifiers that minimize over all rows at once have in common: fit, and what it reports."""

import warnings
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from typing import Any, Protocol, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from manyclass._core.checks import (
    check_bool,
    check_callables,
    check_class_weight,
    check_count,
    check_nonnegative,
    check_positive,
    check_verbose,
    draw_seed,
)
from manyclass._core.models import rollback_on_error
from manyclass._core.parallel import get_threads, threads
from manyclass._core.typing import Callback
from manyclass.data.dense import DenseMatrix
from manyclass.data.matrix import Matrix
from manyclass.estimators.callbacks import combine_callbacks, watched
from manyclass.estimators.linear_model import LinearModel, warn_of_chance
from manyclass.estimators.prior_adjustment import PriorAdjustment
from manyclass.estimators.uncertainty.held_out import forget_held_out
from manyclass.estimators.validation import make_problem
from manyclass.losses.multiclass import as_score_loss, describe_loss, loss_from_description
from manyclass.penalties.norms import describe_penalty, penalty_from_description
from manyclass.penalties.penalty import Penalty
from manyclass.penalties.ridge import Ridge
from manyclass.solvers.batch.points import DenseWeights, Weights
from manyclass.solvers.batch.solution import Solution, Status
from manyclass.solvers.batch.solve import named_solver, solve
from manyclass.solvers.problem import Objective

# What ends a solver before its goal, and what to do about it.
_WAYS_OUT = {
    Status.TIME_LIMIT: "raise max_seconds or tolerance",
    Status.INTERRUPTED: "fit again with warm_start=True to go on from here",
    Status.ITERATION_LIMIT: "raise max_iter or tolerance",
    Status.PRECISION_LIMIT: "pass X as float64 or raise tolerance",
}

# So many rows of a class have in about 50 products of X, the least that solvers take, the price of their Gram matrix.
ROWS_OF_CLASS = 128


class BatchSettings(Protocol):
    """The parameters that all classifiers of a batch solver have, as attributes."""

    loss: Any
    fit_intercept: bool
    solver: str
    tolerance: float
    max_iter: int
    max_seconds: float | None
    class_weight: Any
    n_threads: int | None
    random_state: Any
    callbacks: Iterable[Callback]
    verbose: int


def describe_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    """Replace losses and penalties among parameters by dictionaries that describe them.

    Parameters
    ----------
    parameters : dict
        The parameters of an estimator.

    Returns
    -------
    dict
        The parameters as values that JSON can hold.

    Examples
    --------
    >>> from manyclass.penalties.norms import TraceNorm
    >>> describe_parameters({"penalty": TraceNorm(0.5), "loss": "softmax"})
    {'penalty': {'TraceNorm': 0.5}, 'loss': 'softmax'}
    """
    plain = dict(parameters)
    if "penalty" in plain and not isinstance(plain["penalty"], str):
        plain["penalty"] = describe_penalty(plain["penalty"])
    if "loss" in plain and not isinstance(plain["loss"], str):
        plain["loss"] = describe_loss(plain["loss"])
    return plain


def restore_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    """Restore what `describe_parameters` was given.

    Parameters
    ----------
    parameters : dict
        What `describe_parameters` returned.

    Returns
    -------
    dict
        The parameters of an estimator.
    """
    objects = dict(parameters)
    if isinstance(objects.get("penalty"), dict):
        objects["penalty"] = penalty_from_description(objects["penalty"])
    if isinstance(objects.get("loss"), dict):
        objects["loss"] = loss_from_description(objects["loss"])
    return objects


class BatchModel(PriorAdjustment, LinearModel):
    """A subclass says what its penalty is, how it keeps a solution, and where a warm start begins."""

    # Losses and penalties among the parameters, as a file of the model has them, and back.
    plain_parameters = staticmethod(describe_parameters)
    parameters_of = staticmethod(restore_parameters)

    objective_: float
    gap_: float
    status_: Status
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
    verbose: int

    def _penalty(self) -> Penalty:
        """What is added to the mean loss."""
        raise NotImplementedError

    def _keep(self, found: Solution) -> None:
        """Take over W and b."""
        raise NotImplementedError

    def _point(self) -> Weights:
        """W and b as they were fitted."""
        raise NotImplementedError

    @rollback_on_error
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
        self._forget_prior()
        penalty, fitted = self._penalty(), hasattr(self, "status_")
        # Of a ridge alone, what a center has outside of the span of the rows stays as it is.
        turns = penalty.is_rotation_invariant or penalty.parts()[0] is None
        before = (self.classes_, self._shape()) if self.warm_start and fitted else None
        with threads(self.n_threads or get_threads()), watched(self) as callbacks:
            notify = combine_callbacks(callbacks)
            problem = make_problem(self, X, y, sample_weight)
            penalty.parts()[1].check_shape(problem.d, problem.k)
            solved = problem.in_row_space(ROWS_OF_CLASS * problem.k) if turns and before is None else problem
            inner = penalty if solved is problem else turned_penalty(penalty, solved.X)
            objective = Objective(solved, as_score_loss(self.loss), inner, bool(self.fit_intercept))
            with closing(objective):
                found = solve(
                    objective,
                    named_solver(self.solver, penalty, lambda: draw_seed(self.random_state)),
                    tolerance=self.tolerance,
                    max_iter=self.max_iter,
                    max_seconds=self.max_seconds,
                    start=None if before is None else self._start_point(before),
                    callback=notify,
                )
            if solved is not problem:
                found = replace(found, point=_lifted(found.point, solved.X, penalty, inner))
        self._learn(found)
        self._count_classes(problem)
        self._keep_negatives(problem)
        self._warn(found)
        warn_of_chance(self, problem)
        return self

    def _start_point(self, before: tuple[Any, tuple[int, ...]]) -> Weights:
        classes, shape = before
        now = len(self.classes_), self.n_features_in_
        if shape != now or not np.array_equal(classes, self.classes_):
            raise ValueError(f"warm_start needs the classes and columns of the last fit, {shape}; got others, {now}")
        return self._point()

    def _learn(self, found: Solution) -> None:
        forget_held_out(self)
        self._keep(found)
        self.objective_, self.gap_, self.status_ = found.objective, found.gap, found.status
        self.n_iter_, self.history_ = found.iterations, found.history
        self.seconds_, self.passes_ = found.seconds, found.passes

    def _warn(self, found: Solution) -> None:
        way_out = _WAYS_OUT.get(found.status)
        if way_out is None:
            return
        if found.status is Status.ITERATION_LIMIT and self.solver != "auto":
            way_out += ", or use solver='auto'"
        bound = f"at most {found.gap:.2g} above the optimum" if np.isfinite(found.gap) else "with no bound on the gap"
        words = f"{found.message}: the objective is {found.objective:.6g}, {bound}"
        warnings.warn(f"{type(self).__name__}: {words}; {way_out}", ConvergenceWarning, stacklevel=4)

    def _link(self) -> str:
        name: str = as_score_loss(self.loss).name
        if name in ("softmax", "logistic"):
            return name
        raise AttributeError(
            f"predict_proba needs loss='softmax', loss='logistic' or a call to calibrate; got loss={name!r}"
        )


def turned_penalty(penalty: Penalty, Z: Matrix) -> Penalty:
    """The penalty of weights of coordinates Z: a ridge has a center there, that part of it which the rows can see."""
    _, ridge = penalty.parts()
    if ridge.center is None:
        return penalty
    coordinates = Z.coordinates(DenseMatrix(np.ascontiguousarray(ridge.center.T, Z.dtype)))
    return Ridge(ridge.strength, center=coordinates.rows(slice(None)).T)


def _lifted(point: Weights, Z: Matrix, penalty: Penalty, inner: Penalty) -> Weights:
    """The weights of all columns: those of the coordinates, and what else the center of a ridge has."""
    (_, whole), (_, seen) = penalty.parts(), inner.parts()
    if whole.center is None:
        return point.lift(Z)
    W = Z.lift(seen.from_center(point.to_dense()))
    return DenseWeights(W + whole.center.astype(W.dtype), point.b)


def check_batch_settings(settings: BatchSettings) -> None:
    """Refuse the first setting that is not one, in a sentence."""
    as_score_loss(settings.loss)
    check_nonnegative(settings.tolerance, "tolerance")
    check_count(settings.max_iter, "max_iter")
    if settings.max_seconds is not None:
        check_positive(settings.max_seconds, "max_seconds")
    if settings.n_threads is not None:
        check_count(settings.n_threads, "n_threads")
    check_class_weight(settings.class_weight)
    check_bool(settings.fit_intercept, "fit_intercept")
    check_callables(settings.callbacks, "callbacks")
    check_verbose(settings.verbose)
