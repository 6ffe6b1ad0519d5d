"""A path: the same problem under one penalty after another, from strong to weak, each solved from its neighbors."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from manyclass.penalties.penalty import Penalty
from manyclass.solvers.baseline import baseline
from manyclass.solvers.objective import Objective
from manyclass.solvers.points import Point, Product, Whole, balanced
from manyclass.solvers.solution import Solution

Solve = Callable[..., Solution]
Strengths = tuple[float, float]  # of the gauge, and of the ridge

_SHORT = 1e-3  # of the largest singular value


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

    `penalty(gauge, ridge)` makes a penalty, `solve(objective, start=, max_seconds=, base=)` minimizes. A pair is solved
    from what its neighbors with the next stronger gauge, the next stronger ridge, and both of them let expect.
    """
    started, base = time.perf_counter(), baseline(objective)
    last: dict[float, Point] = {}
    for gauge in sorted(gauges, reverse=True):
        beside: Point | None = None
        corner: Point | None = None  # with both of them stronger
        for ridge in sorted(ridges, reverse=True):
            here = objective.with_penalty(penalty(gauge, ridge))
            left = None if max_seconds is None else max(1e-3, max_seconds - (time.perf_counter() - started))
            above = last.get(ridge)
            found = solve(here, start=_expected(above, beside, corner), max_seconds=left, base=base)
            last[ridge], beside, corner = found.point, found.point, above
            yield PathPoint(gauge, ridge, found)


def _expected(above: Point | None, beside: Point | None, corner: Point | None) -> Point | None:
    """above + beside - corner: what each of the strengths changed, changed together; or the neighbor that there is.

    In no more columns than a neighbor has, and without those that hardly count: they come back where they are needed.
    """
    if above is None or beside is None or corner is None:
        return beside or above
    parts = [balanced(point) for point in (above, beside, corner)]
    U, s, V = _sum(parts).factors()
    r = min(max(part.A.shape[1] for part in parts[:2]), int(np.count_nonzero(s > _SHORT * s[:1].sum())))
    roots = np.sqrt(s[:r]).astype(U.dtype)
    return Product(U[:, :r] * roots, V[:, :r] * roots, above.b + beside.b - corner.b)


def _sum(parts: list[Product]) -> Point:
    """The first and the second without the third, in factors where they are the smaller."""
    A, B = np.hstack([part.A for part in parts]), np.hstack([parts[0].B, parts[1].B, -parts[2].B])
    together = Product(A, B, parts[0].b)
    return together if A.shape[1] < min(len(A), len(B)) else Whole(together.whole(), parts[0].b)


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
