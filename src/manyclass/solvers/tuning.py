"""The step, and how many negatives: found on a small sample, by climbing."""

from dataclasses import dataclass, field, replace

import numpy as np

from manyclass.solvers.machines import Machines
from manyclass.solvers.one_vs_rest import OneVsRest
from manyclass.solvers.problem import Problem
from manyclass.solvers.schedule import Schedule
from manyclass.solvers.sgd import Algorithm, Descent, Stopping, descend
from manyclass.solvers.validation import hold_out, mean_class_accuracy, sample

_EPOCHS = 16  # of a trial at most
_PART = 32  # a trial has this part of the examples, if that is more than what it needs at least


@dataclass(frozen=True)
class Trial:
    """Short runs on a part of the data, judged on another part."""

    train: Problem
    held: Problem
    epochs: int = _EPOCHS
    known: dict[tuple[Algorithm, Schedule], float] = field(default_factory=dict, compare=False)

    @classmethod
    def on(cls, problem: Problem, rng: np.random.Generator) -> "Trial":
        """With 8 examples per class, and 2,048 at least."""
        size = max(2048, 8 * problem.k, len(problem) // _PART)
        return cls(*hold_out(sample(problem, size, rng), 0.25, rng))

    def paced(self, algorithm: Algorithm, schedule: Schedule) -> "Trial":
        """As many epochs as these take until they get no better: in fewer, a large step looks better than it is."""
        descent = Descent.start(Machines.zeros(self.train.k, self.train.d))
        stopping = Stopping(_EPOCHS, tolerance=self.margin(0.5) / 2, patience=2, every=2)
        try:
            descend(descent, algorithm, self.train, schedule, stopping, mean_class_accuracy(self.held))
        except FloatingPointError:
            return self
        return replace(self, epochs=descent.epoch, known={(algorithm, schedule): descent.history[-1]["accuracy"]})

    def score(self, algorithm: Algorithm, schedule: Schedule) -> float:
        """The mean accuracy over classes after a few epochs; -1 if the weights grew beyond all bounds."""
        key = algorithm, schedule
        if key not in self.known:
            self.known[key] = self._run(algorithm, schedule)
        return self.known[key]

    def _run(self, algorithm: Algorithm, schedule: Schedule) -> float:
        descent = Descent.start(Machines.zeros(self.train.k, self.train.d))
        try:
            descend(descent, algorithm, self.train, schedule, Stopping(max_epochs=self.epochs))
        except FloatingPointError:
            return -1.0
        return mean_class_accuracy(self.held)(descent.mean)

    def margin(self, score: float) -> float:
        """What chance alone may do to a score: one standard error of so many examples."""
        return float(np.sqrt(max(score * (1 - score), 0.0) / max(1, len(self.held))))


def find_step(trial: Trial, algorithm: Algorithm, schedule: Schedule) -> float:
    """A step: larger by factors of four as long as that is better by more than chance, else smaller by two or four.

    Chance must speak against large steps: they are ahead early, and a trial is short.
    """
    most = 0.5 / schedule.regularization if schedule.regularization else np.inf

    def score(step: float) -> float:
        return trial.score(algorithm, schedule.with_step(step))

    step = min(schedule.step, most)
    while score(step) < 0 and len(trial.known) < 12:  # the weights grew beyond all bounds
        step /= 4
    while 4 * step < most and score(4 * step) > score(step) + 2 * trial.margin(score(step)):
        step *= 4
    top = score(step)
    for _ in range(2):
        if score(step / 2) <= top:
            break
        step, top = step / 2, score(step / 2)
    return step


def find_beta(trial: Trial, algorithm: OneVsRest, schedule: Schedule) -> float | None:
    """How many negatives go with a positive; None, in place of k - 1 and more, for all that there are.

    From that of the algorithm by factors of four, down and up, as long as it gets better by more than chance.
    """
    most = trial.train.k - 1.0

    def score(beta: float) -> float:
        return trial.score(replace(algorithm, beta=None if beta >= most else beta), schedule)

    start = best = min(algorithm.beta or most, most)
    top = score(start)
    for factor in (1 / 4, 4):
        beta = start
        while beta * factor > 0.5 and beta < most:
            beta = min(beta * factor, most)
            found = score(beta)
            if found <= top + trial.margin(top):
                break
            best, top = beta, found
    return None if best >= most else best
