"""The plan of a descent, algorithm and schedule, and where it starts.

What is "auto" is found on a small sample by climbing. Where rows are long and classes many, that takes longer than to
begin so near the end, with least squares, that a few epochs with the usual step are enough.
"""

from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from manyclass.data.views import StandardizedMatrix
from manyclass.solvers.conjugate_gradient import LeastSquaresStart, SoftmaxStart
from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd.checkpoint import Checkpoint
from manyclass.solvers.sgd.descent import EarlyStopping, SgdAlgorithm, SgdRun, run_sgd
from manyclass.solvers.sgd.judging import AnyJury, Right, jury_of, mean_class_accuracy
from manyclass.solvers.sgd.linear_weights import LinearWeights
from manyclass.solvers.sgd.objectives import OBJECTIVES, Beta
from manyclass.solvers.sgd.sampling import Schedule
from manyclass.solvers.sgd.subsets import hold_out, median_squared_norm, sample_rows

_EPOCHS = 16  # of a trial at most

_PART = 32  # a trial has this part of the examples, if that is more than what it needs at least

# The constant feature of the bias has this fraction of the mean square of a row, in whatever unit X comes.
_BIAS_FRACTION = 0.1

_LENGTHS = 1e-15, 1e15  # of rows: float32 holds their squares, and steps of the size of their inverses


class PlanSettings(Protocol):
    """The settings of a classifier that make a plan, as attributes."""

    objective: str
    loss: str
    beta: float | str | None
    regularization: float
    step: float | str
    step_decay: bool
    t0: float | None
    sampling: str
    averaging: bool


@dataclass(frozen=True)
class SgdPlan:
    """How to train: by which algorithm, with which steps.

    Parameters
    ----------
    algorithm : SgdAlgorithm
        What makes a pass over the examples.
    schedule : Schedule
        Its steps, and the order of the examples.
    objective : str
        The name of the objective.
    loss : str
        The loss of one-vs-rest.
    standardizes : bool, default=False
        Whether steps are taken in columns of mean 0 and variance 1.
    """

    algorithm: SgdAlgorithm
    schedule: Schedule
    objective: str
    loss: str
    standardizes: bool = False


def find_plan(settings: PlanSettings, problem: Problem, seed: int, refused: bool = False) -> SgdPlan:
    """The plan for a problem; a step, beta or objective that is "auto" is sought on a small sample of it.

    It matters for the objective whether a start with least squares was refused.
    """
    rng = np.random.default_rng(seed)
    square = _square(problem, rng)
    plan = _plan(
        settings, None if settings.step == "auto" else float(settings.step), settings.beta, problem.k, square, seed
    )
    if settings.step != "auto" and settings.beta != "auto":
        return plan
    trial = StepTrial.on(problem, rng)
    if not len(trial.held):
        return plan
    plan = _tune(plan, settings, paced := trial.with_pace(plan.algorithm, plan.schedule))
    right = paced.correct(plan.algorithm, plan.schedule)
    free = settings.objective == settings.beta == "auto" and _is_usual(settings)
    if not free or right is None or (right == 1).all():
        return plan
    if max(problem.d, problem.k) <= TABLE:
        return _choose(settings, plan, paced, problem)
    little = len(problem) * problem.d * problem.k <= _JOINT_WORK
    joint = refused and little and problem.k > TABLE and problem.labels is None
    return _choose_joint(settings, plan, paced, square) if joint else plan


def _choose(settings: PlanSettings, plan: SgdPlan, trial: "StepTrial", problem: Problem) -> SgdPlan:
    """The plan of one-vs-rest, unless another loss, softmax or standardized columns are better.

    A class that lies among others has no machine that tells it from all of them, and there are such where columns are
    few; softmax needs only differences. Where columns have units of their own, steps follow the largest.
    """
    best, right = plan, trial.correct(plan.algorithm, plan.schedule)
    standardized = replace(problem, X=StandardizedMatrix.of(problem.X))
    candidates = [one for one in _CANDIDATES if problem.labels is None or OBJECTIVES[one[0]].samples_negatives]
    for objective, loss, least in candidates:
        for columns in (standardized, problem):
            other, rng = with_objective(settings, objective, loss), np.random.default_rng(plan.schedule.seed)
            first = _plan(other, None, other.beta, problem.k, _square(columns, rng), plan.schedule.seed)
            there = StepTrial(replace(trial.train, X=columns.X), replace(trial.held, X=columns.X))
            there = there.with_pace(first.algorithm, first.schedule)
            found = replace(_tune(first, other, there), standardizes=columns is standardized)
            answers = there.correct(found.algorithm, found.schedule)
            if trial.gain(answers, right) > least:
                best, right = found, answers
    return best


