"""A path: the same problem under one penalty after another, from strong to weak, each solved from its neighbors."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from manyclass.penalties.penalty import Penalty
from manyclass.solvers.baseline import baseline
from manyclass.solvers.forecast import Forecast
from manyclass.solvers.objective import Objective
from manyclass.solvers.path_checkpoint import PathCheckpoint
from manyclass.solvers.points import Whole, in_rows
from manyclass.solvers.solution import Solution

Solve = Callable[..., Solution]


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
    kept: PathCheckpoint | None = None,
) -> Iterator[PathPoint]:
    """Solve all pairs, the strongest gauge first, and for each of them the strongest ridge first.

    `penalty(gauge, ridge)` makes a penalty, `solve(objective, start=, max_seconds=, base=)` minimizes. A pair is solved
    from where the pairs before let expect it; those that are `kept` from an earlier attempt are not solved again.
    """
    kept = kept or PathCheckpoint(None, {})
    started, base = time.perf_counter(), baseline(objective)
    gauges, ridges = sorted(gauges, reverse=True), sorted(ridges, reverse=True)
    forecast = Forecast(gauges, ridges)
    for i, gauge in enumerate(gauges):
        for j, ridge in enumerate(ridges):
            number = i * len(ridges) + j
            found = kept.found(number)
            if found is None:
                here = objective.with_penalty(penalty(gauge, ridge))
                left = None if max_seconds is None else max(1e-3, max_seconds - (time.perf_counter() - started))
                found = solve(here, start=forecast.at(i, j), max_seconds=left, base=base)
                # As a file would give it back: products differ in their last bits with the order in memory.
                found = replace(found, point=in_rows(found.point))
                kept.keep(number, found)
            forecast.note(i, j, found.point)
            yield PathPoint(gauge, ridge, found)


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
