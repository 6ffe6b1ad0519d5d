"""R1D as published."""

from functools import partial

import numpy as np
import pytest
from contracts.solver import objective, slopes

from manyclass.solvers.batch.null_model import fit_null_model
from manyclass.solvers.batch.rank_one import PUBLISHED, Atoms, armijo, rank_one
from manyclass.solvers.batch.solve import solve


@pytest.mark.parametrize("gauge", ["trace", "l1", "group"])
def test_the_published_settings_end_where_both_conditions_hold(gauge):
    made = objective(gauge, ridge=0.01)
    base = fit_null_model(made)
    found = solve(made, partial(rank_one, settings=PUBLISHED))
    assert found.status in ("epsilon-optimal", "optimal")
    assert found.iterations <= PUBLISHED.max_steps
    epsilon = PUBLISHED.epsilon * made.gauge.polar(base.gradient)
    H, _ = slopes(made, found.W, found.b)
    assert made.gauge.polar(H) <= made.gauge.strength + 1.01 * epsilon
    U, V, weights = made.gauge.atoms(found.W)
    along = np.einsum("jm,jm->m", U, H @ V)
    heavy = weights > 0.1 * weights.max()
    assert (np.abs(along[heavy] + made.gauge.strength) <= 2 * epsilon).all()


def test_the_best_weights_are_stationary_and_dead_atoms_leave():
    made = objective(ridge=0.01)
    rng = np.random.default_rng(0)
    atoms = Atoms(made, fit_null_model(made).b)
    U, V = rng.standard_normal((made.d, 12)), rng.standard_normal((made.k, 12))
    atoms.add(U / np.linalg.norm(U, axis=0), V / np.linalg.norm(V, axis=0), np.ones(12))
    value = atoms.correct()
    assert 0 < len(atoms.theta) < 12
    assert (atoms.theta > 0).all()
    H, h = slopes(made, atoms.point().to_dense(), atoms.b)
    np.testing.assert_allclose(atoms.derivatives(H), -made.gauge.strength, atol=1e-5)
    np.testing.assert_allclose(h, 0, atol=1e-5)
    np.testing.assert_allclose(value, made.loss_of(atoms.point()) + atoms.penalty(atoms.theta))


def test_armijo_finds_no_step_where_there_is_none():
    assert armijo(lambda t: t, start=0.0, derivative=-1.0, first=1.0) == 0


def test_armijo_shortens_a_step_that_is_too_long():
    t = armijo(lambda t: (t - 1e-3) ** 2, start=1e-6, derivative=-2e-3, first=1.0)
    assert 0 < t < 2e-3
