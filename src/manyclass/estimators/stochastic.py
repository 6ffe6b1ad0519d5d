"""StochasticClassifier: one-vs-rest, multiclass, ranking, weighted ranking and softmax by stochastic gradient."""

import os
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from typing import Any, ClassVar, Self

import numpy as np

from manyclass._core.checks import draw_seed
from manyclass._core.errors import SettingsError
from manyclass._core.models import rollback_on_error
from manyclass._core.parallel import get_threads, threads
from manyclass._core.shards import Shard
from manyclass._core.typing import Callback
from manyclass.data.inputs import ScaleLimits
from manyclass.estimators._incremental import IncrementalSgd
from manyclass.estimators._stochastic_plan import (
    SMALL_WEIGHTS,
    STEP_LIMITS,
    check_settings,
    compares_objectives,
    first_weights,
    fixed_settings,
    holds_out_few,
    leave_start,
    make_stopping,
    most_epochs,
    split_problem,
    standardize,
)
from manyclass.estimators.callbacks import (
    CallbackSupport,
    FitTask,
    after_epoch,
    may_end,
    watch_epochs,
    watched,
    with_callbacks,
)
from manyclass.estimators.linear_model import warn_of_chance
from manyclass.estimators.multilabel.cross_fitted_rules import cross_fitted_rules, need_more_rows
from manyclass.estimators.multilabel.several_labels import SeveralLabels
from manyclass.estimators.multilabel.thresholds import ScoreRules, held_out_rules
from manyclass.estimators.probabilities import judge_held_out, weights_length
from manyclass.estimators.uncertainty.held_out import forget_held_out
from manyclass.solvers.sgd.checkpoint import Checkpoint, run_identity_of
from manyclass.solvers.sgd.descent import EarlyStopping, run_sgd
from manyclass.solvers.sgd.judging import mean_class_accuracy
from manyclass.solvers.sgd.linear_weights import LinearWeights
from manyclass.solvers.sgd.tuning import find_or_resume_plan, find_start, step_as_given, with_objective


