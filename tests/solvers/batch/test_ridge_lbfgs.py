"""L-BFGS for smooth problems: a ridge, or nothing at all."""

import numpy as np
import pytest
from contracts.solver import objective, rows

from manyclass.penalties.norms import TraceNorm
from manyclass.penalties.penalty import Ridge
from manyclass.solvers.batch.solve import solve


@pytest.mark.parametrize("penalty", [Ridge(0.0), TraceNorm(0.0) + Ridge(0.0)], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_without_any_penalty_zero_is_no_optimum(penalty, dtype):
    # Classes of one size, whose best intercept is zero, and which overlap.
    X, y = np.random.default_rng(0).standard_normal((40, 3)), np.arange(40) % 4
    found = solve(objective(X=X.astype(dtype), y=y).with_penalty(penalty), "auto", 1e-3)
    least = solve(objective(X=X, y=y).with_penalty(Ridge(1e-7)), "ridge", 1e-4)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(least.objective, rel=1e-3)


def test_without_any_penalty_classes_that_can_be_told_apart_are():
    X, y, _ = rows(0)
    found = solve(objective(X=X, y=y).with_penalty(Ridge(0.0)), "auto")
    assert found.objective < 1e-6
    assert ((X @ found.W + found.b).argmax(axis=1) == y).all()


def test_too_few_steps_leave_a_gap_that_was_computed_at_their_end():
    made = objective(None, ridge=0.1)
    found, optimum = solve(made, "ridge", 1e-9, max_iter=10), solve(made, "ridge", 1e-6)
    assert found.status == "iteration limit reached"
    assert found.objective - optimum.objective <= found.gap < 0.1 * found.objective