def _choose_joint(settings: PlanSettings, plan: SgdPlan, trial: "StepTrial", square: float) -> SgdPlan:
    """The plan of one-vs-rest, unless the multiclass hinge is better, which needs only differences of scores."""
    other, k = with_objective(settings, *_JOINT), trial.train.k
    joint = _plan(other, _JOINT_STEP / square, other.beta, k, square, plan.schedule.seed)
    answers, right = (trial.correct(found.algorithm, found.schedule) for found in (joint, plan))
    return joint if trial.gain(answers, right) > _JOINT_GAIN else plan


# Objectives and losses that are tried besides the hinge of one-vs-rest, with the gain by which they must be ahead, in
# units of what chance may do. Measured on eight tables, standardized: the squared hinge has -0.1 to 5.7 points more
# right than the hinge, so that it needs no proof; softmax from 2.8 fewer to 11.5 more.
_CANDIDATES = (("ovr", "squared_hinge", 0.0), ("softmax", "hinge", 1.0))

# What is tried of many classes, with its step for rows of length 1, and the gain by which it must be ahead. Measured
# where least squares were refused, of 300 to 659 classes (Omniglot, glyphs, generated rows in columns of unlike scale):
# ahead on the sample, it has 1.2 to 5.8 points more right than one-vs-rest in all of ten fits; behind by less than 1,
# from 2.4 more to 2.1 fewer; behind by more than 2, 1.1 to 1.8 fewer. A step of 0.125 has 1.7 points fewer right than
# 0.5 on the glyphs.
_JOINT, _JOINT_STEP, _JOINT_GAIN = ("multiclass", "hinge"), 0.5, 0.0

# Rows x columns x classes at most: an example concerns all of them, where one-vs-rest takes some. Measured there, a fit
# takes 1.1 to 4.8 times as long, half a minute at most.
_JOINT_WORK = 1 << 33

CHOICES = {("ovr", "hinge"), _JOINT, *((objective, loss) for objective, loss, _ in _CANDIDATES)}  # of "auto"


def _is_usual(settings: PlanSettings) -> bool:
    """Whether nothing is asked for that was not tried with other objectives, or from another start."""
    given = settings.loss, settings.step, settings.regularization, settings.sampling
    return given == ("hinge", "auto", 0, "uniform")


# Columns and classes at most for which objectives are compared: there it takes no longer than the search for a step
# of one-vs-rest with more of them, and columns may be so few, or of such units, that it matters.
TABLE = 256


def with_objective(settings: Any, objective: str, loss: str) -> Any:
    """The same settings with this objective and loss."""
    if (settings.objective, settings.loss) == (objective, loss):
        return settings
    other = copy(settings)
    other.objective, other.loss = objective, loss
    return other


def find_start(
    settings: PlanSettings, train: Problem, judged: Problem | None, begun: bool = False
) -> LeastSquaresStart | None:
    """Where machines begin that are stopped by the examples `judged`, or have `begun` so already; None for zero.

    With other settings it is not known how far from the end they would begin; machines of the squared hinge ended a
    point lower on Fisher vectors of 100 classes. It takes little time and memory, where the search that it saves takes
    more than milliseconds. Where rows are fewer than columns it is better besides: of three examples a class, 44 % of
    100 DVD covers are right by their Fisher vectors, and 29 from zero. So it is where classes are very many: of 50,000
    x 1,024 generated rows of 1,000, 74.7 % by one-vs-rest in 3 s of a core, and 75.3 by softmax in 18, where from zero
    they have 69.1 in 25 s and 72.2 in 354.
    """
    n, d, k = len(train), train.d, train.k
    few = n < d > TABLE
    pays = k > 2 and (few or (n * d * k >= _LEAST_WORK and d <= _MOST_COLUMNS_PER_CLASS * k))
    guides = n * d <= _MOST_NUMBERS and d <= _MOST_COLUMNS and n <= _MOST_ROWS_PER_COLUMN * d
    start = _STARTS.get(settings.objective)
    if start is None or not _is_usual(settings) or not (begun or (pays and guides)) or judged is None:
        return None
    return start(train, judged, sample_rows(judged, _START_HELD, np.random.default_rng(0)))


_STARTS = {"ovr": LeastSquaresStart, "auto": LeastSquaresStart, "softmax": SoftmaxStart}


