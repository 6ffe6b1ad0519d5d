"""FISTA's parts: the length of its steps, and proximal steps that compute only what they keep."""

import numpy as np
import pytest
from contracts.solver import objective, rows

from manyclass.penalties.norms import GroupNorm, L1Norm, TraceNorm
from manyclass.penalties.ridge import Ridge
from manyclass.solvers.batch import fista as module
from manyclass.solvers.batch.fista import Proximal, largest_eigenvalue
from manyclass.solvers.batch.solve import solve


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_the_largest_eigenvalue_is_bounded_by_little_more(scale):
    X, y, weights = rows(0, n=60, d=12)
    made = objective(X=scale * X, y=y, weights=weights)
    exact = np.linalg.eigvalsh((scale * X).T @ (made.rows.p[:, None] * scale * X))[-1]
    assert exact <= largest_eigenvalue(made) <= 1.11 * exact


def test_rows_of_zeros_have_a_step_all_the_same():
    X, y, weights = rows(0)
    assert largest_eigenvalue(objective("l1", X=0 * X, y=y, weights=weights)) == 1


@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("strength", [0.01, 3.0, 100.0])
def test_few_singular_values_give_the_proximal_step_of_all(monkeypatch, strength, ridge):
    monkeypatch.setattr(module, "_TRUNCATE_FROM", 10)
    rng, penalty = np.random.default_rng(0), TraceNorm(strength) + Ridge(ridge)
    proximal = Proximal(penalty, 50, 45)
    assert proximal.truncates
    W = rng.standard_normal((50, 3)) @ rng.standard_normal((3, 45)) + 0.1 * rng.standard_normal((50, 45))
    for _ in range(3):  # the later ones begin where the earlier ended
        W = W + 0.01 * rng.standard_normal(W.shape)
        point, value = proximal(W, np.zeros(45), 0.5)
        V, expected = penalty.prox_and_value(W, 0.5)
        np.testing.assert_allclose(point.to_dense(), V, atol=1e-6)
        assert value == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(
    ("penalty", "d", "truncates"),
    [
        (TraceNorm(1.0), 500, True),
        (TraceNorm(1.0), 200, False),
        (L1Norm(1.0), 500, False),
        (GroupNorm(1.0), 500, False),
        (Ridge(1.0), 500, False),
    ],
)
def test_only_large_spectral_problems_leave_singular_values_out(penalty, d, truncates):
    assert Proximal(penalty, d, 500).truncates is truncates


def test_leaving_singular_values_out_leaves_the_optimum(monkeypatch):
    made = objective(X=rows(1, n=80, d=30, k=25)[0], y=rows(1, n=80, d=30, k=25)[1])
    whole = solve(made, "fista", 1e-6)
    monkeypatch.setattr(module, "_TRUNCATE_FROM", 10)
    few = solve(made, "fista", 1e-6)
    assert whole.status == few.status == "optimal"
    assert few.objective == pytest.approx(whole.objective, rel=2e-6)
