"""Plan: the algorithm and the schedule that settings ask for, with what is "auto" found on a sample; when to stop."""

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from manyclass.estimators.objectives import algorithm, epochs_of_a_round, natural_step
from manyclass.estimators.validation_set import validation_problem
from manyclass.solvers.checkpoint import Checkpoint
from manyclass.solvers.one_vs_rest import OneVsRest
from manyclass.solvers.problem import Problem
from manyclass.solvers.schedule import Schedule
from manyclass.solvers.sgd import Algorithm, Stopping
from manyclass.solvers.tuning import Trial, find_beta, find_step
from manyclass.solvers.validation import hold_out, usual_squares

# What may change between a fit that was killed and the one that goes on from its checkpoint. Class weights are told
# by the weights of the examples; a seed that was drawn is in the checkpoint.
_FREE = ("n_threads", "callbacks", "checkpoint", "class_weight", "random_state")
# Examples between two judgements at least, but for a tenth of all epochs.
_STEPS = 1000
# The constant feature of the bias has this share of the mean square of a row, in whatever unit X comes.
_BIAS_SHARE = 0.1
_LENGTHS = 1e-15, 1e15
_APART = 1e-3  # with less of the squared length that is not the mean's, machines were seen to guess


@dataclass(frozen=True)
class Plan:
    """How to train."""

    algorithm: Algorithm
    schedule: Schedule

    @property
    def beta(self) -> float | None:
        """Negatives per positive of one-vs-rest; None for all."""
        return self.algorithm.beta if isinstance(self.algorithm, OneVsRest) else None


def find_plan(settings: Any, problem: Problem, seed: int) -> Plan:
    """The plan for a problem; a step or beta that is "auto" is sought on a small part of it."""
    rng = np.random.default_rng(seed)
    square = _square(problem, rng)
    plan = Plan(
        algorithm(settings.objective, settings.loss, settings.beta, problem.k),
        _schedule(settings, _first_step(settings, square), square, seed),
    )
    if settings.step != "auto" and settings.beta != "auto":
        return plan
    trial = Trial.on(problem, rng)
    return _tuned(plan, settings, trial.paced(plan.algorithm, plan.schedule)) if len(trial.held) else plan


def known_plan(settings: Any, step: float, beta: float | None, problem: Problem, seed: int) -> Plan:
    """The plan for more data of a kind for which step and beta have been found."""
    step = step if settings.step == "auto" else settings.step
    beta = beta if settings.beta == "auto" else settings.beta
    square = _square(problem, np.random.default_rng(seed))
    return Plan(algorithm(settings.objective, settings.loss, beta, problem.k), _schedule(settings, step, square, seed))


def plan_once(settings: Any, train: Problem, seed: int, checkpoint: Checkpoint) -> Plan:
    """The plan, found now, or before the run was killed."""
    run = checkpoint.run
    if run.step is not None:
        return known_plan(settings, run.step, run.beta, train, seed)
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


def stopping_of(settings: Any, plan: Plan, train: Problem, judged: Problem | None) -> Stopping:
    """When to judge and when to stop."""
    # Judging takes a score for every class; where an epoch takes far fewer, it is judged less often.
    judging = 0 if judged is None else len(judged) * train.k
    every = int(np.clip(judging / (3 * len(train) * plan.algorithm.cost(train.k)), 1, min(5, settings.max_epochs)))
    # A few steps show nothing yet.
    every = max(every, min(-(-_STEPS // max(1, len(train))), settings.max_epochs // 10))
    epochs = epochs_of_a_round(settings.objective, train.k)
    seen = 0 if judged is None else len(judged)
    return Stopping(settings.max_epochs * epochs, settings.tolerance, settings.patience, max(every, epochs), seen)


def fixed_settings(estimator: Any) -> dict[str, Any]:
    """What a checkpoint must agree with, besides the data."""
    seed = estimator.random_state if isinstance(estimator.random_state, int | np.integer) else None
    settings = {name: value for name, value in estimator.get_params(deep=False).items() if name not in _FREE}
    return {**settings, "random_state": seed, "the names of classes": estimator.classes_.tolist()}


def _tuned(plan: Plan, settings: Any, trial: Trial) -> Plan:
    if settings.step == "auto":
        step = find_step(trial, plan.algorithm, plan.schedule)
        plan = replace(plan, schedule=plan.schedule.with_step(step))
    if isinstance(plan.algorithm, OneVsRest) and settings.beta == "auto" and trial.train.k > 2:
        beta = find_beta(trial, plan.algorithm, plan.schedule)
        plan = replace(plan, algorithm=replace(plan.algorithm, beta=beta))
    return plan


def _square(problem: Problem, rng: np.random.Generator) -> float:
    square, apart = usual_squares(problem, rng)
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


def _first_step(settings: Any, square: float) -> float:
    if settings.step != "auto":
        return float(settings.step)
    step = natural_step(settings.objective, settings.loss) / square
    return min(step, 0.5 / settings.regularization) if settings.regularization else step


def _schedule(settings: Any, step: float, square: float, seed: int) -> Schedule:
    return Schedule(
        step=float(step),
        regularization=float(settings.regularization),
        decays=bool(settings.step_decay),
        bias_rate=_BIAS_SHARE * square,
        seed=seed,
        balanced=settings.sampling == "balanced",
    )
