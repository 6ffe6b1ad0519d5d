"""The step, and how many negatives: found on a small sample, by climbing."""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from manyclass.solvers.machines import Machines
from manyclass.solvers.one_vs_rest import OneVsRest
from manyclass.solvers.problem import Problem
from manyclass.solvers.schedule import Schedule
from manyclass.solvers.sgd import Algorithm, Descent, Stopping, descend
from manyclass.solvers.validation import hold_out, mean_class_accuracy, sample

_EPOCHS = 16  # of a trial at most
_PART = 32  # a trial has this part of the examples, if that is more than what it needs at least

Right = NDArray[np.bool_]


@dataclass(frozen=True)
class Trial:
    """Short runs on a part of the data, judged on another part."""

    train: Problem
    held: Problem
    epochs: int = _EPOCHS
    known: dict[tuple[Algorithm, Schedule], Right | None] = field(default_factory=dict, compare=False)

    @classmethod
    def on(cls, problem: Problem, rng: np.random.Generator) -> "Trial":
        """With 8 examples per class, and 2,048 at least."""
        size = max(2048, 8 * problem.k, len(problem) // _PART)
        return cls(*hold_out(sample(problem, size, rng), 0.25, rng))

    def paced(self, algorithm: Algorithm, schedule: Schedule) -> "Trial":
        """As many epochs as these take until they get no better: in fewer, a large step looks better than it is."""
        descent = Descent.start(Machines.zeros(self.train.k, self.train.d))
        tolerance = 0.25 / np.sqrt(max(1, len(self.held)))
        stopping = Stopping(_EPOCHS, tolerance, patience=2, every=2)
        try:
            descend(descent, algorithm, self.train, schedule, stopping, mean_class_accuracy(self.held))
        except FloatingPointError:
            return self
        return replace(self, epochs=descent.epoch, known={(algorithm, schedule): self._right(descent.mean)})

    def right(self, algorithm: Algorithm, schedule: Schedule) -> Right | None:
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
        y = self.held.y[self.held.index]
        gains = (new.astype(float) - old) / np.bincount(y)[y]
        chance = np.sqrt(gains @ gains)
        return float(gains.sum() / chance) if chance else 0.0

    def _run(self, algorithm: Algorithm, schedule: Schedule) -> Right | None:
        descent = Descent.start(Machines.zeros(self.train.k, self.train.d))
        try:
            descend(descent, algorithm, self.train, schedule, Stopping(max_epochs=self.epochs))
        except FloatingPointError:
            return None
        return self._right(descent.mean)

    def _right(self, machines: Machines) -> Right:
        right: Right = machines.best_classes(self.held.X, self.held.index) == self.held.y[self.held.index]
        return right


def find_step(trial: Trial, algorithm: Algorithm, schedule: Schedule) -> float:
    """A step: larger by factors of four as long as that is surely better, else smaller by two or four.

    It must be sure, as large steps are ahead early, and a trial is short.
    """
    most = 0.5 / schedule.regularization if schedule.regularization else np.inf

    def gain(new: float, old: float) -> float:
        return trial.gain(*(trial.right(algorithm, schedule.with_step(step)) for step in (new, old)))

    step = min(schedule.step, most)
    while trial.right(algorithm, schedule.with_step(step)) is None and len(trial.known) < 12:
        step /= 4
    while 4 * step < most and gain(4 * step, step) > 3:
        step *= 4
    for _ in range(2):
        if gain(step / 2, step) <= 0:
            break
        step /= 2
    return step


def find_beta(trial: Trial, algorithm: OneVsRest, schedule: Schedule) -> float | None:
    """How many negatives go with a positive; None, in place of k - 1 and more, for all that there are.

    From that of the algorithm by factors of four, down and up, as long as it surely gets better.
    """
    most = trial.train.k - 1.0

    def right(beta: float) -> Right | None:
        return trial.right(replace(algorithm, beta=None if beta >= most else beta), schedule)

    start = best = min(algorithm.beta or most, most)
    for factor in (1 / 4, 4):
        beta = start
        while 0.5 < (following := min(factor * beta, most)) != beta:
            beta = following
            if trial.gain(right(beta), right(best)) <= 2:
                break
            best = beta
    return None if best >= most else best
