"""solve, and the registry of the batch solvers: what each is called, what it needs of a penalty, and what it runs."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

import numpy as np
from numpy.typing import NDArray

from manyclass._core.parallel import one_blas_thread
from manyclass._core.typing import Callback
from manyclass.penalties.penalty import Penalty
from manyclass.solvers.batch.duality import duality_gap
from manyclass.solvers.batch.factored import factored
from manyclass.solvers.batch.fista import fista
from manyclass.solvers.batch.null_model import NullModel, fit_null_model
from manyclass.solvers.batch.points import DenseWeights, LowRankWeights, Weights, zero_weights
from manyclass.solvers.batch.rank_one import PUBLISHED, rank_one
from manyclass.solvers.batch.ridge_lbfgs import ridge
from manyclass.solvers.batch.solution import Solution, SolverRun, Status, StopSolver
from manyclass.solvers.batch.stochastic_rank_one import stochastic_atoms
from manyclass.solvers.problem import Objective

Minimize = Callable[[Objective, SolverRun, NullModel, Weights | None, float, int], Status]


class Needs(StrEnum):
    """What a solver asks of a penalty, in the words of its refusals."""

    ANYTHING = "any penalty"
    GAUGE = "a penalty with a gauge, such as a trace norm"
    SPECTRAL_GAUGE = "a penalty with a trace norm"
    NO_GAUGE = "a penalty without a gauge"

    def are_met_by(self, penalty: Penalty) -> bool:
        """Whether the penalty has what is needed."""
        gauge, _ = penalty.parts()
        if self is Needs.NO_GAUGE:
            return gauge is None or gauge.strength == 0
        if self is Needs.SPECTRAL_GAUGE:
            return gauge is not None and gauge.spectral
        return gauge is not None or self is Needs.ANYTHING


@dataclass(frozen=True)
class Solver:
    """A batch solver by its name.

    Parameters
    ----------
    name : str
        What users call it.
    minimize : callable
        The function (objective, run, base, start, tolerance, max_iter) -> Status that tells every point to the run.
    needs : Needs
        What it asks of the penalty.
    certifies : bool, default=True
        Whether it goes on until a duality gap proves the optimum, where time and iterations allow.
    seeded : bool, default=False
        Whether `minimize` takes a `random_state`.
    takes_center : bool, default=False
        Whether the ridge may have a center; solvers that add atoms to W = 0 count on none.
    """

    name: str
    minimize: Callable[..., Status]
    needs: Needs
    certifies: bool = True
    seeded: bool = False
    takes_center: bool = False

    def can_minimize(self, penalty: Penalty) -> bool:
        """Say whether the penalty has what is needed, and nothing else.

        Parameters
        ----------
        penalty : Penalty
            The penalty.

        Returns
        -------
        bool
            Whether it does.
        """
        return self.needs.are_met_by(penalty) and (self.takes_center or penalty.parts()[1].center is None)

    def check(self, penalty: Penalty) -> None:
        """Refuse a penalty that it cannot minimize.

        Parameters
        ----------
        penalty : Penalty
            The penalty.
        """
        if not self.can_minimize(penalty):
            needs = self.needs if not self.needs.are_met_by(penalty) else "a ridge without a center"
            raise ValueError(f"solver {self.name!r} needs {needs}; got {penalty}; use 'auto'")


SOLVERS: dict[str, Solver] = {
    "factored": Solver("factored", factored, Needs.SPECTRAL_GAUGE),
    "fista": Solver("fista", fista, Needs.ANYTHING, takes_center=True),
    "rank_one": Solver("rank_one", rank_one, Needs.GAUGE),
    "published": Solver("published", partial(rank_one, settings=PUBLISHED), Needs.GAUGE, certifies=False),
    "stochastic": Solver("stochastic", stochastic_atoms, Needs.GAUGE, seeded=True),
    "ridge": Solver("ridge", ridge, Needs.NO_GAUGE, takes_center=True),
}

AUTO = "auto"

SOLVER_NAMES = (AUTO, *SOLVERS)


def named_solver(name: str, penalty: Penalty, seed: Callable[[], int] | None = None) -> str | Minimize:
    """What `solve` takes for a name; refuses a penalty that the solver cannot minimize."""
    if name not in SOLVER_NAMES:
        raise ValueError(f"solver must be one of {', '.join(SOLVER_NAMES)}; got {name!r}")
    if name == AUTO:
        return name
    solver = SOLVERS[name]
    solver.check(penalty)
    return partial(solver.minimize, random_state=seed()) if solver.seeded and seed is not None else solver.minimize


def solvers_of(penalty: Penalty) -> tuple[str, ...]:
    """The names of the solvers that can minimize a penalty, "auto" among them.

    >>> from manyclass.penalties.ridge import Ridge
    >>> solvers_of(Ridge(1.0))
    ('auto', 'fista', 'ridge')
    """
    return AUTO, *(name for name, solver in SOLVERS.items() if solver.can_minimize(penalty))


def fastest(objective: Objective) -> Solver:
    """The solver that "auto" stands for."""
    if objective.gauge is None or objective.gauge.strength == 0:
        return SOLVERS["ridge"]
    return SOLVERS["factored" if objective.gauge.spectral and objective.ridge.center is None else "fista"]


def solve(
    objective: Objective,
    solver: str | Minimize = AUTO,
    tolerance: float = 1e-4,
    max_iter: int = 1000,
    max_seconds: float | None = None,
    start: Weights | None = None,
    callback: Callback | None = None,
    base: NullModel | None = None,
) -> Solution:
    """Minimize an objective by one of the batch solvers.

    It ends when the duality gap is at most `tolerance` times the objective, and times what W gains over W = 0; then
    small singular values leave, if the objective is no worse for it. An interrupt from the keyboard gives the best
    point so far.

    Parameters
    ----------
    objective : Objective
        What to minimize.
    solver : str or callable, default="auto"
        "auto" for the fastest, the name of one of `SOLVERS`, or a function like `Solver.minimize`.
    tolerance : float, default=1e-4
        The relative duality gap at which to stop.
    max_iter : int, default=1000
        The largest number of steps.
    max_seconds : float, default=None
        The time limit; None for no limit.
    start : Weights, default=None
        Where to begin; None for W = 0.
    callback : callable, default=None
        It is called with the record of each step, and ends the solver by returning True.
    base : NullModel, default=None
        The objective at W = 0, if it is known already.

    Returns
    -------
    Solution
        The best point and how good it is.

    Raises
    ------
    ValueError
        If there is no such solver, if it cannot minimize this penalty, or if X is so large that its squares overflow.
    """
    held = np.flatnonzero(objective.rows.class_fractions)
    if len(held) < objective.k and objective.fit_intercept:
        if objective.ridge.center is not None:
            raise ValueError(
                f"a ridge with a center needs rows of every class whose weight is not zero; {objective.k - len(held)} "
                "have none; leave out these classes"
            )
        inner = partial(solve, solver=solver, tolerance=tolerance, max_iter=max_iter, max_seconds=max_seconds)
        return _without_empty_classes(objective, held, start, partial(inner, callback=callback))
    run, before, status = SolverRun(max_seconds, callback), objective.passes, Status.INTERRUPTED
    with one_blas_thread():
        try:
            status = _run(objective, run, solver, tolerance, max_iter, start, base)
        except StopSolver as reason:
            status = reason.status
        except KeyboardInterrupt:
            if run.point is None:
                raise
        if not status.is_cut_short:
            with suppress(KeyboardInterrupt):  # nothing is lost but a lower rank
                _truncate(objective, run)
    return run.solution(status, objective.passes - before)


def _truncate(objective: Objective, run: SolverRun) -> None:
    """Drop the last singular values of W where the objective does not rise for it.

    Only as many are tried as add no more to the trace norm than the duality gap leaves open: what the optimum lacks and
    a solver that has not quite arrived still holds.
    """
    gauge, gap = objective.gauge, run.gap
    if objective.ridge.center is not None:
        return
    if gauge is None or not gauge.spectral or gauge.strength == 0 or not np.isfinite(gap) or run.point is None:
        return
    U, s, V = run.point.factors()
    left = gauge.strength * np.append(np.cumsum(s[::-1])[::-1], 0.0)  # in the norm, by those from the r-th on
    r, rounding = int(np.argmax(left <= gap)), float(np.finfo(objective.dtype).eps) * abs(run.value)
    while r < len(s):
        roots = np.sqrt(s[:r]).astype(U.dtype)
        point = LowRankWeights(U[:, :r] * roots, V[:, :r] * roots, run.point.b)
        value = objective.loss_of(point) + gauge.strength * s[:r].sum() + objective.ridge.strength * s[:r] @ s[:r]
        if value <= run.value + rounding:
            run.point, run.value = point, float(value)
            return
        r = (r + len(s) + 1) // 2


def _without_empty_classes(
    objective: Objective, held: NDArray[np.intp], start: Weights | None, inner: Callable[..., Solution]
) -> Solution:
    """Classes without weight have W = 0 and a b that adds nothing to the loss: mostly, the lower b, the better."""
    smaller = objective.of_classes(held)
    found = inner(smaller, start=None if start is None else start.of_classes(held))
    objective.sums.count(smaller.passes)
    b, empty = fit_null_model(objective).b, np.ones(objective.k)
    b[held], empty[held] = found.b, 0
    return replace(found, point=_lowered(objective, found.point.scatter_classes(objective.k, held, b), empty))


def _lowered(objective: Objective, point: Weights, empty: NDArray[np.float64]) -> Weights:
    """With the b of empty classes, marked by 1, lowered as long as the mean loss falls."""
    last, step = objective.loss_of(point), 1.0
    while True:
        lower = replace(point, b=point.b - step * empty)
        loss = objective.loss_of(lower)
        if not loss < last:
            return point
        point, last, step = lower, loss, 2 * step


def _run(
    objective: Objective,
    run: SolverRun,
    solver: str | Minimize,
    tolerance: float,
    max_iter: int,
    start: Weights | None,
    base: NullModel | None,
) -> Status:
    if isinstance(solver, str):
        solver = named_solver(solver, objective.penalty)
    minimize = fastest(objective).minimize if isinstance(solver, str) else solver
    base = fit_null_model(objective) if base is None else base
    nothing = zero_weights(objective, base.b)
    if objective.ridge.center is not None:
        return _run_from_center(objective, run, minimize, tolerance, max_iter, start, base)
    run.record(nothing, base.loss)
    gauge, limits = objective.gauge, np.finfo(objective.dtype)
    length = float(np.linalg.norm(base.gradient.astype(np.float64)))
    if gauge is not None and not length < np.sqrt(float(limits.max)) / objective.n:
        raise ValueError(
            f"X must be so small that {objective.dtype} can hold the squares of its values; the gradient at W = 0 has "
            f"norm {length:.2g}; divide X by its scale"
        )
    if gauge is not None and gauge.polar(base.gradient) <= gauge.strength * (1 + 10 * float(limits.eps)):
        run.certify(nothing, duality_gap(objective, nothing, base))
        return Status.OPTIMAL
    if start is not None and not objective.fit_intercept:
        start = replace(start, b=np.zeros(objective.k))  # solvers leave b alone then
    return minimize(objective, run, base, start, tolerance, max_iter)


def _run_from_center(
    objective: Objective,
    run: SolverRun,
    minimize: Minimize,
    tolerance: float,
    max_iter: int,
    start: Weights | None,
    base: NullModel,
) -> Status:
    """With a center of the ridge, W = 0 is nothing special: there is as much to gain as the center leaves."""
    center = DenseWeights(np.asarray(objective.ridge.center, objective.dtype), base.b)
    value = objective.loss_of(center) + objective.penalty.value(center.W)
    run.record(center, value)
    return minimize(objective, run, replace(base, worst=value), start or center, tolerance, max_iter)