class StochasticClassifier(CallbackSupport, IncrementalSgd, SeveralLabels):  # type: ignore[misc]
    """Linear machines for very many classes, trained one example at a time.

    They minimize ``regularization / 2 * |W|^2`` plus the mean over examples of a loss of their scores; the bias is not
    regularized. Without regularization, the usual choice, early stopping takes its place: the mean over classes of the
    accuracy on held-out examples decides, and the best machines, within the error of that estimate, are kept (Perronnin
    et al., CVPR 2012). Features should be roughly centered, and rows of similar length. Where X has far fewer rows than
    columns, `fit` takes the same steps in the coordinates of the rows in their span, and turns the weights back. Where
    that costs less than a search for the step, one-vs-rest of the hinge and softmax begin with least squares, stopped
    by the same held-out examples, and take one epoch more, or as many as help if two are better by more than a standard
    error.

    Parameters
    ----------
    objective : {"auto", "ovr", "multiclass", "ranking", "warp", "softmax"}, default="auto"
        One-vs-rest, Crammer and Singer's multiclass hinge, ranking, weighted approximate ranking, or softmax. "auto" is
        one-vs-rest, or what `fit` finds better on a small sample, unless a loss, beta, step, ridge or sampling is
        given: of at most 256 columns and classes the squared hinge, softmax and standardized columns; of more than 256
        classes the multiclass hinge, if a start with least squares was tried and is of no use, and rows x columns x
        classes are at most 2^33.
    loss : {"hinge", "squared_hinge", "logistic", "squared"}, default="hinge"
        The loss of one-vs-rest.
    beta : float, "auto" or None, default="auto"
        Negatives per positive of each class of one-vs-rest, drawn anew in every epoch, if there are so many. "auto"
        finds it on a small sample; None takes all examples of other classes, the unweighted machine.
    regularization : float, default=0.0
        Strength of the ridge.
    step : float or "auto", default="auto"
        Size of a step; "auto" finds it on a small sample, or begins with least squares. A number begins from zero.
    step_decay : bool, default=False
        Take ``step / (1 + t / t0)`` after t examples, those of `fit` before `partial_fit` included. It needs a
        regularization or a t0.
    max_epochs : int, default=100
        The largest number of epochs. An epoch of "ranking" shows an example one rival only: there, sqrt(k) epochs for k
        classes count as one, and are judged once.
    early_stopping : bool, default=True
        Stop by the accuracy on a validation set. If False, all epochs are run and the last machines kept; the accuracy
        on a validation set that `fit` is given is then recorded in `history_`, and decides nothing.
    validation_fraction : float, default=0.1
        The fraction of every class, and at least one example of those that have two, that is held out for early
        stopping unless `fit` is given one; but no more than 20,000, or two of a class: a standard error of 0.35 %.
    tolerance : float, default=1e-3
        The least gain of accuracy that counts as progress.
    patience : int, default=10
        Stop after so many judgements without progress, one after every epoch, or every few where epochs are cheap.
        The last machines within half a standard error of the best are kept.
    refit : bool, default=True
        After stopping on held-out examples, train on all of them for as many epochs; but not where the most that are
        held out are less than a twentieth, unless weights above 16 MB, whose best are not kept, were better before.
    class_weight : None, "balanced" or dict, default=None
        Weights of classes; "balanced" stands for n / (k * examples of the class). The weight of an example, which
        multiplies its steps, is that of its own class, in every machine. scikit-learn does the same for classes that
        compete; its one-vs-rest (SGDClassifier, LinearSVC) differs, and weighs negatives by 1.
    sampling : {"uniform", "balanced"}, default="uniform"
        "uniform" shows every example once per epoch. "balanced" draws every class equally often: an epoch is as long,
        with another part of the large classes each time. It minimizes the mean over classes of their mean loss (Eq. 4
        of the paper), as class_weight="balanced" does, by more steps in place of longer ones. Not for `add_classes`.
    n_threads : int, default=None
        Threads; None for `manyclass.get_threads()`. It does not change a bit of the result.
    warm_start : bool, default=False
        Begin from the machines of the last fit. Examples that they have seen are no honest validation: give `fit` one.
    random_state : None, int or numpy.random.RandomState, default=None
        The source of random numbers.
    callbacks : list of callable, default=()
        Called with the record of each epoch, such as `manyclass.JsonLines`. One that returns True ends `fit`, with the
        best machines so far and no refit, or the last of the refit. Its method `close` is called at the end.
    checkpoint : str or os.PathLike, default=None
        A file in which `fit` keeps its state: after tuning, after epochs (every few seconds at most) and before the
        refit. The same fit again goes on from there, to the same bits; a file of other data or settings is refused. A
        fit that ends removes it. With random_state=None it keeps the seed. Not for `partial_fit` and `add_classes`.
    averaging : bool, default=True
        Keep the mean of the machines on the way, later ones counting more. If False, those after the last epoch, as the
        papers do; `partial_fit` always does.
    t0 : float, default=None
        Examples that a class has met, with "ovr" its own and the negatives that were drawn, after which a step that
        decays is half of the first; None for ``1 / (regularization * step)``.
    verbose : int, default=0
        1 for a line on stderr after each epoch; 0 for none. The logger "manyclass.estimators" has the same in any case.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The labels, sorted.
    coef_ : ndarray of float32 of shape (k, d)
        The weights.
    intercept_ : ndarray of float32 of shape (k,)
        The biases.
    n_features_in_ : int
        The number of columns of X.
    negatives_ : ndarray of shape (m, d)
        Rows with the mean and the covariance of those of the fit, at most 128, for classes that come later.
    history_ : list of dict
        The record of every epoch.
    step_ : float
        The step that was used.
    beta_ : float or None
        The beta that was used.
    n_epochs_ : int
        Epochs that the machines have seen.
    n_iter_ : int
        Conjugate gradient steps to the least squares that `fit` began with; 0 if it began from zero.
    steps_ : ndarray of int64 of shape (k,)
        Examples that each class has seen.
    trained_ : tuple of str
        The objective and the loss of the machines, which "auto" may have chosen.
    temperature_ : float
        The temperature, found by `fit` on the examples it stopped by, or `calibrate`.
    class_counts_ : ndarray of int64 of shape (k,)
        The rows of each class.
    class_weights_ : ndarray of shape (k,)
        The sums of their weights, or equal ones where `sampling` is "balanced"; `class_prior_` has their shares.
    held_out_ : dict of str to ndarray of shape (m,)
        What the machines say of these examples, before a refit: "losses", -log of the probability of their "classes",
        how "sure" and "near" they are, and "weights", by which classes count as they do among all examples.
    thresholds_ : ndarray of shape (k,)
        With several labels per row: the scores above which a row is of each class.
    slopes_, offsets_ : ndarray of shape (k,)
        Likewise: the probability of a class is ``1 / (1 + exp(-(slope score + offset)))``.
    label_form_ : str
        Likewise: whether y was "lists", an "indicator" matrix or a "sparse" one.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(np.arange(20), 30)
    >>> X = rng.normal(size=(20, 16))[y] + 0.3 * rng.normal(size=(600, 16))
    >>> clf = StochasticClassifier(random_state=0).fit(X, y)
    >>> bool(clf.score(X, y) > 0.95)
    True
    """

    n_iter_: int
    keeps_checkpoint = False  # after a fit too, for whoever has yet to save what was learned
    shard: Shard | None = None  # of the classes: the part whose machines `fit` trains, and `classes_` then has
    former_names: ClassVar[dict[str, Any]] = {"balanced": ("sampling", lambda old: "balanced" if old else "uniform")}

    def __init__(
        self,
        objective: str = "auto",
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
        averaging: bool = True,
        t0: float | None = None,
        verbose: int = 0,
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
        self.averaging = averaging
        self.t0 = t0
        self.verbose = verbose

    @rollback_on_error
    @with_callbacks
    def fit(self, X: Any, y: Any, validation: tuple[Any, Any] | None = None, sample_weight: Any = None) -> Self:
        """Train on rows X with labels y; after an error or Ctrl-C the classifier is as it was before.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.
        y : array-like of shape (n,), list of list, or matrix of shape (n, k)
            Labels; or, for one-vs-rest, any number of them for every row: lists, or an indicator matrix.
        validation : tuple of (X, y), default=None
            A validation set to stop by in place of held-out examples, or to watch.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows; those of weight 0 are left out.

        Returns
        -------
        StochasticClassifier
            The classifier itself.

        Raises
        ------
        FloatingPointError
            If the step is too large for the data.
        """
        with self._computing(), watched(self) as callbacks, closing(Checkpoint(self.checkpoint)) as checkpoint:
            task = FitTask(self, X, y, phases=1 if validation is not None or not self.early_stopping else 2)
            before: Any = getattr(self, "classes_", None)
            self._forget_prior()
            problem = self._make_problem(X, y, sample_weight)
            cold = not self.warm_start or before is None
            whole, problem = problem, problem.in_row_space(128 * self.max_epochs) if cold else problem
            task.columns = None if problem is whole else problem.X
            start = first_weights(self, problem, None if cold else before)
            run = checkpoint.run
            seed = run.seed = draw_seed(self.random_state) if run.seed is None else run.seed
            train, judged = split_problem(self, problem, validation, seed)
            if self.checkpoint is not None:
                checkpoint.check(run_identity_of(problem, judged, start, fixed_settings(self)), start.W.shape)
            settings = self if cold else self._settled()
            seen = judged if cold and self.early_stopping else None
            squares = find_start(settings, train, seen, begun=run.n_iter > 0)
            plan = find_or_resume_plan(settings, train, seed, checkpoint, squares)
            settings, squares = with_objective(self, plan.objective, plan.loss), squares if run.n_iter else None
            step = step_as_given(plan, whole) if plan.standardizes else plan.schedule.step
            if plan.standardizes:
                problem, train, judged = standardize(problem, train, judged)
                task.columns = problem.X
            judge = None if judged is None else mean_class_accuracy(judged)
            if run.phase == "train":
                stopping = make_stopping(settings, plan, train, judged, run.n_iter)
                descent = run.descent_from(
                    start.copy() if squares is None else squares.machines(run.n_iter), plan.algorithm, train, judged
                )
                refits = self.refit and len(train) < len(problem)
                few = holds_out_few(problem, judged)  # or else a refit replaces the best
                small = few and start.W.nbytes <= SMALL_WEIGHTS
                descent.keeps_best = not refits or may_end(self) or small
                after = after_epoch(callbacks, task, checkpoint, stopping)
                if judge is not None and not self.early_stopping:
                    after, judge = watch_epochs(judge, stopping, after), None
                if squares is not None and judge is not None:
                    plan = leave_start(self, plan, descent, train, stopping, judge, after)
                    run.beta = plan.algorithm.beta
                run_sgd(descent, plan.algorithm, train, plan.schedule, stopping, judge, after)
                refits = refits and not (small or (few and descent.best_epoch == descent.epoch))
                run.n_epochs = descent.best_epoch if descent.is_judged else descent.epoch
                unseen = None
                if self.early_stopping and judged is not None:
                    # Before a refit of the last, as callbacks decide whether the best are kept.
                    unseen = descent.weights.mean if refits else descent.weights.result()
                    if judged.labels is not None:
                        few = refits and need_more_rows(judged, problem.d)
                        given = plan, problem, run.n_epochs, run.n_iter
                        run.held_out = (cross_fitted_rules(*given) if few else held_out_rules(unseen, judged)).arrays()
                    else:
                        sizes = problem.sizes if validation is None else None
                        run.temperature, run.held_out = judge_held_out(unseen, judged, sizes)
                if refits and (run.n_epochs or squares) and not run.ended:
                    run.begin_refit()
                    del descent, unseen  # machines that are not needed beside those of the refit
                    checkpoint.write()
            if run.phase == "refit":
                # An epoch more sets classes beside one another, which several labels per row leave to their rules.
                least = 0 if squares is not None and problem.labels is not None else 1
                stopping = EarlyStopping(max_epochs=min(max(least, run.n_epochs), most_epochs(settings, problem.k)))
                descent = run.descent_from(
                    start if squares is None else squares.machines(run.n_iter, refit=True), plan.algorithm, problem
                )
                after = after_epoch(callbacks, task, checkpoint, stopping)
                run_sgd(descent, plan.algorithm, problem, plan.schedule, stopping, None, after)
                run.n_epochs = descent.epoch
            machines = descent.weights.result()
            task.finish(machines)
            length = weights_length(machines.W)
            machines = machines if problem is whole else machines.lift(problem.X)
        held = slice(machines.first, machines.first + len(machines.W))
        counts, weights = self._class_sizes(whole)
        self.class_counts_, self.class_weights_ = counts[held], weights[held]
        self.__dict__.pop("imprinted_", None)
        self.classes_ = self.classes_[held]
        self._learn(machines, run.trained + descent.history, run.n_epochs, settings)
        self.step_, self.beta_, self.n_iter_ = step, plan.algorithm.beta, run.n_iter
        self._keep_negatives(whole)
        if not self.keeps_checkpoint:
            checkpoint.remove()
        if run.temperature is not None:
            self.temperature_ = run.temperature * length
        if whole.labels is not None:
            k = len(self.classes_)
            rules = ScoreRules.plain(k) if run.held_out is None else ScoreRules.of_arrays(run.held_out, k)
            self._take_rules(rules.never(self.class_counts_ == 0))
            return self
        if run.held_out is not None:
            self.held_out_ = run.held_out
        warn_of_chance(self, whole)
        return self

    @property
    def scale_limits(self) -> ScaleLimits:
        """What `fit` bears, a ScaleLimits: nearly all where it may standardize columns."""
        may = compares_objectives(self, self.n_features_in_, len(self.classes_))
        return ScaleLimits() if may else STEP_LIMITS

    def _has_apart_classes(self) -> bool:
        return self.objective in ("auto", "ovr")

    def _check_several_labels(self) -> None:
        super()._check_several_labels()
        if not self._has_apart_classes():
            raise SettingsError(
                "objective must be 'ovr' or 'auto' for several labels per row, as classes of the others compete; "
                f"got {self.objective!r}"
            )
        if self.sampling != "uniform":
            raise SettingsError(f"sampling must be 'uniform' for several labels per row; got {self.sampling!r}")

    def _learn(self, machines: LinearWeights, history: list[dict[str, Any]], n_epochs: int, settings: Any) -> None:
        self._take(machines)
        self.history_, self.n_epochs_ = history, n_epochs
        self.trained_ = settings.objective, settings.loss

    def _take(self, machines: LinearWeights) -> None:
        forget_held_out(self)
        self.__dict__.pop("_running", None)
        self.coef_, self.intercept_, self.steps_ = machines.W, machines.biases, machines.steps

    def _link(self) -> str:
        objective, loss = getattr(self, "trained_", (self.objective, self.loss))  # of the machines that there are
        if objective == "softmax" or (objective, loss) == ("ovr", "logistic"):
            return "softmax" if objective == "softmax" else "logistic"
        raise AttributeError(
            "predict_proba needs early_stopping=True, objective='softmax', loss='logistic' or a call to calibrate; "
            f"got objective={objective!r}, loss={loss!r}"
        )

    @contextmanager
    def _computing(self) -> Iterator[None]:
        check_settings(self)
        # Weights that grow beyond float32 are noticed after the epoch.
        with threads(self.n_threads or get_threads()), np.errstate(over="ignore", invalid="ignore"):
            yield
