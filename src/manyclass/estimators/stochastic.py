"""StochasticClassifier: one-vs-rest, multiclass, ranking, weighted ranking and softmax by stochastic gradient."""

from collections.abc import Callable, Iterable
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from manyclass._threads import get_threads, threads
from manyclass.data.tiles import Floats
from manyclass.estimators.labels import encode_labels, example_weights, known_labels
from manyclass.estimators.linear import LinearClassifier, open_features
from manyclass.estimators.objectives import OBJECTIVES, natural_step
from manyclass.estimators.objectives import algorithm as algorithm_of
from manyclass.losses.margin import MARGIN_LOSSES
from manyclass.losses.softmax import Softmax
from manyclass.solvers.machines import Machines
from manyclass.solvers.one_vs_rest import OneVsRest
from manyclass.solvers.problem import Problem
from manyclass.solvers.schedule import Schedule
from manyclass.solvers.sgd import Algorithm, Descent, Stopping, descend
from manyclass.solvers.tuning import Trial, find_beta, find_step
from manyclass.solvers.validation import hold_out, mean_class_accuracy, mean_square

Callback = Callable[[dict[str, Any]], bool | None]


class StochasticClassifier(LinearClassifier):
    """Linear machines for very many classes, trained one example at a time.

    Minimizes regularization / 2 * |W|^2 + the mean over examples of a loss of their scores; the bias is not
    regularized. With no regularization, the usual choice, stopping early does its work: the mean over classes of the
    accuracy on a part held out decides, and the machines that were best there are kept (Perronnin et al., CVPR 2012).

    Parameters
    ----------
    objective : "ovr" (one-vs-rest), "multiclass" (Crammer and Singer), "ranking", "warp" (weighted approximate
        ranking) or "softmax".
    loss : for "ovr": "hinge", "squared_hinge", "logistic" or "squared".
    beta : for "ovr": negatives per positive, drawn anew in every epoch. "auto" finds it on a small sample; None takes
        all other classes, the unweighted machine.
    regularization : strength of the ridge.
    step : size of a step; "auto" finds it on a small sample.
    step_decay : step / (1 + regularization * step * t) after t examples, in place of a fixed step.
    early_stopping : hold out `validation_fraction` of every class, unless fit is given a validation set.
    tolerance, patience : stop after `patience` epochs whose accuracy is not better by more than `tolerance`.
    refit : after stopping on a part held out, train on everything for as many epochs.
    class_weight : None, "balanced", or a dictionary from labels to weights.
    n_threads : None for as many as `manyclass.get_threads()`. It changes no bit of the result.
    warm_start : begin from the machines of the last fit.
    random_state : None, an integer or a NumPy generator.
    callbacks : called with the record of each epoch; one that returns True ends the descent.

    Attributes
    ----------
    classes_, coef_ (k, d), intercept_ (k,), n_features_in_; history_ : one dictionary for every epoch; step_, beta_ :
    what was used; n_epochs_ : how many epochs the machines that are kept have seen.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(np.arange(20), 30)
    >>> X = rng.normal(size=(20, 16))[y] + 0.3 * rng.normal(size=(600, 16))
    >>> clf = StochasticClassifier(random_state=0).fit(X, y)
    >>> bool(clf.score(X, y) > 0.95)
    True
    """

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
        patience: int = 5,
        refit: bool = True,
        class_weight: Any = None,
        n_threads: int | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        callbacks: Iterable[Callback] = (),
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
        self.n_threads = n_threads
        self.warm_start = warm_start
        self.random_state = random_state
        self.callbacks = callbacks

    def fit(self, X: Any, y: Any, validation: tuple[Any, Any] | None = None, sample_weight: Any = None) -> Self:
        """Train on rows X with labels y; `validation` is (X, y) to stop by, in place of a part held out."""
        self._check_settings()
        with threads(self.n_threads or get_threads()):
            problem, seed = self._problem(X, y, sample_weight), self._seed()
            start = self._start(problem)
            train, judged = self._split(problem, validation, seed)
            algorithm, schedule = self._tune(train, seed)
            judge = None if judged is None else mean_class_accuracy(judged)
            stopping = self._stopping(algorithm, train, judged)
            after = self._after_epoch("train")
            descent = descend(Descent.start(start.copy()), algorithm, train, schedule, stopping, judge, after)
            history, machines, n_epochs = descent.history, descent.result(), descent.best_epoch or descent.epoch
            if judge is not None and self.refit and len(train) < len(problem) and n_epochs:
                again = Stopping(max_epochs=n_epochs)
                after = self._after_epoch("refit")
                descent = descend(Descent.start(start), algorithm, problem, schedule, again, None, after)
                machines = descent.result()
                history = history + descent.history
        self.coef_, self.intercept_ = machines.W, machines.biases
        self.history_, self.n_epochs_ = history, n_epochs
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """One epoch over these rows. The first call needs all `classes`, unless fit came before."""
        self._check_settings()
        with threads(self.n_threads or get_threads()):
            first = not hasattr(self, "_running")
            if first and not hasattr(self, "coef_"):
                if classes is None:
                    raise ValueError("classes must be passed on the first call to partial_fit")
                self.classes_ = np.unique(classes)
            matrix = open_features(self, X, reset=not hasattr(self, "coef_"))
            codes = known_labels(y, self.classes_, len(matrix))
            weights = example_weights(codes, self.classes_, self.class_weight, sample_weight)
            problem = Problem.whole(matrix, codes, len(self.classes_), weights)
            if first:
                known = hasattr(self, "coef_")
                machines = Machines.of(self.coef_, self.intercept_) if known else self._zeros(problem)
                self._running, self._calls = machines, 0
                self._tuned = self._tune(problem, self._seed())
            algorithm, schedule = self._tuned
            algorithm.epoch(problem, self._running, schedule, self._calls)
            self._calls += 1
            self._running.fold()
        self.coef_, self.intercept_ = self._running.W, self._running.biases
        return self

    def add_classes(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn classes that were not there before; the old machines stay as they are, to the bit ("ovr" only).

        Rows whose label is an old class serve as negatives of the new ones.
        """
        if self.objective != "ovr":
            raise ValueError(f"add_classes needs objective='ovr', whose classes do not compete; got {self.objective!r}")
        matrix = self._matrix(X)
        y = np.asarray(y)
        new = np.setdiff1d(y, self.classes_)
        if not len(new):
            raise ValueError("add_classes needs rows of classes that are not in classes_ yet; all labels are known")
        with threads(self.n_threads or get_threads()):
            # One class more stands for all old ones, and is dropped afterwards.
            codes = np.where(np.isin(y, new), np.searchsorted(new, y), len(new)).astype(np.int32)
            problem = Problem.whole(matrix, codes, len(new) + 1, example_weights(codes, new, None, sample_weight))
            schedule = Schedule(self.step_, self.regularization, self.step_decay, seed=self._seed())
            algorithm = OneVsRest(MARGIN_LOSSES[self.loss], self.beta_)
            descent = Descent.start(Machines.zeros(len(new) + 1, matrix.shape[1]))
            descend(descent, algorithm, problem, schedule, Stopping(max_epochs=max(self.n_epochs_, 1)))
        machines = descent.result()
        classes = np.concatenate([self.classes_, new])
        order = np.argsort(classes, kind="stable")
        self.classes_ = classes[order]
        self.coef_ = np.concatenate([self.coef_, machines.W[:-1]])[order]
        self.intercept_ = np.concatenate([self.intercept_, machines.biases[:-1]])[order]
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities (n, k), for objective "softmax", for "ovr" with loss "logistic", or after `calibrate`."""
        S = self._scores(X)
        temperature = getattr(self, "temperature_", None)
        if temperature is not None or self.objective == "softmax":
            return Softmax().probabilities(S * np.float32(temperature or 1.0))
        if self.objective == "ovr" and self.loss == "logistic":
            P: Floats = 0.5 * (1 + np.tanh(S / 2))
            P /= np.maximum(P.sum(axis=1, keepdims=True), np.finfo(P.dtype).tiny)
            return P
        raise ValueError(
            f"predict_proba needs objective='softmax', loss='logistic' or a call of calibrate; "
            f"got objective={self.objective!r}, loss={self.loss!r}"
        )

    def calibrate(self, X: Any, y: Any) -> Self:
        """Find the temperature at which softmax of the scores fits these labels best: rows that fit has not seen."""
        from scipy.optimize import minimize_scalar

        S = self._scores(X).astype(np.float64)
        codes = known_labels(y, self.classes_, len(S))

        def loss(log_temperature: float) -> float:
            return float(Softmax().value_and_gradient(S * np.exp(log_temperature), codes)[0].mean())

        self.temperature_ = float(np.exp(minimize_scalar(loss, bounds=(-6, 8), method="bounded").x))
        return self

    def _check_settings(self) -> None:
        if self.objective not in OBJECTIVES:
            raise ValueError(f"objective must be one of {', '.join(OBJECTIVES)}; got {self.objective!r}")
        if self.loss not in MARGIN_LOSSES:
            raise ValueError(f"loss must be one of {', '.join(MARGIN_LOSSES)}; got {self.loss!r}")
        if not 0 < self.validation_fraction < 1:
            raise ValueError(f"validation_fraction must lie between 0 and 1; got {self.validation_fraction!r}")
        if not (isinstance(self.max_epochs, int | np.integer) and self.max_epochs >= 1):
            raise ValueError(f"max_epochs must be a whole number, at least 1; got {self.max_epochs!r}")
        if self.beta not in ("auto", None) and not (isinstance(self.beta, int | float) and self.beta > 0):
            raise ValueError(f"beta must be 'auto', None or a positive number; got {self.beta!r}")

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _problem(self, X: Any, y: Any, sample_weight: Any) -> Problem:
        matrix = open_features(self, X)
        self.classes_, codes = encode_labels(y, len(matrix))
        weights = example_weights(codes, self.classes_, self.class_weight, sample_weight)
        return Problem.whole(matrix, codes, len(self.classes_), weights)

    def _zeros(self, problem: Problem) -> Machines:
        return Machines.zeros(problem.k, problem.d)

    def _start(self, problem: Problem) -> Machines:
        known = self.warm_start and getattr(self, "coef_", None) is not None
        if known and self.coef_.shape != (problem.k, problem.d):
            raise ValueError(
                f"warm_start needs the classes and columns of the last fit, {self.coef_.shape}; "
                f"got {(problem.k, problem.d)}"
            )
        return Machines.of(self.coef_, self.intercept_) if known else self._zeros(problem)

    def _split(self, problem: Problem, validation: tuple[Any, Any] | None, seed: int) -> tuple[Problem, Problem | None]:
        if validation is not None:
            X, y = validation
            matrix = open_features(self, X, reset=False)
            judged = Problem.whole(matrix, known_labels(y, self.classes_, len(matrix)), problem.k)
            return problem, judged
        if not self.early_stopping:
            return problem, None
        train, held = hold_out(problem, self.validation_fraction, np.random.default_rng(seed))
        return (train, held) if len(held) else (problem, None)

    def _tune(self, problem: Problem, seed: int) -> tuple[Algorithm, Schedule]:
        """The algorithm and schedule of the settings, with what is "auto" found on a sample."""
        rng = np.random.default_rng(seed)
        unit = natural_step(self.objective, self.loss) / max(mean_square(problem, rng), 1e-30)
        step = unit if self.step == "auto" else float(self.step)
        algorithm = algorithm_of(self.objective, self.loss, self.beta, problem.k)
        schedule = Schedule(step, self.regularization, self.step_decay, seed=seed)
        if self.step == "auto" or self.beta == "auto":
            trial = Trial.on(problem, rng)
            if self.step == "auto":
                schedule = schedule.with_step(find_step(trial, algorithm, schedule))
            if isinstance(algorithm, OneVsRest) and self.beta == "auto" and problem.k > 2:
                algorithm = OneVsRest(algorithm.loss, find_beta(trial, algorithm, schedule))
        self.step_ = schedule.step
        self.beta_ = algorithm.beta if isinstance(algorithm, OneVsRest) else None
        return algorithm, schedule

    def _stopping(self, algorithm: Algorithm, train: Problem, judged: Problem | None) -> Stopping:
        # Judging takes a score for every class; where an epoch takes far fewer, it is judged less often.
        judging = 0 if judged is None else len(judged) * train.k
        every = int(np.clip(judging / (3 * len(train) * algorithm.cost(train.k)), 1, 5))
        return Stopping(self.max_epochs, self.tolerance, self.patience, every)

    def _after_epoch(self, phase: str) -> Callable[[Descent], bool | None]:
        callbacks = tuple(self.callbacks)

        def after(descent: Descent) -> bool:
            record = descent.history[-1]
            record["phase"] = phase
            ends = [bool(callback(record)) for callback in callbacks]
            return any(ends)

        return after
