"""Plan: the algorithm and the schedule that settings ask for, with what is "auto" found on a sample; when to stop.

The names of objectives, and what they stand for.

What `partial_fit` has under way between its calls.

New classes for one-vs-rest machines, which leave the old ones alone.
"""

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.checks import check_count, check_one_of
from manyclass.data.matrix import Matrix
from manyclass.estimators.validation import (
    SAMPLINGS,
    check_bool,
    check_callables,
    check_class_weight,
    check_classes,
    check_labels,
    check_number,
    example_weights,
    new_labels,
    validation_problem,
)
from manyclass.losses.margin import MARGIN_LOSSES
from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd.checkpoint import Checkpoint
from manyclass.solvers.sgd.descent import EarlyStopping, SgdAlgorithm
from manyclass.solvers.sgd.linear_models import LinearWeights
from manyclass.solvers.sgd.objectives import OBJECTIVES
from manyclass.solvers.sgd.sampling import Schedule
from manyclass.solvers.sgd.tuning import StepTrial, find_beta, find_step, hold_out, median_squared_norm

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
class SgdPlan:
    """How to train."""

    algorithm: SgdAlgorithm
    schedule: Schedule

    @property
    def beta(self) -> float | None:
        """Negatives per positive of one-vs-rest; None for all."""
        return self.algorithm.beta


def find_plan(settings: Any, problem: Problem, seed: int) -> SgdPlan:
    """The plan for a problem; a step or beta that is "auto" is sought on a small part of it."""
    rng = np.random.default_rng(seed)
    square = _square(problem, rng)
    plan = SgdPlan(
        OBJECTIVES[settings.objective].make(settings.loss, settings.beta, problem.k),
        _schedule(settings, _first_step(settings, square), square, seed),
    )
    if settings.step != "auto" and settings.beta != "auto":
        return plan
    trial = StepTrial.on(problem, rng)
    return _tuned(plan, settings, trial.with_pace(plan.algorithm, plan.schedule)) if len(trial.held) else plan


def known_plan(settings: Any, step: float, beta: float | None, problem: Problem, seed: int) -> SgdPlan:
    """The plan for more data of a kind for which step and beta have been found."""
    step = step if settings.step == "auto" else settings.step
    beta = beta if settings.beta == "auto" else settings.beta
    square = _square(problem, np.random.default_rng(seed))
    return SgdPlan(
        OBJECTIVES[settings.objective].make(settings.loss, beta, problem.k), _schedule(settings, step, square, seed)
    )


def plan_once(settings: Any, train: Problem, seed: int, checkpoint: Checkpoint) -> SgdPlan:
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


