"""Learning that goes on from what is there: one batch after the other, new classes beside old ones."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from manyclass._core.checks import draw_seed
from manyclass._core.models import rollback_on_error
from manyclass._core.shards import Shard
from manyclass._core.typing import Doubles
from manyclass.data.inputs import open_examples
from manyclass.data.matrix import Matrix
from manyclass.estimators._stochastic_plan import STEP_LIMITS, SgdSettings
from manyclass.estimators.class_updates import ClassUpdates, class_counts
from manyclass.estimators.prior_adjustment import class_totals
from manyclass.estimators.uncertainty.held_out import forget_held_out
from manyclass.estimators.validation import (
    check_classes,
    check_labels,
    encode_known_labels,
    encode_new_labels,
    example_weights,
    weighted_problem,
)
from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd.descent import EarlyStopping, SgdRun, checked_epoch, epoch_record, run_sgd
from manyclass.solvers.sgd.linear_weights import LinearWeights
from manyclass.solvers.sgd.objectives import OBJECTIVES, epochs_from_zero
from manyclass.solvers.sgd.tuning import CHOICES, SgdPlan, find_plan, make_plan, with_objective


class FittedSgd(SgdSettings, Protocol):
    """A `StochasticClassifier` that is fitted, or that knows at least its columns and classes."""

    random_state: Any
    shard: Shard | None
    classes_: NDArray[Any]
    coef_: NDArray[np.float32]
    intercept_: NDArray[np.float32]
    n_features_in_: int
    n_epochs_: int
    step_: float
    beta_: float | None


@dataclass(frozen=True)
class PartialFitState:
    """The machines after some calls, and the plan of the last."""

    machines: LinearWeights
    plan: SgdPlan
    step: float  # what "auto" stands for
    beta: float | None
    calls: int = 0

    @classmethod
    def begin(cls, settings: FittedSgd, problem: Problem, fitted: bool) -> "PartialFitState":
        """Before the first call."""
        return (cls.after_fit if fitted else cls.first)(settings, problem, draw_seed(settings.random_state))

    @classmethod
    def first(cls, settings: FittedSgd, problem: Problem, seed: int) -> "PartialFitState":
        """Before the first of all batches, on which what is "auto" is found."""
        plan = find_plan(settings, problem, seed)
        return cls(LinearWeights.zeros(problem.k, problem.d), plan, plan.schedule.step, plan.algorithm.beta)

    @classmethod
    def after_fit(cls, settings: FittedSgd, problem: Problem, seed: int) -> "PartialFitState":
        """Before the first batch of a classifier that is fitted."""
        plan = make_plan(settings, settings.step_, settings.beta_, problem, seed)
        # The machines that are there are copied before they change, like those of any batch.
        machines = LinearWeights.around(settings.coef_, settings.intercept_, getattr(settings, "steps_", None))
        return cls(machines, plan, settings.step_, settings.beta_)

    def next_plan(self, settings: FittedSgd, problem: Problem) -> SgdPlan:
        """The plan of the next call, by the settings of now; seed and unit of X are those of the first batch."""
        first = self.plan.schedule
        plan = make_plan(settings, self.step, self.beta, problem, first.seed)
        return replace(plan, schedule=replace(plan.schedule, bias_rate=first.bias_rate))


def check_batch_classes(settings: Any, classes: Any, known: bool) -> NDArray[Any]:
    """The classes of all batches: those of the first call, or of the fit before it."""
    if settings.class_weight == "balanced":
        raise ValueError("class_weight='balanced' needs all labels at once; pass a dictionary for partial_fit")
    if classes is None and not known:
        raise ValueError("classes must be passed on the first call to partial_fit")
    if not known:
        return check_classes(classes)
    before: NDArray[Any] = settings.classes_
    if classes is not None and not np.array_equal(check_classes(classes), before):
        raise ValueError("classes must be the same as in fit or in the first call to partial_fit; got others")
    return before


def check_same_objective(settings: SgdSettings, method: str) -> None:
    """Machines go on as they began, by the objective and the loss by which they were trained."""
    for name, before in zip(("objective", "loss"), getattr(settings, "trained_", ()), strict=False):
        now = getattr(settings, name)
        # The loss matters to one-vs-rest alone.
        if now != before and (name == "objective" or OBJECTIVES[settings.objective].samples_negatives):
            raise ValueError(
                f"{name} must stay {before!r} for {method}, which goes on from machines trained by it; got {now!r}; "
                "call fit, or use a new classifier"
            )


def new_class_problem(X: Matrix, y: Any, classes: NDArray[Any], sample_weight: Any) -> tuple[NDArray[Any], Problem]:
    """(the labels that are not among the classes, their one-vs-rest problem).

    One class more, the last, stands for all old ones; its machine is of no use afterwards.
    """
    new, indices = encode_new_labels(check_labels(y, len(X)), classes)
    weights = example_weights(indices, np.arange(len(new) + 1), None, sample_weight)
    problem = Problem.whole(X, indices, len(new) + 1, weights).part(np.flatnonzero(weights > 0))
    class_counts(problem.y[problem.index][problem.y[problem.index] < len(new)], new)
    return new, problem


_ENOUGH = 0.5  # rows of the smallest new class, of those of an old one, from which on it is trained


def _can_train(problem: Problem, y: Any) -> bool:
    """Whether new classes, all but the last of the problem, are large enough beside the old ones that are there."""
    *new, old = problem.sizes.tolist()
    places = problem.index[problem.y[problem.index] == len(new)]
    return bool(old) and min(new) >= _ENOUGH * old / len(np.unique(np.asarray(y).ravel()[places]))


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


class IncrementalSgd(ClassUpdates):
    """`partial_fit` and `add_classes` of a `StochasticClassifier`."""

    objective: str
    loss: str
    max_epochs: int
    random_state: Any
    classes_: NDArray[Any]
    coef_: NDArray[np.float32]
    intercept_: NDArray[np.float32]
    step_: float
    beta_: float | None
    n_epochs_: int
    history_: list[dict[str, Any]]
    steps_: NDArray[np.int64]
    trained_: tuple[str, str]
    class_counts_: NDArray[np.int64]
    class_weights_: Doubles
    _running: PartialFitState
    _computing: Callable[[], AbstractContextManager[None]]
    _learn: Callable[[LinearWeights, list[dict[str, Any]], int, Any], None]
    _take: Callable[[LinearWeights], None]
    _forget_prior: Callable[[], None]
    sampling: str
    class_prior_: Doubles
    _check_one_label: Callable[[str], None]

    @rollback_on_error
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Train for one epoch over these rows, from the machines as they are.

        The first call finds the step and beta that are "auto". `coef_` are the machines themselves and not, as after
        `fit`, their mean over epochs. Changed settings count from this call on; the objective and the loss cannot
        change.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.
        y : array-like of shape (n,)
            Labels.
        classes : array-like of shape (k,), default=None
            All labels that will come; required in the first call, unless `fit` came before.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows; those of weight 0 are left out.

        Returns
        -------
        StochasticClassifier
            The classifier itself.
        """
        with self._computing():
            settings = self._settled()
            self._check_one_label("partial_fit")
            check_same_objective(settings, "partial_fit")
            self._forget_prior()
            known = hasattr(self, "coef_")
            self.classes_ = check_batch_classes(self, classes, known)
            matrix = open_examples(self, X, reset=not known, limits=STEP_LIMITS)
            indices = encode_known_labels(y, self.classes_, len(matrix))
            problem = weighted_problem(self, matrix, indices, sample_weight)
            running = getattr(self, "_running", None) or PartialFitState.begin(settings, problem, known)
            plan = running.next_plan(settings, problem)
            machines = running.machines.copy()
            calls = running.calls
            train = partial(checked_epoch, plan.algorithm, problem, machines, plan.schedule, calls)
            record = epoch_record(train, problem, calls)
            machines.fold()
        calls += 1
        # The list is ours from the first batch on; to copy it every time would cost more and more.
        history = self.history_ if running.calls else [*getattr(self, "history_", [])]
        history.append(record)
        # What fit took stays on record: add_classes takes as long.
        self._learn(machines, history, max(calls, getattr(self, "n_epochs_", 0)), settings)
        self.step_, self.beta_ = plan.schedule.step, plan.algorithm.beta
        self._count_more(problem, known)
        if not hasattr(self, "negatives_"):
            self._keep_negatives(problem)
        self._running = replace(running, machines=machines, plan=plan, calls=calls)
        return self

    @rollback_on_error
    def add_classes(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn new classes; the old machines stay the same to the bit.

        With objective "ovr" and rows of old classes, of which the new ones have at least half as many on average, they
        are trained like the others. With fewer, or none, or another objective, they are imprinted: a machine that is
        trained on a few rows nearly never wins.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.
        y : array-like of shape (n,)
            Labels. Rows of old classes serve as negatives of the new ones, beta for every positive.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows; those of weight 0 are left out.

        Returns
        -------
        StochasticClassifier
            The classifier itself.
        """
        with self._computing():
            settings = self._settled()
            check_is_fitted(self)
            self._check_one_label("add_classes")
            check_same_objective(settings, "add_classes")
            self._forget_prior()
            matrix = open_examples(self, X)
            new, problem = new_class_problem(matrix, y, self.classes_, sample_weight)
            if settings.objective != "ovr" or not _can_train(problem, y):
                self.imprint_classes(matrix, y, sample_weight)
                forget_held_out(self)
                return self
            plan = make_plan(settings, self.step_, self.beta_, problem, draw_seed(self.random_state))
            descent = SgdRun.start(LinearWeights.zeros(problem.k, problem.d))
            epochs = epochs_from_zero(self.n_epochs_, getattr(self, "n_iter_", 0))
            stopping = EarlyStopping(max_epochs=min(epochs, self.max_epochs))
            run_sgd(descent, plan.algorithm, problem, replace(plan.schedule, balanced=False), stopping)
        old = LinearWeights.around(self.coef_, self.intercept_, getattr(self, "steps_", None))
        self._count_new(problem, np.argsort(np.concatenate([self.classes_, new]), kind="stable"))
        self.classes_, machines = join_weights(self.classes_, old, new, descent.weights.result())
        self._take(machines)
        return self

    def _count_more(self, problem: Problem, known: bool) -> None:
        """Add the sizes of the classes of a batch to those before; these are not known of machines of older files."""
        sizes = self._class_sizes(problem)
        if not known:
            self.class_counts_, self.class_weights_ = sizes
        elif hasattr(self, "class_weights_"):
            self.class_counts_, self.class_weights_ = self.class_counts_ + sizes[0], self.class_weights_ + sizes[1]

    def _count_new(self, problem: Problem, order: NDArray[np.intp]) -> None:
        """Put the sizes of new classes beside those before; the last of the problem stands for all old ones."""
        if hasattr(self, "class_weights_"):
            before, sizes = (self.class_counts_, self.class_weights_), class_totals(problem)
            both = (np.concatenate([a, b[:-1]])[order] for a, b in zip(before, sizes, strict=True))
            self.class_counts_, self.class_weights_ = both
            if hasattr(self, "imprinted_"):
                self.imprinted_ = np.append(self.imprinted_, np.zeros(problem.k - 1, bool))[order]

    def _class_sizes(self, problem: Problem) -> tuple[NDArray[np.int64], Doubles]:
        """Of each class, the rows and what they weigh among those that are shown."""
        counts, weights = class_totals(problem)
        if self.sampling == "balanced":
            weights = np.where(counts > 0, weights.sum() / np.count_nonzero(counts), 0.0)
        return counts, weights

    def _machine_prior(self) -> Doubles:
        """The share of positives among the rows that the machine of each class has seen (k,)."""
        positives = self.class_prior_
        negatives = 1 - positives if self.beta_ is None else np.minimum(self.beta_ * positives, 1 - positives)
        shares: Doubles = positives / (positives + negatives)
        return shares

    def _settled(self) -> Any:
        """The same settings with what an objective "auto" stands for: that of the machines there are, or the usual."""
        if self.objective != "auto":
            return self
        objective, loss = getattr(self, "trained_", ("ovr", self.loss))
        chosen = self.loss == "hinge" and (objective, loss) in CHOICES
        return with_objective(self, objective, loss if chosen else self.loss)
