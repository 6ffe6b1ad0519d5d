"""Plan: the algorithm and the schedule that settings ask for, with what is "auto" found on a sample."""

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from manyclass.estimators.objectives import algorithm, natural_step
from manyclass.solvers.one_vs_rest import OneVsRest
from manyclass.solvers.problem import Problem
from manyclass.solvers.schedule import Schedule
from manyclass.solvers.sgd import Algorithm
from manyclass.solvers.tuning import Trial, find_beta, find_step
from manyclass.solvers.validation import usual_squares

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
            f"rows of X differ from one another in {apart:.1g} of their squared length only, so that most steps follow "
            "what they have in common and little is learned; subtract the mean of X from its rows",
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