def stopping_of(settings: Any, plan: SgdPlan, train: Problem, judged: Problem | None) -> EarlyStopping:
    """When to judge and when to stop."""
    # Judging takes a score for every class; where an epoch takes far fewer, it is judged less often.
    judging = 0 if judged is None else len(judged) * train.k
    every = int(np.clip(judging / (3 * len(train) * plan.algorithm.cost(train.k)), 1, min(5, settings.max_epochs)))
    # A few steps show nothing yet.
    every = max(every, min(-(-_STEPS // max(1, len(train))), settings.max_epochs // 10))
    epochs = OBJECTIVES[settings.objective].epochs_per_round(train.k)
    seen = 0 if judged is None else len(judged)
    return EarlyStopping(settings.max_epochs * epochs, settings.tolerance, settings.patience, max(every, epochs), seen)


def fixed_settings(estimator: Any) -> dict[str, Any]:
    """What a checkpoint must agree with, besides the data."""
    seed = estimator.random_state if isinstance(estimator.random_state, int | np.integer) else None
    settings = {name: value for name, value in estimator.get_params(deep=False).items() if name not in _FREE}
    return {**settings, "random_state": seed, "the names of classes": estimator.classes_.tolist()}


def _tuned(plan: SgdPlan, settings: Any, trial: StepTrial) -> SgdPlan:
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


def _first_step(settings: Any, square: float) -> float:
    if settings.step != "auto":
        return float(settings.step)
    step = OBJECTIVES[settings.objective].first_step(settings.loss) / square
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


@dataclass(frozen=True)
class Batches:
    """The machines after some calls, and the plan of the last."""

    machines: LinearWeights
    plan: SgdPlan
    step: float  # what "auto" stands for
    beta: float | None
    calls: int = 0

    @classmethod
    def first(cls, settings: Any, problem: Problem, seed: int) -> "Batches":
        """Before the first of all batches, on which what is "auto" is found."""
        plan = find_plan(settings, problem, seed)
        return cls(LinearWeights.zeros(problem.k, problem.d), plan, plan.schedule.step, plan.beta)

    @classmethod
    def after_fit(cls, settings: Any, problem: Problem, seed: int) -> "Batches":
        """Before the first batch of a classifier that is fitted."""
        plan = known_plan(settings, settings.step_, settings.beta_, problem, seed)
        # The machines that are there are copied before they change, like those of any batch.
        machines = LinearWeights.around(settings.coef_, settings.intercept_, getattr(settings, "steps_", None))
        return cls(machines, plan, settings.step_, settings.beta_)

    def next_plan(self, settings: Any, problem: Problem) -> SgdPlan:
        """The plan of the next call, by the settings of now; seed and unit of X are those of the first batch."""
        first = self.plan.schedule
        plan = known_plan(settings, self.step, self.beta, problem, first.seed)
        return replace(plan, schedule=replace(plan.schedule, bias_rate=first.bias_rate))


def batch_classes(settings: Any, classes: Any, known: bool) -> NDArray[Any]:
    """The classes of all batches: those of the first call, or of the fit before it."""
    if settings.class_weight == "balanced":
        raise ValueError("class_weight='balanced' needs all labels at once; pass a dictionary for partial_fit")
    if classes is None and not known:
        raise ValueError("classes must be passed on the first call to partial_fit")
    if not known:
        return check_classes(classes)
    fitted: NDArray[Any] = settings.classes_
    if classes is not None and not np.array_equal(check_classes(classes), fitted):
        raise ValueError("classes must be the same as in fit or in the first call to partial_fit; got others")
    return fitted


def refuse_other_objective(settings: Any, method: str) -> None:
    "LinearWeights go on as they began, by the objective and the loss by which they were trained."
    for name, before in zip(("objective", "loss"), getattr(settings, "trained_", ()), strict=False):
        now = getattr(settings, name)
        # The loss matters to one-vs-rest alone.
        if now != before and (name == "objective" or OBJECTIVES[settings.objective].samples_negatives):
            raise ValueError(
                f"{name} must stay {before!r} for {method}, which goes on from machines trained by it; got {now!r}; "
                "call fit, or use a new classifier"
            )


def growth_problem(X: Matrix, y: Any, classes: NDArray[Any], sample_weight: Any) -> tuple[NDArray[Any], Problem]:
    """(the labels that are not among the classes, their one-vs-rest problem).

    One class more, the last, stands for all old ones; its machine is of no use afterwards.
    """
    new, codes = new_labels(check_labels(y, len(X)), classes)
    weights = example_weights(codes, np.arange(len(new) + 1), None, sample_weight)
    problem = Problem.whole(X, codes, len(new) + 1, weights).part(np.flatnonzero(weights > 0))
    _refuse_missing(problem.sizes, new)
    return new, problem


def _refuse_missing(sizes: NDArray[Any], new: NDArray[Any]) -> None:
    """Every new class needs positives and negatives; `sizes` counts rows of the new classes, then of all others."""
    for missing in np.flatnonzero(sizes[:-1] == 0)[:1]:
        raise ValueError(
            "add_classes needs a row of every new class whose sample_weight is not zero; "
            f"got none of the class {new.tolist()[missing]!r}"
        )
    if len(new) == 1 and not sizes[1]:
        raise ValueError(
            f"add_classes needs negatives; all rows are of the class {new.tolist()[0]!r}, so add rows of others"
        )


def join_weights(
    classes: NDArray[Any], old: LinearWeights, new: NDArray[Any], machines: LinearWeights
) -> tuple[NDArray[Any], LinearWeights]:
    """(classes, machines) with the new ones in their sorted places; old rows keep their bits."""
    together = np.concatenate([classes, new])
    order = np.argsort(together, kind="stable")

    def both(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([a, b[: len(new)]])[order]

    W, biases = both(old.W, machines.W), both(old.biases, machines.biases)
    return together[order], LinearWeights.around(W, biases, both(old.steps, machines.steps))


def check_settings(settings: Any) -> None:
    """Refuse the first setting that is not one, in a sentence; classes and data are checked elsewhere."""
    check_one_of(settings.objective, "objective", OBJECTIVES)
    check_one_of(settings.loss, "loss", MARGIN_LOSSES)
    check_one_of(settings.sampling, "sampling", SAMPLINGS)
    if settings.beta is not None and not _is_auto(settings.beta):
        check_number(settings.beta, "beta", "'auto', None or a positive number", above=0, most=np.inf)
    if not _is_auto(settings.step):
        check_number(settings.step, "step", "'auto' or a positive number", above=0)
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


def _is_auto(value: Any) -> bool:
    # An array has no one answer to what it equals.
    return isinstance(value, str) and value == "auto"
