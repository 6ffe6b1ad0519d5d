"""StochasticClassifier: one-vs-rest, multiclass, ranking, weighted ranking and softmax by stochastic gradient."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from manyclass._all_or_nothing import all_or_nothing
from manyclass._threads import get_threads, threads
from manyclass.data.inputs import open_examples
from manyclass.data.matrix import Matrix
from manyclass.estimators.batches import Batches, refuse_other_objective
from manyclass.estimators.callbacks import CallbackSupport, FitTask, with_callbacks
from manyclass.estimators.epochs import after_epoch, watched
from manyclass.estimators.growing import growth_problem, joined
from manyclass.estimators.history import Callback, told_of_the_end
from manyclass.estimators.labels import check_classes, encode_labels, known_labels
from manyclass.estimators.linear import LinearModel
from manyclass.estimators.objectives import epochs_of_a_round
from manyclass.estimators.plan import Plan, find_plan, known_plan
from manyclass.estimators.probabilities import Probabilities
from manyclass.estimators.settings import check_settings
from manyclass.estimators.validation_set import validation_problem
from manyclass.estimators.warm_start import last_machines
from manyclass.estimators.weights import example_weights
from manyclass.solvers.checkpoint import Checkpoint, identity
from manyclass.solvers.machines import Machines
from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd import Descent, Stopping, descend, run_epoch
from manyclass.solvers.validation import hold_out, mean_class_accuracy

# What may change between a fit that was killed and the one that goes on from its checkpoint. Class weights are told
# by the weights of the examples; a seed that was drawn is in the checkpoint.
_FREE = ("n_threads", "callbacks", "checkpoint", "class_weight", "random_state")
# Examples between two judgements at least, but for a tenth of all epochs.
_STEPS = 1000
# What is known of machines and no longer true of others.
_OF_MACHINES = ("temperature_", "_running")


class StochasticClassifier(CallbackSupport, Probabilities, LinearModel):  # type: ignore[misc]
    """Linear machines for very many classes, trained one example at a time.

    Minimizes regularization / 2 * |W|^2 + the mean over examples of a loss of their scores; the bias is not
    regularized. With no regularization, the usual choice, stopping early does its work: the mean over classes of the
    accuracy on a part held out decides, and the machines that were best there, but for chance, are kept (Perronnin et
    al., CVPR 2012). Features should be about centered, and rows of about the same length.

    Parameters
    ----------
    objective : "ovr" (one-vs-rest), "multiclass" (Crammer and Singer), "ranking", "warp" (weighted approximate
        ranking) or "softmax".
    loss : for "ovr": "hinge", "squared_hinge", "logistic" or "squared".
    beta : for "ovr": negatives per positive of each class, drawn anew in every epoch, as far as there are so many.
        "auto" finds it on a small sample; None takes all examples of other classes, the unweighted machine.
    regularization : strength of the ridge.
    step : size of a step; "auto" finds it on a small sample.
    step_decay : step / (1 + regularization * step * t) after t examples, in place of a fixed step. Batches of
        partial_fit go on counting from fit.
    early_stopping : hold out `validation_fraction` of every class, and at least one example of those that have two,
        unless fit is given a validation set. If False, all epochs are run and the last machines kept: the accuracy on a
        validation set then is on record in `history_`, and decides nothing.
    max_epochs, tolerance, patience : stop after `max_epochs`, or after `patience` judgements whose accuracy is not
        better by more than `tolerance`. There is a judgement after every epoch, or every few where epochs are much
        cheaper than judging or show less than 1,000 examples. Kept are the last machines whose accuracy half a
        standard error may set below the best, which a small validation set cannot tell apart. An epoch of "ranking"
        shows an example one rival only: there, sqrt(k) epochs for k classes are counted as one, and judged once.
    refit : after stopping on a part held out, train on everything for as many epochs.
    class_weight : None, "balanced" (n / (k * examples of the class)), or a dictionary from labels to weights. The
        weight of an example, which multiplies its steps, is that of its own class, in whichever machine it makes them.
        That is what scikit-learn does for classes that compete (Crammer and Singer, softmax). Its one-vs-rest differs
        from "ovr": SGDClassifier and LinearSVC weigh an example so in the machine of its own class alone, and as a
        negative of other machines by 1.
    balanced : draw examples such that every class comes equally often, in place of every example once: an epoch is as
        long as ever, takes a part of the large classes, another one in each epoch, and repeats the examples of small
        ones. It minimizes the mean over classes of the mean loss of their examples (Eq. 4 of the paper), as
        class_weight="balanced" does, by more steps in place of longer ones. Not used by add_classes.
    n_threads : None for as many as `manyclass.get_threads()`. It changes no bit of the result.
    warm_start : begin from the machines of the last fit. What they have seen is no honest validation: give fit one.
    random_state : None, an integer or a `numpy.random.RandomState`, as in scikit-learn.
    callbacks : called with the record of each epoch; one that returns True ends fit with the machines as they are: in
        training with the best so far, and there is no refit; in the refit with its last. `manyclass.JsonLines`
        keeps the records in a file, `manyclass.Progress` shows a bar. One that has a method `close` has it called when
        fit ends, whichever way. Callbacks of scikit-learn's own kind (1.9) go to `set_callbacks`.
    checkpoint : path of a file in which fit keeps where it stands: after tuning, after epochs (every few seconds at
        most) and between training and refit. Fit again with the same data and settings and it goes on from there, to
        the same bits as if nothing had happened; the file of other data or settings is refused and left alone. A fit
        that ends removes it. With random_state=None the seed of the first fit is kept in it. Not used by partial_fit
        and add_classes.

    Attributes
    ----------
    classes_, coef_ (k, d), intercept_ (k,), n_features_in_; history_ : one dictionary for every epoch; step_, beta_ :
    what was used; n_epochs_ : how many epochs the machines that are kept have seen; steps_ (k,) : the examples that
    each class has seen; trained_ : the objective and the loss by which it was; temperature_ : after `calibrate`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(np.arange(20), 30)
    >>> X = rng.normal(size=(20, 16))[y] + 0.3 * rng.normal(size=(600, 16))
    >>> clf = StochasticClassifier(random_state=0).fit(X, y)
    >>> bool(clf.score(X, y) > 0.95)
    True
    """

    step_: float
    beta_: float | None
    n_epochs_: int
    history_: list[dict[str, Any]]
    steps_: NDArray[np.int64]
    trained_: tuple[str, str]
    _running: Batches

    def __init__(
        self,
        objective: str = "ovr",
        loss: str = "hinge",
        beta: float | str | None = "auto",
        regularization: float = 0.0,
        step: float | str = "auto",
        step_decay: bool = False,
        max_epochs: int = 100,
        early_stopping: bool = True,
        validation_fraction: float = 0.1,
        tolerance: float = 1e-3,
        patience: int = 10,
        refit: bool = True,
        class_weight: Any = None,
        sampling: str = "uniform",
        n_threads: int | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        callbacks: Iterable[Callback] = (),
        checkpoint: str | os.PathLike[str] | None = None,
    ):
        self.objective = objective
        self.loss = loss
        self.beta = beta
        self.regularization = regularization
        self.step = step
        self.step_decay = step_decay
        self.max_epochs = max_epochs
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.tolerance = tolerance
        self.patience = patience
        self.refit = refit
        self.class_weight = class_weight
        self.sampling = sampling
        self.n_threads = n_threads
        self.warm_start = warm_start
        self.random_state = random_state
        self.callbacks = callbacks
        self.checkpoint = checkpoint

    @all_or_nothing
    @with_callbacks
    def fit(self, X: Any, y: Any, validation: tuple[Any, Any] | None = None, sample_weight: Any = None) -> Self:
        """Train on rows X with labels y; `validation` is (X, y) to stop by, in place of a part held out, or to watch.

        Examples whose weight is 0 are left out. A step that is too large for the data raises FloatingPointError. After
        an error or Ctrl-C the classifier is as it was before.
        """
        check_settings(self)
        with self._computing(), told_of_the_end(self.callbacks):
            task = FitTask(self, X, y, phases=1 if validation is not None or not self.early_stopping else 2)
            before = getattr(self, "classes_", None)
            problem = self._problem(X, y, sample_weight)
            start, checkpoint = self._start(problem, before), Checkpoint(self.checkpoint)
            run = checkpoint.run
            seed = run.seed = self._seed() if run.seed is None else run.seed
            train, judged = self._split(problem, validation, seed)
            if self.checkpoint is not None:
                checkpoint.check(identity(problem, judged, start, self._settings()))
            plan = self._plan_once(train, seed, checkpoint)
            judge = None if judged is None else mean_class_accuracy(judged)
            if run.phase == "train":
                stopping = self._stopping(plan, train, judged)
                descent = run.begun(start.copy())
                after = after_epoch(self.callbacks, task, checkpoint, stopping)
                if judge is not None and not self.early_stopping:
                    after, judge = watched(judge, stopping, after), None
                descend(descent, plan.algorithm, train, plan.schedule, stopping, judge, after)
                run.n_epochs = descent.best_epoch or descent.epoch
                if self.refit and len(train) < len(problem) and run.n_epochs and not run.ended:
                    run.begin_refit()
                    del descent  # its machines are not needed beside those of the refit
                    checkpoint.write()
            if run.phase == "refit":
                stopping = Stopping(max_epochs=run.n_epochs)
                descent = run.begun(start)
                after = after_epoch(self.callbacks, task, checkpoint, stopping)
                descend(descent, plan.algorithm, problem, plan.schedule, stopping, None, after)
                run.n_epochs = descent.epoch
            machines = replace(descent.result(), steps=descent.machines.steps)
            task.over(machines)
        self._learn(machines, run.trained + descent.history, run.n_epochs)
        checkpoint.remove()
        return self

    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """One epoch over these rows, from the machines as they are.

        The first call needs all `classes`, unless fit came before; it also finds the step and beta that are "auto",
        on its rows. `coef_` are the machines themselves and not, as after fit, their mean over epochs. Settings that
        were changed since the last call count from this one on, and "auto" stands for what was found at first; the
        objective and the loss cannot change.
        """
        check_settings(self)
        refuse_other_objective(self, "partial_fit")
        with self._computing():
            known = hasattr(self, "coef_")
            self._check_classes(classes, known)
            matrix = open_examples(self, X, reset=not known)
            problem = self._weighted(matrix, known_labels(y, self.classes_, len(matrix)), sample_weight)
            running = self._running_on(problem, known)
            plan = running.next_plan(self, problem)
            machines = running.machines.copy()
            record = run_epoch(plan.algorithm, problem, machines, plan.schedule, running.calls)
            machines.fold()
        calls = running.calls + 1
        # The list is ours from the first batch on; to copy it every time would cost more and more.
        history = self.history_ if running.calls else [*getattr(self, "history_", [])]
        history.append(record)
        # What fit took stays on record: add_classes takes as long.
        self._learn(machines, history, max(calls, getattr(self, "n_epochs_", 0)))
        self.step_, self.beta_ = plan.schedule.step, plan.beta
        self._running = replace(running, machines=machines, plan=plan, calls=calls)
        return self

    @all_or_nothing
    def add_classes(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn classes that were not there before; the old machines stay as they are, to the bit ("ovr" only).

        Rows whose label is an old class serve as negatives of the new ones, beta for every positive as in fit.
        """
        check_settings(self)
        if self.objective != "ovr":
            raise ValueError(f"add_classes needs objective='ovr', whose classes do not compete; got {self.objective!r}")
        check_is_fitted(self)
        refuse_other_objective(self, "add_classes")
        with self._computing():
            new, problem = growth_problem(open_examples(self, X), y, self.classes_, sample_weight)
            plan = known_plan(self, self.step_, self.beta_, problem, self._seed())
            descent = Descent.start(Machines.zeros(problem.k, problem.d))
            stopping = Stopping(max_epochs=min(self.n_epochs_, self.max_epochs))
            descend(descent, plan.algorithm, problem, replace(plan.schedule, balanced=False), stopping)
        old = Machines.around(self.coef_, self.intercept_, getattr(self, "steps_", None))
        machines = replace(descent.result(), steps=descent.machines.steps)
        self.classes_, machines = joined(self.classes_, old, new, machines)
        self._take(machines)
        return self

    def _learn(self, machines: Machines, history: list[dict[str, Any]], n_epochs: int) -> None:
        self._take(machines)
        self.history_, self.n_epochs_ = history, n_epochs
        self.trained_ = self.objective, self.loss

    def _take(self, machines: Machines) -> None:
        for name in _OF_MACHINES:
            self.__dict__.pop(name, None)
        self.coef_, self.intercept_, self.steps_ = machines.W, machines.biases, machines.steps

    def _link(self) -> str:
        # Of the machines that there are, whatever is set by now.
        objective, loss = getattr(self, "trained_", (self.objective, self.loss))
        if objective == "softmax":
            return "softmax"
        if objective == "ovr" and loss == "logistic":
            return "logistic"
        raise AttributeError(
            "predict_proba needs objective='softmax', loss='logistic' or a call of calibrate; "
            f"got objective={objective!r}, loss={loss!r}"
        )

    @contextmanager
    def _computing(self) -> Iterator[None]:
        # Weights that grow beyond float32 are noticed after the epoch.
        with threads(self.n_threads or get_threads()), np.errstate(over="ignore", invalid="ignore"):
            yield

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _problem(self, X: Any, y: Any, sample_weight: Any) -> Problem:
        matrix = open_examples(self, X, reset=True)
        self.classes_, codes = encode_labels(y, len(matrix))
        return self._weighted(matrix, codes, sample_weight)

    def _weighted(self, matrix: Matrix, codes: NDArray[np.int32], sample_weight: Any) -> Problem:
        """The examples whose weight is above 0."""
        weights = example_weights(codes, self.classes_, self.class_weight, sample_weight)
        return Problem.whole(matrix, codes, len(self.classes_), weights).part(np.flatnonzero(weights > 0))

    def _start(self, problem: Problem, before: NDArray[Any] | None) -> Machines:
        if not self.warm_start or before is None:
            return Machines.zeros(problem.k, problem.d)
        return last_machines(self, before)

    def _check_classes(self, classes: Any, known: bool) -> None:
        if self.class_weight == "balanced":
            raise ValueError("class_weight='balanced' needs all labels at once; give partial_fit a dictionary")
        if classes is None and not known:
            raise ValueError("classes must be passed on the first call to partial_fit")
        if classes is not None and known and not np.array_equal(check_classes(classes), self.classes_):
            raise ValueError("classes must be those of the first call to partial_fit, or of fit; got other ones")
        if not known:
            self.classes_ = check_classes(classes)

    def _running_on(self, problem: Problem, known: bool) -> Batches:
        if hasattr(self, "_running"):
            return self._running
        begin = Batches.after_fit if known else Batches.first
        return begin(self, problem, self._seed())

    def _split(self, problem: Problem, validation: tuple[Any, Any] | None, seed: int) -> tuple[Problem, Problem | None]:
        if validation is not None:
            return problem, validation_problem(self, validation)
        if not self.early_stopping:
            return problem, None
        train, held = hold_out(problem, self.validation_fraction, np.random.default_rng(seed))
        return (train, held) if len(held) else (problem, None)

    def _stopping(self, plan: Plan, train: Problem, judged: Problem | None) -> Stopping:
        # Judging takes a score for every class; where an epoch takes far fewer, it is judged less often.
        judging = 0 if judged is None else len(judged) * train.k
        every = int(np.clip(judging / (3 * len(train) * plan.algorithm.cost(train.k)), 1, min(5, self.max_epochs)))
        # A few steps show nothing yet.
        every = max(every, min(-(-_STEPS // max(1, len(train))), self.max_epochs // 10))
        epochs = epochs_of_a_round(self.objective, train.k)
        seen = 0 if judged is None else len(judged)
        return Stopping(self.max_epochs * epochs, self.tolerance, self.patience, max(every, epochs), seen)

    def _plan_once(self, train: Problem, seed: int, checkpoint: Checkpoint) -> Plan:
        """The plan, found now, or before the run was killed."""
        run = checkpoint.run
        if run.step is None:
            plan = find_plan(self, train, seed)
            run.step, run.beta = plan.schedule.step, plan.beta
            checkpoint.write()
        else:
            plan = known_plan(self, run.step, run.beta, train, seed)
        self.step_, self.beta_ = plan.schedule.step, plan.beta
        return plan

    def _settings(self) -> dict[str, Any]:
        """What a checkpoint must agree with, besides the data."""
        seed = self.random_state if isinstance(self.random_state, int | np.integer) else None
        settings = {name: value for name, value in self.get_params(deep=False).items() if name not in _FREE}
        return {**settings, "random_state": seed, "the names of classes": self.classes_.tolist()}
