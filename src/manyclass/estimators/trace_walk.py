"""A walk along a path: every pair judged, the best remembered."""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from manyclass.data.tiles import Floats
from manyclass.solvers.best_classes import Scores, best_classes
from manyclass.solvers.path import PathPoint
from manyclass.solvers.path_checkpoint import ENDED
from manyclass.solvers.points import Point, balanced
from manyclass.solvers.problem import Problem
from manyclass.solvers.solution import Solution


class Walk:
    """Goes along a path; `status` is "done", or says what ended it."""

    solution: Solution
    trace: float
    ridge: float

    def __init__(self, judged: Problem, points: int, tell: Callable[[dict[str, Any]], bool]):
        self.judged = judged
        self.points = points
        self.tell = tell
        self.rows: list[dict[str, Any]] = []
        self.best = -1.0
        self.steps = 0
        self.status = "done"

    def along(self, path: Iterator[PathPoint]) -> None:
        """Take all points in; Ctrl-C ends it, unless there is none yet."""
        try:
            for point in path:
                if self._over(point):
                    return
        except KeyboardInterrupt:
            if not self.rows:
                raise
            self.status = "interrupted"

    def warn(self, status: str, tolerance: float) -> None:
        """Warn of a path that ended early, or of pairs that were not solved."""
        if status.startswith(ENDED):
            words = f"{status} after {len(self.rows)} of {self.points} pairs; best_ is the best of those"
            refitted = "was refitted in part" if status.endswith("in the refit") else "was not refitted"
            advice = "raise max_seconds, or pass fewer traces and ridges" if "time" in status else "fit again"
            warnings.warn(f"TraceNormPath: {words}, and {refitted}; {advice}", ConvergenceWarning, stacklevel=4)
            return
        unsolved = [row for row in self.rows if not _settled(row, tolerance)]
        if unsolved:
            words = f"{len(unsolved)} of {self.points} pairs were not solved to the tolerance"
            advice = "see their status in table_; raise max_iter or tolerance"
            warnings.warn(f"TraceNormPath: {words}; {advice}", ConvergenceWarning, stacklevel=4)

    def _over(self, point: PathPoint) -> bool:
        """Take a point in; whether it is the last."""
        found = point.solution
        row = _row(point, class_accuracy(found.point, self.judged))
        self.rows.append(row)
        self.steps += found.iterations
        # The strongest trace comes first, and of equals it stays.
        if row["accuracy"] > self.best:
            self.best, self.solution = row["accuracy"], found
            self.trace, self.ridge = point.gauge, point.ridge
        if self.tell({**row, "point": len(self.rows), "points": self.points}):
            self.status = "stopped by the callback"
        if found.status in ENDED:
            self.status = found.status
        return self.status != "done"


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


def class_accuracy(point: Point, judged: Problem) -> float:
    """The share of examples given their own class, in each class, averaged over the classes that occur."""
    product = balanced(point)
    A, B, b = product.A, product.B, product.b.astype(product.B.dtype)
    y, index = judged.y[judged.index], judged.index

    def block(at: slice) -> Scores:
        Z: Floats = judged.X.rows(index[at]).astype(A.dtype, copy=False) @ A
        return lambda classes: Z @ B[classes].T + b[classes]

    right = best_classes(block, (len(index), judged.d), judged.k)[:, 0] == y
    hits, counts = np.bincount(y[right], minlength=judged.k), np.bincount(y, minlength=judged.k)
    return float((hits[counts > 0] / counts[counts > 0]).mean())


def _settled(row: dict[str, Any], tolerance: float) -> bool:
    """Optimal, or ended by rounding where the gap is small beside the objective: nothing that a user could mend."""
    rounded = row["status"].startswith("as near as rounding")
    return bool(row["status"].startswith("optimal") or (rounded and row["gap"] <= tolerance * row["objective"]))
