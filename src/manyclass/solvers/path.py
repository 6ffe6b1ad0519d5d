"""A path: the same problem under one penalty after another, from strong to weak, each solved from its neighbors."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from manyclass.penalties.penalty import Penalty
from manyclass.solvers.baseline import baseline
from manyclass.solvers.objective import Objective
from manyclass.solvers.points import Point, Product, Whole, balanced
from manyclass.solvers.solution import Solution

Solve = Callable[..., Solution]
Strengths = tuple[float, float]  # of the gauge, and of the ridge


@dataclass(frozen=True)
class PathPoint:
    """A solution, and the strengths of gauge and ridge that it belongs to."""

    gauge: float
    ridge: float
    solution: Solution


def follow(
    objective: Objective,
    gauges: Sequence[float],
    ridges: Sequence[float],
    penalty: Callable[[float, float], Penalty],
    solve: Solve,
    max_seconds: float | None = None,
) -> Iterator[PathPoint]:
    """Solve all pairs, the strongest gauge first, and for each of them the strongest ridge first.

    `penalty(gauge, ridge)` makes a penalty, `solve(objective, start=, max_seconds=)` minimizes. A pair is solved from
    the better of its two neighbors, which have the next stronger gauge or the next stronger ridge.
    """
    started = time.perf_counter()
    last: dict[float, Point] = {}
    for gauge in sorted(gauges, reverse=True):
        beside: Point | None = None
        corner: Point | None = None  # with both of them stronger
        for ridge in sorted(ridges, reverse=True):
            here = objective.with_penalty(penalty(gauge, ridge))
            left = None if max_seconds is None else max(1e-3, max_seconds - (time.perf_counter() - started))
            above = last.get(ridge)
            starts = [point for point in (above, beside, _corner(above, beside, corner)) if point is not None]
            found = solve(here, start=_better(here, starts), max_seconds=left)
            last[ridge], beside, corner = found.point, found.point, above
            yield PathPoint(gauge, ridge, found)


def _corner(above: Point | None, beside: Point | None, corner: Point | None) -> Point | None:
    """above + beside - corner: what each of the strengths changed, changed together, in no more columns than before."""
    if above is None or beside is None or corner is None:
        return None
    parts = [balanced(point) for point in (above, beside, corner)]
    A, B = np.hstack([part.A for part in parts]), np.hstack([*(part.B for part in parts[:2]), -parts[2].B])
    if not A.shape[1]:
        return None
    U, s, V = Product(A, B, above.b + beside.b - corner.b).factors()
    r = max(part.A.shape[1] for part in parts[:2])
    roots = np.sqrt(s[:r]).astype(U.dtype)
    return Product(U[:, :r] * roots, V[:, :r] * roots, above.b + beside.b - corner.b)


def _better(objective: Objective, points: list[Point]) -> Point | None:
    """The point of lowest objective; None where there is none."""
    if len(points) < 2:
        return points[0] if points else None
    return min(points, key=partial(_value, objective))


def _value(objective: Objective, point: Point) -> float:
    s = point.factors()[1]
    gauge = objective.gauge.strength * float(s.sum()) if objective.gauge else 0.0
    return objective.loss_of(point.scores(objective)) + gauge + objective.ridge.strength * float(s @ s)


def largest_ridge(objective: Objective) -> float:
    """The ridge that halves a first step: half of the curvature of the mean loss along its gradient at W = 0.

    From there on a ridge does little more than to make W shorter.
    """
    base = baseline(objective)
    squared = float(np.vdot(base.gradient, base.gradient))
    if squared == 0:
        return 1.0
    along = objective.matmat(base.gradient)
    step = 0.01 / max(float(np.abs(along).max()), 1e-300)
    ahead = Whole(base.gradient * base.gradient.dtype.type(step), base.b)
    change = objective.slope(ahead.scores(objective)).W.astype(np.float64) - base.gradient
    return max(float(np.vdot(change, base.gradient)) / (step * squared) / 2, 1e-300)
