"""How to train a `StochasticClassifier`: its settings checked, what is held out, where it starts, and when it stops."""

from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from manyclass._core.checks import (
    check_bool,
    check_callables,
    check_class_weight,
    check_count,
    check_number,
    check_one_of,
    check_verbose,
)
from manyclass._core.errors import SettingsError
from manyclass.data.inputs import ScaleLimits
from manyclass.data.views import StandardizedMatrix
from manyclass.estimators.callbacks import AfterEpoch
from manyclass.estimators.validation import validation_problem
from manyclass.losses.margin import MARGIN_LOSSES
from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd.descent import EarlyStopping, Judge, SgdRun, run_sgd
from manyclass.solvers.sgd.linear_weights import PANEL, LinearWeights
from manyclass.solvers.sgd.objectives import OBJECTIVES
from manyclass.solvers.sgd.subsets import hold_out, sample_classes
from manyclass.solvers.sgd.tuning import TABLE, PlanSettings, SgdPlan

SAMPLINGS = ("uniform", "balanced")

# Measured: with less, machines guess. Steps follow what is largest, in rows and in columns.
STEP_LIMITS = ScaleLimits(apart=1e-3, beside=5e-3)


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
    verbose: Any


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
    for name in ("step_decay", "averaging", "early_stopping", "refit", "warm_start"):
        check_bool(getattr(settings, name), name)
    # Its inverse is a number too.
    check_number(settings.t0, "t0", "None or a positive number", least=float(np.finfo(float).tiny), besides=(None,))
    if settings.t0 is not None and not settings.step_decay:
        raise ValueError(f"t0 must be None for steps of one length; got {settings.t0!r}, so set step_decay=True")
    if settings.step_decay and settings.t0 is None and settings.regularization == 0:
        raise ValueError(
            "step_decay must be False without regularization, which tells how steps decrease, or a t0; got True"
        )
    check_callables(settings.callbacks, "callbacks")
    check_verbose(settings.verbose)


# What may change between a fit that was killed and the one that goes on from its checkpoint. Class weights are told
# by the weights of the examples; a seed that was drawn is in the checkpoint.
_FREE = ("n_threads", "callbacks", "checkpoint", "verbose", "class_weight", "random_state")

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


def compares_objectives(settings: SgdSettings, d: int, k: int) -> bool:
    """Whether `find_plan` tries other objectives, and standardized columns, for d columns and k classes."""
    names = ("objective", "beta", "loss", "step", "regularization", "sampling")
    given = [getattr(settings, name) for name in names]
    return given == ["auto", "auto", "hinge", "auto", 0, "uniform"] and max(d, k) <= TABLE


def first_weights(estimator: Any, problem: Problem, before: NDArray[Any] | None) -> LinearWeights:
    """What `fit` begins with: zeros, for all classes or those of its shard; or the machines of the last fit.

    The latter had the classes `before`, which is None if it is to begin anew.
    """
    if before is not None:
        return last_weights(estimator, before)
    shard = estimator.shard
    if shard is None:
        return LinearWeights.zeros(problem.k, problem.d)
    alone = estimator.objective == "ovr" and not estimator.early_stopping
    if not alone or "auto" in (estimator.step, estimator.beta):
        raise SettingsError(
            f"a part of the classes ({shard}) needs `objective='ovr'`, `early_stopping=False`, and a `step` and a "
            "`beta`, as parts do not see how the others do; give them, or a `plan` that has them"
        )
    most = -(-problem.k // PANEL)
    if shard.count > most:  # some would have none, and without them the others cannot be joined
        raise SettingsError(
            f"{problem.k:,} classes can be divided into {most} parts of {PANEL} at least; got {shard}; "
            f"divide them by {most} at most"
        )
    span = shard.span(problem.k, PANEL)
    return LinearWeights.zeros(len(span), problem.d, span.start)


def last_weights(estimator: Any, before: NDArray[Any]) -> LinearWeights:
    """A copy of the machines of the last fit, which had the classes `before`; those of now must be the same."""
    now, columns = estimator.classes_, estimator.coef_.shape[1]
    if columns != estimator.n_features_in_:
        raise ValueError(f"warm_start needs the {columns} columns of the last fit; got {estimator.n_features_in_}")
    if not np.array_equal(now, before):
        raise ValueError(f"warm_start needs the {len(before)} classes of the last fit; got {_difference(now, before)}")
    return LinearWeights.of(estimator.coef_, estimator.intercept_)


def _difference(now: NDArray[Any], before: NDArray[Any]) -> str:
    """One label that makes the difference, in words."""
    new, old = set(now.tolist()), set(before.tolist())
    added, missing = ([label for label in a.tolist() if label not in b] for a, b in ((now, old), (before, new)))
    return f"another one, {added[0]!r}" if added else f"none of the class {missing[0]!r}"


def _most_judged(problem: Problem) -> int:
    return max(_JUDGED, 2 * problem.k)


def split_problem(
    estimator: Any, problem: Problem, validation: tuple[Any, Any] | None, seed: int
) -> tuple[Problem, Problem | None]:
    """The examples to train on, and those to judge by: of given ones, of those held out, or none."""
    rng, size = np.random.default_rng(seed), _most_judged(problem)
    if validation is not None:
        judged = sample_classes(validation_problem(estimator, validation), size, rng)
        return problem, judged.with_columns_of(problem)
    if not estimator.early_stopping:
        return problem, None
    train, held = hold_out(problem, estimator.validation_fraction, rng)
    judged = sample_classes(held, size, rng)
    if len(judged) < len(held):  # the others can be learned from
        train = problem.part(problem.index[~np.isin(problem.index, judged.index)])
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
        descent.judge(judge(descent.weights), stopping)
    first = replace(stopping, max_epochs=min(stopping.max_epochs, stopping.start_patience * stopping.every))
    run_sgd(descent, plan.algorithm, train, plan.schedule, first, judge, after)
    if not descent.best_epoch or settings.beta != "auto" or plan.algorithm.beta is None:
        return plan
    return replace(plan, algorithm=plan.algorithm.with_beta(max(plan.algorithm.beta, train.k / _CLASSES_A_NEGATIVE)))


# Of all examples: so few held out change what is learned by less than can be judged. Measured, 1.28 million rows of
# 1,000 classes: 69.4 % right of 10,000 in 222 s with 1.6 % held out, 69.6 in 537 s with 10 % and a refit, of which the
# second was before other changes too.
_FEW_HELD = 1 / 20

SMALL_WEIGHTS = 16 << 20  # bytes that may be held a third time, so that the best machines are at hand


def holds_out_few(problem: Problem, judged: Problem | None) -> bool:
    """Whether as many are held out as ever are, and nearly all examples are learned from before a refit."""
    return judged is not None and _most_judged(problem) <= len(judged) < _FEW_HELD * len(problem)


def most_epochs(settings: SgdSettings, k: int) -> int:
    """The epochs of `max_epochs` rounds."""
    return settings.max_epochs * OBJECTIVES[settings.objective].epochs_per_round(k)


def fixed_settings(estimator: Any) -> dict[str, Any]:
    """What a checkpoint must agree with, besides the data."""
    seed = estimator.random_state if isinstance(estimator.random_state, int | np.integer) else None
    settings = {name: value for name, value in estimator.get_params(deep=False).items() if name not in _FREE}
    part = {} if estimator.shard is None else {"the part of the classes": str(estimator.shard)}
    return {**settings, **part, "random_state": seed, "the names of classes": estimator.classes_.tolist()}
