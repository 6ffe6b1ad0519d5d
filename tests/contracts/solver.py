"""What every batch solver promises, as checks, and the solvers and problems to check.

A check takes the name of a solver and an objective that it can minimize. A new solver or norm joins by its entry in
the registry.
"""

from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

import manyclass as mc
from manyclass.losses.multiclass import as_score_loss
from manyclass.penalties.norms import PENALTIES as NORMS
from manyclass.penalties.penalty import Gauge, Penalty
from manyclass.penalties.ridge import Ridge
from manyclass.solvers.batch.null_model import alpha_max
from manyclass.solvers.batch.solve import SOLVERS as REGISTRY
from manyclass.solvers.batch.solve import Solver, solve
from manyclass.solvers.problem import Objective, Problem

GAUGES = {name.removesuffix("Norm").lower(): kind for name, kind in NORMS.items() if issubclass(kind, Gauge)}


class Kind(NamedTuple):
    """What a solver can do: gauges by name (none means a ridge alone), and how exact it is within a second."""

    gauges: tuple[str | None, ...]
    tolerance: float = 1e-6


def _kind(solver: Solver) -> Kind:
    meet = [name for name, penalty in PENALTIES.items() if solver.needs.are_met_by(penalty)]
    return Kind(tuple(meet), 1e-4 if solver.name in ("rank_one", "stochastic") else 1e-6)


PENALTIES: dict[str | None, Penalty] = {**{name: gauge(1.0) for name, gauge in GAUGES.items()}, None: Ridge(1.0)}

SOLVERS: dict[str, Kind] = {solver.name: _kind(solver) for solver in REGISTRY.values() if solver.certifies}
PAIRS = [(name, gauge) for name, kind in SOLVERS.items() for gauge in kind.gauges]

every_solver = pytest.mark.parametrize(("solver", "gauge"), PAIRS, ids=[f"{s}-{g}" for s, g in PAIRS])


def rows(seed: int, n: int = 40, d: int = 6, k: int = 4) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """X, y and weights of classes that overlap."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    X = rng.standard_normal((n, d)) + 1.5 * rng.standard_normal((k, d))[y] + 0.5
    return X, y, (rng.random(n) + 0.1).astype(np.float32)


def objective(
    gauge: str | None = "trace",
    loss: str = "softmax",
    share: float = 0.2,
    ridge: float = 0.01,
    seed: int = 0,
    X: Any = None,
    y: Any = None,
    weights: Any = None,
    **options: Any,
) -> Objective:
    """An objective whose gauge has this share of its largest useful strength."""
    if X is None:
        X, y, weights = rows(seed)
    matrix = X if isinstance(X, mc.Matrix) else mc.DenseMatrix(X)
    problem = Problem.whole(matrix, y, int(np.max(y)) + 1, weights)
    if gauge is None:
        return Objective(problem, as_score_loss(loss), Ridge(ridge), **options)
    made = Objective(problem, as_score_loss(loss), GAUGES[gauge](1.0), **options)
    strength = share * alpha_max(made)
    penalty: Penalty = GAUGES[gauge](strength) + Ridge(ridge) if ridge else GAUGES[gauge](strength)
    return made.with_penalty(penalty)


def value(made: Objective, W: NDArray[Any], b: NDArray[Any]) -> float:
    """F(W, b), the obvious way."""
    X, W = made.X.toarray().astype(np.float64), W.astype(np.float64)
    losses = made.rows.loss.value_and_gradient(X @ W + b, made.rows.y)[0]
    return float(made.rows.p @ losses) + made.penalty.value(W)


def slopes(made: Objective, W: NDArray[Any], b: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The gradient of mean loss and ridge by W and by b, the obvious way."""
    X, W = made.X.toarray().astype(np.float64), W.astype(np.float64)
    R = made.rows.p[:, None] * made.rows.loss.value_and_gradient(X @ W + b, made.rows.y)[1]
    return X.T @ R + 2 * made.ridge.strength * W, R.sum(axis=0)


def check_the_objective_is_that_of_its_point(solver, made, tolerance):
    found = solve(made, solver, tolerance)
    # Atoms may count for more than the gauge of their sum.
    assert value(made, found.W, found.b) <= found.objective * (1 + 1e-9)
    np.testing.assert_allclose(found.objective, value(made, found.W, found.b), rtol=10 * tolerance)


def check_it_says_that_it_is_optimal(solver, made, tolerance):
    found = solve(made, solver, tolerance)
    assert found.status == "optimal"
    assert found.gap <= tolerance * found.objective
    assert found.iterations == len(found.history)
    assert found.passes > 0


def check_the_conditions_of_optimality_hold(solver, made, tolerance):
    found = solve(made, solver, tolerance)
    H, h = slopes(made, found.W, found.b)
    slack = 3 * np.sqrt(tolerance)
    np.testing.assert_allclose(h, 0, atol=slack)
    if made.gauge is None:
        np.testing.assert_allclose(H, 0, atol=slack)
    else:
        assert made.gauge.polar(H) <= made.gauge.strength * (1 + slack)
        np.testing.assert_allclose(-np.sum(H * found.W), made.gauge.value(found.W), rtol=slack)


def check_no_point_near_by_is_better_than_the_gap_allows(solver, made, tolerance):
    found, rng = solve(made, solver, tolerance), np.random.default_rng(0)
    for size in (1e-4, 1e-2, 1.0):
        W = found.W + size * rng.standard_normal(found.W.shape)
        b = found.b + size * rng.standard_normal(found.b.shape)
        assert value(made, W, b) >= found.objective - found.gap - 1e-9


def check_the_factors_make_up_W(solver, made, tolerance):
    found = solve(made, solver, tolerance)
    U, s, V = found.factors
    np.testing.assert_allclose((U * s) @ V.T, found.W, atol=1e-5 * max(1, np.abs(found.W).max()))
    np.testing.assert_allclose(U.T @ U, np.eye(found.rank), atol=1e-5)
    np.testing.assert_allclose(V.T @ V, np.eye(found.rank), atol=1e-5)
    assert (np.diff(s) <= 0).all()


def check_it_goes_on_from_where_it_ended(solver, made, tolerance):
    found = solve(made, solver, tolerance)
    again = solve(made, solver, tolerance, start=found.point)
    np.testing.assert_allclose(again.objective, found.objective, rtol=2 * tolerance)
    assert again.iterations <= found.iterations


def check_a_second_run_gives_the_same_bits(solver, made, tolerance):
    first, second = solve(made, solver, tolerance), solve(made, solver, tolerance)
    assert first.W.tobytes() == second.W.tobytes()
    assert first.b.tobytes() == second.b.tobytes()


CHECKS = [check for name, check in list(globals().items()) if name.startswith("check_")]

__all__ = ["CHECKS", "GAUGES", "PAIRS", "SOLVERS", "every_solver", "objective", "rows", "slopes", "value"]
