"""How to train a `StochasticClassifier`: the algorithm, the schedule and the stopping rule that its settings ask for.

A step or a beta that is "auto" is found on a small sample.
"""

import warnings
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from manyclass._core.checks import (
    check_bool,
    check_callables,
    check_class_weight,
    check_count,
    check_number,
    check_one_of,
)
from manyclass.estimators.validation import (
    validation_problem,
)
from manyclass.losses.margin import MARGIN_LOSSES
from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd.checkpoint import Checkpoint
from manyclass.solvers.sgd.descent import EarlyStopping, SgdAlgorithm
from manyclass.solvers.sgd.objectives import OBJECTIVES
from manyclass.solvers.sgd.sampling import Schedule
from manyclass.solvers.sgd.tuning import StepTrial, find_beta, find_step, hold_out, median_squared_norm

SAMPLINGS = ("uniform", "balanced")


class SgdSettings(Protocol):
    """The parameters of a `StochasticClassifier` that say how to train, as attributes."""

    objective: str
    loss: str
    beta: float | str | None
    regularization: float
    step: float | str
    step_decay: bool
    max_epochs: int
    early_stopping: bool
    validation_fraction: float
    tolerance: float
    patience: int
    refit: bool
    class_weight: Any
    sampling: str
    n_threads: int | None
    warm_start: bool
    callbacks: Any


def check_settings(settings: SgdSettings) -> None:
    """Refuse the first setting that is not one, in a sentence; classes and data are checked elsewhere."""
    check_one_of(settings.objective, "objective", OBJECTIVES)
    check_one_of(settings.loss, "loss", MARGIN_LOSSES)
    check_one_of(settings.sampling, "sampling", SAMPLINGS)
    rule = "'auto', None or a positive number"
    check_number(settings.beta, "beta", rule, above=0, most=np.inf, besides=("auto", None))
    check_number(settings.step, "step", "'auto' or a positive number", above=0, besides=("auto",))
    check_number(settings.regularization, "regularization", "a number, at least 0", least=0)
    check_number(settings.validation_fraction, "validation_fraction", "a number between 0 and 1", above=0, below=1)
    check_number(settings.tolerance, "tolerance", "a number, at least 0", least=0)
    check_count(settings.max_epochs, "max_epochs")
    check_count(settings.patience, "patience")
    if settings.n_threads is not None:
        check_count(settings.n_threads, "n_threads")
    check_class_weight(settings.class_weight)
    for name in ("step_decay", "early_stopping", "refit", "warm_start"):
        check_bool(getattr(settings, name), name)
    check_callables(settings.callbacks, "callbacks")


# What may change between a fit that was killed and the one that goes on from its checkpoint. Class weights are told
# by the weights of the examples; a seed that was drawn is in the checkpoint.
_FREE = ("n_threads", "callbacks", "checkpoint", "class_weight", "random_state")

# Examples between two judgements at least, but for a tenth of all epochs.
_EXAMPLES_JUDGED = 1000

# The constant feature of the bias has this fraction of the mean square of a row, in whatever unit X comes.
_BIAS_FRACTION = 0.1

_LENGTHS = 1e-15, 1e15  # of rows: float32 holds their squares, and steps of the size of their inverses

_APART = 1e-3  # with less of the squared length that is not the mean's, machines were seen to guess


@dataclass(frozen=True)
class SgdPlan:
    """How to train."""

    algorithm: SgdAlgorithm
    schedule: Schedule

    @property
    def beta(self) -> float | None:
        """Negatives per positive of one-vs-rest; None for all."""
        return self.algorithm.beta


def find_plan(settings: SgdSettings, problem: Problem, seed: int) -> SgdPlan:
    """The plan for a problem; a step or beta that is "auto" is sought on a small sample of it."""
    rng = np.random.default_rng(seed)
    square = _square(problem, rng)
    plan = SgdPlan(
        OBJECTIVES[settings.objective].make(settings.loss, settings.beta, problem.k),
        _schedule(settings, _first_step(settings, square), square, seed),
    )
    if settings.step != "auto" and settings.beta != "auto":
        return plan
    trial = StepTrial.on(problem, rng)
    return _tune(plan, settings, trial.with_pace(plan.algorithm, plan.schedule)) if len(trial.held) else plan