def find_or_resume_plan(
    settings: PlanSettings, train: Problem, seed: int, checkpoint: Checkpoint, start: LeastSquaresStart | None = None
) -> SgdPlan:
    """The plan, found now, or before the run was killed; the run knows how many steps of the start come first."""
    run, auto = checkpoint.run, settings.objective == "auto"
    usual = with_objective(settings, "ovr", settings.loss) if auto else settings
    if run.step is not None:
        if auto and not run.n_iter:  # the run does not know what was chosen, which is found again
            return find_plan(settings, train, seed, refused=start is not None)
        return make_plan(usual, run.step, run.beta, train, seed)
    run.n_iter = 0 if start is None else start.find_steps()
    if run.n_iter:
        plan = _plan(usual, None, usual.beta, train.k, _square(train, np.random.default_rng(seed)), seed)
        if settings.beta == "auto":
            plan = replace(plan, algorithm=plan.algorithm.with_beta(min(_START_BETA, plan.algorithm.cost(train.k))))
    else:
        plan = find_plan(settings, train, seed, refused=start is not None)
    run.step, run.beta = plan.schedule.step, plan.algorithm.beta
    checkpoint.write()
    return plan


def step_as_given(plan: SgdPlan, problem: Problem) -> float:
    """The step of a plan for the columns that a problem came with, as long for rows of their length."""
    square = _square(problem, np.random.default_rng(plan.schedule.seed))
    return plan.schedule.step * plan.schedule.bias_rate / (_BIAS_FRACTION * square)


def make_plan(settings: PlanSettings, step: float, beta: float | None, problem: Problem, seed: int) -> SgdPlan:
    """The plan for more data of a kind for which step and beta have been found."""
    given = step if settings.step == "auto" else float(settings.step)
    negatives = beta if settings.beta == "auto" else settings.beta
    return _plan(settings, given, negatives, problem.k, _square(problem, np.random.default_rng(seed)), seed)


def _plan(settings: PlanSettings, step: float | None, beta: Beta, k: int, square: float, seed: int) -> SgdPlan:
    """The plan for rows of this squared length; without a step, with the one at which the search begins."""
    objective = OBJECTIVES["ovr" if settings.objective == "auto" else settings.objective]
    algorithm = objective.make(settings.loss, beta, k)
    if step is None:
        step = objective.first_step(settings.loss) / square
        step = min(step, 0.5 / settings.regularization) if settings.regularization else step
    schedule = Schedule(
        step=float(step),
        regularization=float(settings.regularization),
        decays=bool(settings.step_decay),
        bias_rate=_BIAS_FRACTION * square,
        seed=seed,
        balanced=settings.sampling == "balanced",
        t0=None if settings.t0 is None else float(settings.t0),
        averaging=bool(settings.averaging),
    )
    return SgdPlan(algorithm, schedule, objective.name, settings.loss)


def _tune(plan: SgdPlan, settings: PlanSettings, trial: "StepTrial") -> SgdPlan:
    if settings.step == "auto":
        step = find_step(trial, plan.algorithm, plan.schedule)
        plan = replace(plan, schedule=replace(plan.schedule, step=step))
    if OBJECTIVES[plan.objective].samples_negatives and settings.beta == "auto" and trial.train.k > 2:
        beta = find_beta(trial, plan.algorithm, plan.schedule)
        plan = replace(plan, algorithm=plan.algorithm.with_beta(beta))
    return plan


def _square(problem: Problem, rng: np.random.Generator) -> float:
    square = median_squared_norm(problem, rng)
    if square and not _LENGTHS[0] ** 2 <= square <= _LENGTHS[1] ** 2:
        least, most = _LENGTHS
        raise ValueError(
            f"X must have rows of lengths between {least:g} and {most:g}, so that float32 can hold the steps; "
            f"got about {np.sqrt(square):.1g}; scale X"
        )
    # Where all rows are zero there is only the bias to learn.
    return square or 1.0


# Multiplications of an epoch with all classes at least; numbers of X at most, which were tried; and columns at most,
# whose products with one another are held.
_LEAST_WORK, _MOST_NUMBERS, _MOST_COLUMNS = 1 << 26, 1 << 27, 1 << 12

# Their products take as long as so many classes for each of these columns: of 8,000 x 4,000 rows of 5 classes the start
# took 2.1 s, and all from zero 1.4; of 50 classes 2.5 and 4.9.
_MOST_COLUMNS_PER_CLASS = 256

# Rows for a column at most: with very many, a margin loss is the better guide. Measured on generated classes of low
# rank, one-vs-rest from least squares against that from zero, points: 64 to 256 rows for a column, 50 to 200 classes,
# -0.05 to +2.8 in a fourth to a tenth of the time; 390, 1,000 classes, +1.8; 780, 200 classes, -0.5.
_MOST_ROWS_PER_COLUMN = 512

