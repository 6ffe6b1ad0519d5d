"""R1D, rank-one descent (Harchaoui et al., CVPR 2012, Algorithm 4.1), for any gauge that has atoms."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from manyclass.data.tiles import Floats
from manyclass.solvers.atoms import Atoms
from manyclass.solvers.baseline import Baseline
from manyclass.solvers.certificate import certify, solved
from manyclass.solvers.line_search import armijo
from manyclass.solvers.objective import Objective
from manyclass.solvers.points import Point
from manyclass.solvers.solution import Run

Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class RankOneSettings:
    """`epsilon` of conditions (C1) and (C2), in units of the largest useful strength, so that the scale of X is free.

    All atoms are corrected every `every` steps, and whenever no new one is steep enough. Where both conditions hold but
    the gap is not small enough, epsilon is multiplied by `shrink`; at 1 they end the solver, as published.
    """

    epsilon: float = 0.035
    max_steps: int | None = None
    every: int = 10
    shrink: float = 0.25


DEFAULT = RankOneSettings()
PUBLISHED = RankOneSettings(epsilon=0.035, max_steps=200, shrink=1.0)


def rank_one(
    objective: Objective,
    run: Run,
    base: Baseline,
    start: Point | None,
    tolerance: float,
    max_iter: int,
    settings: RankOneSettings = DEFAULT,
) -> str:
    """Minimize; what ended it."""
    gauge = objective.gauge
    if gauge is None:
        raise ValueError(f"rank_one needs a penalty with atoms, such as a trace norm; got {objective.penalty}")
    atoms = begin(objective, base, start)
    share, unit, size = settings.epsilon, gauge.polar(base.gradient), 1.0
    steps = min(max_iter, settings.max_steps or max_iter)
    for count in range(1, steps + 1):
        slope = objective.slope(atoms.scores)
        H = _with_ridge(objective, slope.W, atoms)
        # It attains the polar up to rounding, more than the epsilon / 2 that is asked for.
        epsilon, (u, v) = share * unit, gauge.atom(-H)
        g = gauge.strength + float(u.astype(np.float64) @ (H @ v))
        steep = g <= -epsilon / 2
        if steep:
            size = add_atom(atoms, u, v, g, 2 * size)
        elif np.abs(atoms.derivatives(H) + gauge.strength).max(initial=0.0) <= epsilon and _settled(slope.b, share):
            if settings.shrink == 1:
                return _ended(objective, run, base, atoms, f"optimal to epsilon {settings.epsilon}")
            if _ended(objective, run, base, atoms, "", tolerance) == "optimal":
                return "optimal"
            share *= settings.shrink
        if not steep or count % settings.every == 0:
            atoms.correct(precision=1e-9 if steep else 1e-15)
        point = atoms.point()
        value = objective.loss_of(atoms.scores) + atoms.penalty(atoms.theta)
        run.record(point, value, atoms=len(atoms.theta), epsilon=share)
    return _ended(objective, run, base, atoms, f"not solved in {steps} steps", tolerance)


def begin(objective: Objective, base: Baseline, start: Point | None) -> Atoms:
    """No atoms, or those of a start."""
    atoms = Atoms(objective, base.b if start is None else start.b)
    if start is not None and objective.gauge is not None:
        atoms.add(*objective.gauge.atoms(start.whole()))
    return atoms


def add_atom(atoms: Atoms, u: Floats, v: Floats, slope: float, first: float) -> float:
    """Take in u v' with the weight that a search along it gives; that weight."""
    objective, theta = atoms.objective, np.append(atoms.theta, 0.0)
    start = objective.loss_of(atoms.scores) + atoms.penalty(atoms.theta)
    atoms.add(u[:, None], v[:, None], np.zeros(1))

    def value(t: float) -> float:
        atoms.theta = theta + t * (np.arange(len(theta)) == len(theta) - 1)
        return objective.loss_of(atoms.scores) + atoms.penalty(atoms.theta)

    t = armijo(value, start, slope, first)
    value(t)
    if t == 0:
        atoms.drop_dead()
    return t or first / 4


def _settled(slope_b: Doubles, share: float) -> bool:
    return float(np.abs(slope_b).sum()) <= max(share, 1e-6)


def _with_ridge(objective: Objective, G: Floats, atoms: Atoms) -> Floats:
    return G + objective.ridge.gradient(atoms.point().whole()).astype(G.dtype) if objective.ridge.strength else G


def _ended(objective: Objective, run: Run, base: Baseline, atoms: Atoms, status: str, tolerance: float = 0.0) -> str:
    """Certify where the atoms stand: "optimal" if that is proved, else the status."""
    point = atoms.point()
    run.certified(point, certify(objective, point, base))
    return "optimal" if solved(run.gap, run.value, base, tolerance, objective.dtype) else status