def make_plan(settings: SgdSettings, step: float, beta: float | None, problem: Problem, seed: int) -> SgdPlan:
    """The plan for more data of a kind for which step and beta have been found."""
    given = step if settings.step == "auto" else float(settings.step)
    negatives = beta if settings.beta == "auto" else settings.beta
    square = _square(problem, np.random.default_rng(seed))
    return SgdPlan(
        OBJECTIVES[settings.objective].make(settings.loss, negatives, problem.k),
        _schedule(settings, given, square, seed),
    )


def find_or_resume_plan(settings: SgdSettings, train: Problem, seed: int, checkpoint: Checkpoint) -> SgdPlan:
    """The plan, found now, or before the run was killed."""
    run = checkpoint.run
    if run.step is not None:
        return make_plan(settings, run.step, run.beta, train, seed)
    plan = find_plan(settings, train, seed)
    run.step, run.beta = plan.schedule.step, plan.beta
    checkpoint.write()
    return plan


def split_problem(
    estimator: Any, problem: Problem, validation: tuple[Any, Any] | None, seed: int
) -> tuple[Problem, Problem | None]:
    """The examples to train on, and those to judge by: given, held out, or none."""
    if validation is not None:
        return problem, validation_problem(estimator, validation)
    if not estimator.early_stopping:
        return problem, None
    train, held = hold_out(problem, estimator.validation_fraction, np.random.default_rng(seed))
    return (train, held) if len(held) else (problem, None)


def make_stopping(settings: SgdSettings, plan: SgdPlan, train: Problem, judged: Problem | None) -> EarlyStopping:
    """When to judge and when to stop."""
    # Judging takes a score for every class; where an epoch takes far fewer, it is judged less often.
    judging = 0 if judged is None else len(judged) * train.k
    every = int(np.clip(judging / (3 * len(train) * plan.algorithm.cost(train.k)), 1, min(5, settings.max_epochs)))
    # A few steps show nothing yet.
    every = max(every, min(-(-_EXAMPLES_JUDGED // max(1, len(train))), settings.max_epochs // 10))
    epochs = OBJECTIVES[settings.objective].epochs_per_round(train.k)
    seen = 0 if judged is None else len(judged)
    return EarlyStopping(settings.max_epochs * epochs, settings.tolerance, settings.patience, max(every, epochs), seen)


def fixed_settings(estimator: Any) -> dict[str, Any]:
    """What a checkpoint must agree with, besides the data."""
    seed = estimator.random_state if isinstance(estimator.random_state, int | np.integer) else None
    settings = {name: value for name, value in estimator.get_params(deep=False).items() if name not in _FREE}
    return {**settings, "random_state": seed, "the names of classes": estimator.classes_.tolist()}


def _tune(plan: SgdPlan, settings: SgdSettings, trial: StepTrial) -> SgdPlan:
    if settings.step == "auto":
        step = find_step(trial, plan.algorithm, plan.schedule)
        plan = replace(plan, schedule=plan.schedule.with_step(step))
    if OBJECTIVES[settings.objective].samples_negatives and settings.beta == "auto" and trial.train.k > 2:
        beta = find_beta(trial, plan.algorithm, plan.schedule)
        plan = replace(plan, algorithm=plan.algorithm.with_beta(beta))
    return plan


def _square(problem: Problem, rng: np.random.Generator) -> float:
    square, apart = median_squared_norm(problem, rng)
    if square and not _LENGTHS[0] ** 2 <= square <= _LENGTHS[1] ** 2:
        least, most = _LENGTHS
        raise ValueError(
            f"X must have rows of lengths between {least:g} and {most:g}, so that float32 can hold the steps; "
            f"got about {np.sqrt(square):.1g}; scale X"
        )
    # Rows that are all the same, but for rounding, have nothing to learn from, and no way out.
    if 1e-9 < apart < _APART:
        warnings.warn(
            f"rows of X differ in only {apart:.1g} of their squared length, so that most steps follow their "
            "common mean and little is learned; subtract the mean of X from its rows",
            UserWarning,
            stacklevel=2,
        )
    # Where all rows are zero there is only the bias to learn.
    return square or 1.0


def _first_step(settings: SgdSettings, square: float) -> float:
    if settings.step != "auto":
        return float(settings.step)
    step = OBJECTIVES[settings.objective].first_step(settings.loss) / square
    return min(step, 0.5 / settings.regularization) if settings.regularization else step


def _schedule(settings: SgdSettings, step: float, square: float, seed: int) -> Schedule:
    return Schedule(
        step=float(step),
        regularization=float(settings.regularization),
        decays=bool(settings.step_decay),
        bias_rate=_BIAS_FRACTION * square,
        seed=seed,
        balanced=settings.sampling == "balanced",
    )