# Of a start: rows that judge its steps, and negatives that go with a positive afterwards. Measured with 101, 300 and
# 500 classes: 10 are as good as 40, as least squares has seen them all.
_START_HELD, _START_BETA = 1024, 10.0


@dataclass(frozen=True)
class StepTrial:
    """Short runs on a part of the data, judged on another part."""

    train: Problem
    held: Problem
    epochs: int = _EPOCHS
    known: dict[tuple[SgdAlgorithm, Schedule], Right | None] = field(default_factory=dict, compare=False)

    @classmethod
    def on(cls, problem: Problem, rng: np.random.Generator) -> "StepTrial":
        """With 8 examples per class, and 2,048 at least."""
        size = max(2048, 8 * problem.k, len(problem) // _PART)
        return cls(*hold_out(sample_rows(problem, size, rng), 0.25, rng))

    def with_pace(self, algorithm: SgdAlgorithm, schedule: Schedule) -> "StepTrial":
        """As many epochs as these take until they get no better: in fewer, a large step looks better than it is."""
        descent, judge = SgdRun.start(LinearWeights.zeros(self.train.k, self.train.d)), mean_class_accuracy(self.held)
        descent.keeps_best = False
        tolerance = 0.25 / np.sqrt(max(1, len(self.held)))
        stopping = EarlyStopping(_EPOCHS, tolerance, patience=2, every=2)
        try:
            run_sgd(descent, algorithm, self.train, schedule, stopping, judge)
        except FloatingPointError:
            return self
        return replace(self, epochs=descent.epoch, known={(algorithm, schedule): self._correct(descent.weights.mean)})

    def correct(self, algorithm: SgdAlgorithm, schedule: Schedule) -> Right | None:
        """Which of the examples held out are right after a few epochs; None if the weights grew beyond all bounds."""
        key = algorithm, schedule
        if key not in self.known:
            self.known[key] = self._run(algorithm, schedule)
        return self.known[key]

    def gain(self, new: Right | None, old: Right | None) -> float:
        """By how much the mean accuracy over classes grows, in units of what chance alone may do.

        Both were judged on the same examples: only those tell that one has right and the other wrong.
        """
        if new is None or old is None:
            return float((old is None) - (new is None)) * np.inf if new is not old else 0.0
        y = self._jury.y
        gains = (new.astype(float) - old) / np.bincount(y)[y]
        chance = np.sqrt(gains @ gains)
        return float(gains.sum() / chance) if chance else 0.0

    def _run(self, algorithm: SgdAlgorithm, schedule: Schedule) -> Right | None:
        descent = SgdRun.start(LinearWeights.zeros(self.train.k, self.train.d))
        try:
            run_sgd(descent, algorithm, self.train, schedule, EarlyStopping(max_epochs=self.epochs))
        except FloatingPointError:
            return None
        return self._correct(descent.weights.mean)

    def _correct(self, machines: LinearWeights) -> Right:
        return self._jury.right(machines)

    @cached_property
    def _jury(self) -> AnyJury:
        return jury_of(self.held)


def find_step(trial: StepTrial, algorithm: SgdAlgorithm, schedule: Schedule) -> float:
    """A step: larger by factors of four as long as that is surely better, else smaller by two or four.

    It must be sure, as large steps are ahead early, and a trial is short.
    """
    most = 0.5 / schedule.regularization if schedule.regularization else np.inf

    def gain(new: float, old: float) -> float:
        return trial.gain(*(trial.correct(algorithm, replace(schedule, step=step)) for step in (new, old)))

    step = min(schedule.step, most)
    while trial.correct(algorithm, replace(schedule, step=step)) is None and len(trial.known) < 12:
        step /= 4
    while 4 * step < most and gain(4 * step, step) > 3:
        step *= 4
    for _ in range(2):
        if gain(step / 2, step) <= 0:
            break
        step /= 2
    return step


def find_beta(trial: StepTrial, algorithm: SgdAlgorithm, schedule: Schedule) -> float | None:
    """How many negatives go with a positive; None, in place of k - 1 and more, for all that there are.

    From that of the algorithm by factors of four, down and up, as long as it surely gets better.
    """
    most = trial.train.k - 1.0

    def right(beta: float) -> Right | None:
        return trial.correct(algorithm.with_beta(None if beta >= most else beta), schedule)

    start = best = min(algorithm.beta or most, most)
    for factor in (1 / 4, 4):
        beta = start
        while 0.5 < (following := min(factor * beta, most)) != beta:
            beta = following
            if trial.gain(right(beta), right(best)) <= 2:
                break
            best = beta
    return None if best >= most else best
