"""The step, and how many negatives: found on a small sample, by climbing."""

from dataclasses import dataclass, replace

import numpy as np

from manyclass.solvers.machines import Machines
from manyclass.solvers.one_vs_rest import OneVsRest
from manyclass.solvers.problem import Problem
from manyclass.solvers.schedule import Schedule
from manyclass.solvers.sgd import Algorithm, Descent, Stopping, descend
from manyclass.solvers.validation import hold_out, mean_class_accuracy, sample

_VISITS = 1 << 15  # examples that a trial sees, again and again if they are few


@dataclass(frozen=True)
class Trial:
    """Short runs on a part of the data, judged on another part."""

    train: Problem
    held: Problem

    @classmethod
    def on(cls, problem: Problem, rng: np.random.Generator) -> "Trial":
        """With 8 examples per class, and 4,096 at least."""
        return cls(*hold_out(sample(problem, max(4096, 8 * problem.k), rng), 0.2, rng))

    @property
    def epochs(self) -> int:
        """How often a trial sees its examples."""
        return int(np.clip(_VISITS // max(1, len(self.train)), 4, 16))

    def score(self, algorithm: Algorithm, schedule: Schedule) -> float:
        """The mean accuracy over classes after a few epochs; -1 if the weights grew beyond all bounds."""
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
    """A step, by factors of four and two from that of the schedule, which is as good as any but for chance.

    A short run flatters large steps: one that is smaller by two or four and hardly worse by then ends up better.
    """
    most = 0.5 / schedule.regularization if schedule.regularization else np.inf
    scores: dict[float, float] = {}

    def score(step: float) -> float:
        if step not in scores:
            scores[step] = trial.score(algorithm, schedule.with_step(step))
        return scores[step]

    step = min(schedule.step, most)
    while score(step) < 0 and len(scores) < 12:  # the weights grew beyond all bounds
        step /= 4
    while 4 * step < most and score(4 * step) > score(step) + 2 * trial.margin(score(step)):
        step *= 4
    top = score(step)
    for _ in range(2):
        if score(step / 2) <= top - trial.margin(top):
            break
        step, top = step / 2, max(top, score(step / 2))
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
