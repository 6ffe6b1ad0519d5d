"""How to train a `StochasticClassifier`: its settings checked, what is held out, where it starts, and when it stops."""

from collections.abc import Callable
from dataclasses import replace
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
from manyclass.data.views import StandardizedMatrix
from manyclass.estimators.callbacks import AfterEpoch
from manyclass.estimators.validation import validation_problem
from manyclass.losses.margin import MARGIN_LOSSES
from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd.descent import EarlyStopping, LinearWeights, SgdRun, run_sgd
from manyclass.solvers.sgd.objectives import OBJECTIVES
from manyclass.solvers.sgd.tuning import PlanSettings, SgdPlan, hold_out, sample_classes

Judge = Callable[[LinearWeights], float]

SAMPLINGS = ("uniform", "balanced")


class SgdSettings(PlanSettings, Protocol):
    """The parameters of a `StochasticClassifier` that say how to train, as attributes."""

    max_epochs: int
    early_stopping: bool
    validation_fraction: float
    tolerance: float
    patience: int
    refit: bool
    class_weight: Any
    n_threads: int | None
    warm_start: bool
    callbacks: Any


def check_settings(settings: SgdSettings) -> None:
    """Refuse the first setting that is not one, in a sentence; classes and data are checked elsewhere."""
    check_one_of(settings.objective, "objective", ("auto", *OBJECTIVES))
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

# Classes for one negative that goes with a positive after a start was surpassed. Measured: with 100 classes 10 are
# better than 40 (25.7 against 24.8 %, Fisher vectors of Tiny-ImageNet), with 659 they are worse than 51 (20.5 against
# 22.0 %, pixels of Omniglot).
_CLASSES_A_NEGATIVE = 12

_START_PATIENCE = 2  # judgements of machines that are no better than their start

# Examples between two judgements at least, but for a tenth of all epochs.
_EXAMPLES_JUDGED = 1000


# Examples to judge by at most, or two of each class: the standard error of an accuracy is at most 0.35 %, and to score
# more of them would cost as much as an epoch.
_JUDGED = 20_000


def split_problem(
    estimator: Any, problem: Problem, validation: tuple[Any, Any] | None, seed: int
) -> tuple[Problem, Problem | None]:
    """The examples to train on, and those to judge by: of given ones, of those held out, or none."""
    rng, size = np.random.default_rng(seed), max(_JUDGED, 2 * problem.k)
    if validation is not None:
        judged = sample_classes(validation_problem(estimator, validation), size, rng)
        return problem, judged.with_columns_of(problem)
    if not estimator.early_stopping:
        return problem, None
    train, held = hold_out(problem, estimator.validation_fraction, rng)
    judged = sample_classes(held, size, rng)
    return (train, judged) if len(judged) else (problem, None)


def standardize(problem: Problem, train: Problem, judged: Problem | None) -> tuple[Problem, Problem, Problem | None]:
    """The problem, its part to train on, and what judges, in columns of mean 0 and variance 1."""
    whole = replace(problem, X=StandardizedMatrix.of(problem.X))
    if judged is not None:
        judged = replace(judged, X=whole.X) if judged.X is problem.X else judged.with_columns_of(whole)
    return whole, replace(train, X=whole.X), judged


def make_stopping(
    settings: SgdSettings, plan: SgdPlan, train: Problem, judged: Problem | None, started: int = 0
) -> EarlyStopping:
    """When to judge and when to stop; after a start near the end, as soon as nothing more is seen to be gained."""
    most = most_epochs(settings, train.k)
    # Judging takes a score for every class; where an epoch takes far fewer, it is judged less often.
    judging = 0 if judged is None else len(judged) * train.k
    every = int(np.clip(judging / (3 * len(train) * plan.algorithm.cost(train.k)), 1, min(5, settings.max_epochs)))
    # A few steps show nothing yet.
    every = max(every, min(-(-_EXAMPLES_JUDGED // max(1, len(train))), settings.max_epochs // 10))
    every = max(every, OBJECTIVES[settings.objective].epochs_per_round(train.k))
    seen = 0 if judged is None else len(judged)
    soon = min(settings.patience, _START_PATIENCE) if started else 0
    return EarlyStopping(most, settings.tolerance, settings.patience, every, seen, soon)


def leave_start(
    settings: SgdSettings, plan: SgdPlan, descent: SgdRun, train: Problem, stopping: EarlyStopping, judge: Judge,
    after: AfterEpoch,
) -> SgdPlan:  # fmt: skip
    """Run the first epochs after a start, with few negatives; the plan of those that follow, if these surpass it.

    Few are enough to see that: least squares has seen them all, and an epoch with more disturbs it for longer.
    """
    if not descent.epoch:
        descent.judge(judge(descent.mean), stopping)
    first = replace(stopping, max_epochs=min(stopping.max_epochs, stopping.start_patience * stopping.every))
    run_sgd(descent, plan.algorithm, train, plan.schedule, first, judge, after)
    if not descent.best_epoch or settings.beta != "auto" or plan.algorithm.beta is None:
        return plan
    return replace(plan, algorithm=plan.algorithm.with_beta(max(plan.algorithm.beta, train.k / _CLASSES_A_NEGATIVE)))


def most_epochs(settings: SgdSettings, k: int) -> int:
    """The epochs of `max_epochs` rounds."""
    return settings.max_epochs * OBJECTIVES[settings.objective].epochs_per_round(k)


def fixed_settings(estimator: Any) -> dict[str, Any]:
    """What a checkpoint must agree with, besides the data."""
    seed = estimator.random_state if isinstance(estimator.random_state, int | np.integer) else None
    settings = {name: value for name, value in estimator.get_params(deep=False).items() if name not in _FREE}
    part = {} if estimator.shard is None else {"the part of the classes": str(estimator.shard)}
    return {**settings, **part, "random_state": seed, "the names of classes": estimator.classes_.tolist()}
