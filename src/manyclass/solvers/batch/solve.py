"""solve: the batch solvers by name, each with the same promises.

Solvers by the names that users give them, and the penalties that each can do with.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from manyclass._core.parallel import one_blas_thread
from manyclass.penalties.penalty import Penalty
from manyclass.solvers.batch.duality import duality_gap
from manyclass.solvers.batch.factored import factored
from manyclass.solvers.batch.fista import fista
from manyclass.solvers.batch.intercept import NullModel, fit_null_model
from manyclass.solvers.batch.points import Weights, zero_weights
from manyclass.solvers.batch.rank_one import PUBLISHED, rank_one
from manyclass.solvers.batch.ridge_lbfgs import ridge
from manyclass.solvers.batch.solution import Callback, Solution, SolverRun, StopSolver
from manyclass.solvers.batch.stochastic_rank_one import stochastic_atoms
from manyclass.solvers.problem import Objective

Solver = Callable[[Objective, SolverRun, NullModel, Weights | None, float, int], str]

SOLVERS: dict[str, Solver] = {
    "factored": factored,
    "fista": fista,
    "rank_one": rank_one,
    "stochastic": stochastic_atoms,
    "ridge": ridge,
}


def fastest(objective: Objective) -> str:
    """The name of the solver that "auto" stands for."""
    if objective.gauge is None or objective.gauge.strength == 0:
        return "ridge"
    return "factored" if objective.gauge.spectral else "fista"


def solve(
    objective: Objective,
    solver: str | Solver = "auto",
    tolerance: float = 1e-4,
    max_iter: int = 1000,
    max_seconds: float | None = None,
    start: Weights | None = None,
    callback: Callback | None = None,
    base: NullModel | None = None,
) -> Solution:
    """Minimize an objective by one of the batch solvers.

    It ends when the duality gap is at most `tolerance` times the objective, and times what W gains over W = 0. An
    interrupt from the keyboard gives the best point so far.

    Parameters
    ----------
    objective : Objective
        What to minimize.
    solver : str or callable, default="auto"
        "auto" for the fastest, a key of `SOLVERS`, or a function like them, such as
        `partial(rank_one, settings=PUBLISHED)`.
    tolerance : float, default=1e-4
        The relative duality gap at which to stop.
    max_iter : int, default=1000
        The largest number of steps.
    max_seconds : float, default=None
        The time limit; None for no limit.
    start : Point, default=None
        Where to begin; None for W = 0.
    callback : callable, default=None
        It is called with the record of each step, and ends the solver by returning True.
    base : Baseline, default=None
        The objective at W = 0, if it is known already.

    Returns
    -------
    Solution
        The best point and how good it is.

    Raises
    ------
    ValueError
        If there is no such solver, or if X is so large that its squares overflow.
    """
    held = np.flatnonzero(objective.rows.shares())
    if len(held) < objective.k and objective.fit_intercept:
        inner = partial(solve, solver=solver, tolerance=tolerance, max_iter=max_iter, max_seconds=max_seconds)
        return _without_empty_classes(objective, held, start, partial(inner, callback=callback))
    run, before, status = SolverRun(max_seconds, callback), objective.passes, "interrupted"
    with one_blas_thread():
        try:
            status = _run(objective, run, solver, tolerance, max_iter, start, base)
        except StopSolver as reason:
            status = str(reason)
        except KeyboardInterrupt:
            if run.point is None:
                raise
    return run.solution(status, objective.passes - before)


def _without_empty_classes(
    objective: Objective, held: NDArray[np.intp], start: Weights | None, inner: Callable[..., Solution]
) -> Solution:
    """Classes without weight have W = 0 and a b that adds nothing to the loss: mostly, the lower b, the better."""
    smaller = objective.of_classes(held)
    found = inner(smaller, start=None if start is None else start.of_classes(held))
    objective.passes += smaller.passes
    b, empty = fit_null_model(objective).b, np.ones(objective.k)
    b[held], empty[held] = found.b, 0
    return replace(found, point=_lowered(objective, found.point.among(objective.k, held, b), empty))


def _lowered(objective: Objective, point: Weights, empty: NDArray[np.float64]) -> Weights:
    """With the b of empty classes, marked by 1, lowered as long as the mean loss falls."""
    last, step = objective.loss_of(point.scores(objective)), 1.0
    while True:
        lower = replace(point, b=point.b - step * empty)
        loss = objective.loss_of(lower.scores(objective))
        if not loss < last:
            return point
        point, last, step = lower, loss, 2 * step


def _named(objective: Objective, solver: str | Solver) -> Solver:
    if callable(solver):
        return solver
    name = fastest(objective) if solver == "auto" else solver
    if name not in SOLVERS:
        raise ValueError(f"solver must be 'auto' or one of {', '.join(SOLVERS)}; got {solver!r}")
    return SOLVERS[name]


def _run(
    objective: Objective,
    run: SolverRun,
    solver: str | Solver,
    tolerance: float,
    max_iter: int,
    start: Weights | None,
    base: NullModel | None,
) -> str:
    minimize = _named(objective, solver)
    base = fit_null_model(objective) if base is None else base
    nothing = zero_weights(objective, base.b)
    run.record(nothing, base.loss)
    _check_size(objective, base)
    gauge, rounding = objective.gauge, 10 * float(np.finfo(objective.dtype).eps)
    if gauge is not None and gauge.polar(base.gradient) <= gauge.strength * (1 + rounding):
        run.certified(nothing, duality_gap(objective, nothing, base))
        return "optimal"
    return minimize(objective, run, base, _allowed(objective, start), tolerance, max_iter)


def _allowed(objective: Objective, start: Weights | None) -> Weights | None:
    """The start, without its b where none is fitted: solvers leave b alone then."""
    return start if start is None or objective.fit_intercept else replace(start, b=np.zeros(objective.k))


def _check_size(objective: Objective, base: NullModel) -> None:
    """Refuse rows whose products overflow."""
    length, most = float(np.linalg.norm(base.gradient.astype(np.float64))), float(np.finfo(objective.dtype).max)
    if objective.gauge is not None and not length < np.sqrt(most) / objective.n:
        raise ValueError(
            f"X must be so small that {objective.dtype} can hold the squares of its values; the gradient at W = 0 has "
            f"norm {length:.2g}; divide X by its scale"
        )


NAMES = ("auto", "factored", "fista", "rank_one", "published", "stochastic", "ridge")

_OF_GAUGES = ("factored", "rank_one", "published", "stochastic")


def named_solver(name: str, penalty: Penalty, seed: Callable[[], int]) -> str | Solver:
    """What `solve` takes for a name; refuses a penalty that the solver cannot minimize."""
    if name not in NAMES:
        raise ValueError(f"solver must be one of {', '.join(NAMES)}; got {name!r}")
    gauge, _ = penalty.parts()
    if name in _OF_GAUGES and gauge is None:
        raise ValueError(f"solver {name!r} needs a penalty with a gauge, such as a trace norm; got {penalty}")
    if name == "factored" and gauge is not None and not gauge.spectral:
        raise ValueError(f"solver 'factored' needs a trace norm; got {penalty}; use 'fista'")
    if name == "ridge" and gauge is not None and gauge.strength > 0:
        raise ValueError(f"solver 'ridge' needs a penalty without a gauge; got {penalty}; use 'auto'")
    if name == "published":
        return partial(rank_one, settings=PUBLISHED)
    return partial(stochastic_atoms, random_state=seed()) if name == "stochastic" else name
