"""The grid of a path, and the way along it: the strengths, every pair judged, the best remembered."""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from manyclass._core.checks import check_count, check_nonnegative
from manyclass._core.typing import Floats
from manyclass.solvers.batch.path import PathCheckpoint, PathPoint
from manyclass.solvers.batch.points import Weights, balance_factors
from manyclass.solvers.batch.solution import Solution, Status
from manyclass.solvers.problem import Problem
from manyclass.solvers.row_sums import Scorer
from manyclass.solvers.sgd.checkpoint import run_identity_of
from manyclass.solvers.sgd.judging import balanced_accuracy
from manyclass.solvers.sgd.top_k import top_classes

# Fractions of alpha_max that a path goes through, from the first to the last: a trace above half of
# alpha_max leaves next to nothing of W, and strengths below the last one regularize next to nothing.
TRACES = (0.5, 2e-3)

RIDGES = (1.0, 1e-3)

# What may change between a fit that was killed and the one that goes on; class weights are told by those of examples.
_FREE = ("class_weight", "n_threads")

BEFORE_REFIT, DURING_REFIT = " before the refit", " during the refit"


def strength_grid(given: Any, name: str, fractions: tuple[float, float], largest: Callable[[], float]) -> list[float]:
    """So many strengths in geometric steps down from the largest, or those that are given; the strongest first.

    >>> strength_grid(3, "traces", (1.0, 0.01), lambda: 2.0)
    [2.0, 0.2, 0.02]
    """
    if np.ndim(given) == 0:
        count = check_count(given, name)
        most = largest()
        # Where W = 0 is best whatever the strength, as for constant features, any will do.
        most = most if most > 0 else 1.0
        return [round_to_digits(most * fraction) for fraction in np.geomspace(*fractions, count)]
    strengths = sorted({check_nonnegative(value, f"each of {name}") for value in given}, reverse=True)
    if not strengths:
        raise ValueError(f"{name} must hold at least one strength; got none")
    return strengths


def open_checkpoint(estimator: Any, problem: Problem, judged: Problem, settings: tuple[str, ...]) -> PathCheckpoint:
    """The pairs that the same fit has solved before it was killed; `settings` are names of parameters."""
    if estimator.checkpoint is None:
        return PathCheckpoint(None, {})
    if not isinstance(estimator.random_state, int | np.integer):
        raise ValueError(f"checkpoint needs an integer random_state; got {estimator.random_state!r}")
    values = {name: getattr(estimator, name) for name in settings if name not in _FREE}
    values["the names of classes"] = estimator.classes_.tolist()
    return PathCheckpoint(estimator.checkpoint, run_identity_of(problem, judged, None, values))


def round_to_digits(value: float) -> float:
    """With four digits: what a table shows is what was used."""
    return float(f"{value:.3e}")


class PathRun:
    """Goes along a path; `status` is what ended it."""

    solution: Solution
    trace: float
    ridge: float

    def __init__(self, judged: Problem, points: int, notify: Callable[[dict[str, Any]], bool]):
        self.judged = judged
        self.points = points
        self.notify = notify
        self.rows: list[dict[str, Any]] = []
        self.best = -1.0
        self.steps = 0
        self.status, self.stage = Status.DONE, ""

    def follow(self, path: Iterator[PathPoint]) -> None:
        """Take all points in; Ctrl-C ends it, unless there is none yet."""
        try:
            for point in path:
                if self._add(point):
                    return
        except KeyboardInterrupt:
            if not self.rows:
                raise
            self.status = Status.INTERRUPTED

    def end_refit(self, status: Status, stage: str) -> None:
        """Note that the refit ended early: " before the refit" or " during the refit"."""
        self.status, self.stage = status, stage

    def warn(self, tolerance: float) -> None:
        """Warn of a path that ended early, or of pairs that were not solved."""
        if self.status.is_unfinished:
            ended = f"{self.status}{self.stage} after {len(self.rows)} of {self.points} pairs"
            words = f"{ended}; best_ is the best of those"
            refitted = "was refitted in part" if self.stage == DURING_REFIT else "was not refitted"
            out_of_time = self.status is Status.TIME_LIMIT
            advice = "raise max_seconds, or pass fewer traces and ridges" if out_of_time else "fit again"
            warnings.warn(f"TraceNormPath: {words}, and {refitted}; {advice}", ConvergenceWarning, stacklevel=4)
            return
        unsolved = [row for row in self.rows if not _is_solved(row, tolerance)]
        if unsolved:
            words = f"{len(unsolved)} of {self.points} pairs were not solved to the tolerance"
            advice = "see their status in table_; raise max_iter or tolerance"
            warnings.warn(f"TraceNormPath: {words}; {advice}", ConvergenceWarning, stacklevel=4)

    def _add(self, point: PathPoint) -> bool:
        """Take a point in; whether it is the last."""
        found = point.solution
        row = _row(point, class_accuracy(found.point, self.judged))
        self.rows.append(row)
        self.steps += found.iterations
        # The strongest trace comes first, and of equals it stays.
        if row["accuracy"] > self.best:
            self.best, self.solution = row["accuracy"], found
            self.trace, self.ridge = point.gauge, point.ridge
        if self.notify({**row, "point": len(self.rows), "points": self.points}):
            self.status = Status.STOPPED
        if found.status.is_unfinished:
            self.status = found.status
        return self.status is not Status.DONE


def _row(point: PathPoint, accuracy: float) -> dict[str, Any]:
    found = point.solution
    return {
        "trace": point.gauge,
        "ridge": point.ridge,
        "accuracy": accuracy,
        "rank": found.rank,
        "objective": found.objective,
        "gap": found.gap,
        "seconds": found.seconds,
        "passes": found.passes,
        "status": found.status,
    }


def class_accuracy(point: Weights, judged: Problem) -> float:
    """The fraction of examples given their own class, in each class, averaged over the classes that occur."""
    product = balance_factors(point)
    A, B, b = product.A, product.B, product.b.astype(product.B.dtype)
    y, index = judged.y[judged.index], judged.index

    def block(at: slice) -> Scorer:
        Z: Floats = judged.X.rows(index[at]).astype(A.dtype, copy=False) @ A
        return lambda classes: Z @ B[classes].T + b[classes]

    return balanced_accuracy(top_classes(block, (len(index), judged.d), judged.k)[:, 0] == y, y)


def _is_solved(row: dict[str, Any], tolerance: float) -> bool:
    """Optimal, or ended by rounding where the gap is small beside the objective: nothing that a user could mend."""
    if row["status"] is Status.PRECISION_LIMIT:
        return bool(row["gap"] <= tolerance * row["objective"])
    return row["status"] in (Status.OPTIMAL, Status.EPSILON_OPTIMAL)
