"""A path of trace norms and ridges against as many cold fits: processor time, at the same objectives."""

import time
from functools import partial

import numpy as np

import manyclass as mc
from benchmarks.page import Page
from benchmarks.timing import all_threads
from manyclass.estimators.trace.path_grid import RIDGES, TRACES, strength_grid
from manyclass.losses.multiclass import Softmax
from manyclass.penalties.norms import TraceNorm
from manyclass.penalties.penalty import Penalty
from manyclass.penalties.ridge import Ridge
from manyclass.solvers.batch.null_model import alpha_max
from manyclass.solvers.batch.path import follow_path, ridge_max
from manyclass.solvers.batch.solution import Solution
from manyclass.solvers.batch.solve import solve
from manyclass.solvers.problem import Objective, Problem

TOLERANCE = 1e-4


def _penalty(trace: float, ridge: float) -> Penalty:
    return TraceNorm(trace) + Ridge(ridge)


def warm(objective: Objective, traces: list[float], ridges: list[float]) -> tuple[float, list[Solution]]:
    """Seconds and solutions of the path."""
    started = time.process_time()
    points = follow_path(objective, traces, ridges, _penalty, partial(solve, tolerance=TOLERANCE))
    found = [point.solution for point in points]
    return time.process_time() - started, found


def cold(objective: Objective, traces: list[float], ridges: list[float]) -> tuple[float, list[Solution]]:
    """Seconds and solutions of a fit for every pair, each from nothing."""
    started = time.process_time()
    pairs = [_penalty(trace, ridge) for trace in traces for ridge in ridges]
    found = [solve(objective.with_penalty(pair), tolerance=TOLERANCE) for pair in pairs]
    return time.process_time() - started, found


def _row(name: str, seconds: float, base: float, found: list[Solution]) -> list[str]:
    return [
        name,
        f"{seconds:.1f} s",
        f"{seconds / base:.2f}",
        f"{np.mean([one.iterations for one in found]):.0f}",
        f"{np.mean([one.passes for one in found]):.0f}",
        f"{sum(one.status == 'optimal' for one in found)} of {len(found)}",
    ]


def run(n: int = 4_000, d: int = 512, k: int = 100, traces: int = 10, ridges: int = 10) -> Page:
    """The table; 4,000, 512, 100, 10 and 10 take some minutes."""
    page = Page("path", "A path of trace norms", __doc__ or "")
    made = mc.datasets.low_rank_classes(n, d, k)
    X = mc.DenseMatrix(np.ascontiguousarray(made.rows(slice(0, n))))
    with all_threads(1):
        objective = Objective(Problem.whole(X, made.y, k), Softmax(), TraceNorm(1.0))
        strengths = (
            strength_grid(traces, "traces", TRACES, lambda: alpha_max(objective)),
            strength_grid(ridges, "ridges", RIDGES, lambda: ridge_max(objective)),
        )
        (seconds, path), (base, fits) = warm(objective, *strengths), cold(objective, *strengths)
    rows = [_row("cold fits", base, base, fits), _row("path", seconds, base, path)]
    columns = ["way", "time", "against cold fits", "steps", "passes", "solved"]
    page.table(f"n, d, k = {n, d, k}, {traces} traces x {ridges} ridges, one thread", columns, rows)
    apart = max(abs(a.objective - b.objective) / b.objective for a, b in zip(path, fits, strict=True))
    page.table("Objectives", ["largest relative difference"], [[f"{apart:.1e}"]])
    return page
