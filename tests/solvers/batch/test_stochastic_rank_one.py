"""Stochastic atom descent: draws that a seed repeats, mini-batches of any size, one optimum."""

from functools import partial

import numpy as np
import pytest
from contracts.solver import GAUGES, objective

from manyclass.solvers.batch.solve import solve
from manyclass.solvers.batch.stochastic_rank_one import EVERY, stochastic_atoms


def solved(made, tolerance=1e-3, max_iter=1000, **settings):
    return solve(made, partial(stochastic_atoms, **settings), tolerance, max_iter)


def test_a_seed_repeats_its_draws_and_another_has_its_own():
    first, again, other = (solved(objective(), batch=8, random_state=seed) for seed in (0, 0, 1))
    assert first.W.tobytes() == again.W.tobytes()
    assert first.W.tobytes() != other.W.tobytes()


@pytest.mark.parametrize("gauge", GAUGES)
@pytest.mark.parametrize("batch", [1, 8, 10_000])
def test_mini_batches_of_any_size_lead_to_the_optimum(gauge, batch):
    made = objective(gauge)
    found, exact = solved(made, batch=batch), solve(made, "fista", 1e-7)
    assert found.status == "optimal"
    assert found.objective - found.gap <= exact.objective * (1 + 1e-9)
    np.testing.assert_allclose(found.objective, exact.objective, rtol=2e-3)


@pytest.mark.parametrize("max_iter", [1, EVERY, 2 * EVERY + 3])
def test_the_last_mini_batch_is_followed_by_a_correction(max_iter):
    found = solved(objective(), 1e-12, max_iter)
    assert found.status == "iteration limit reached"
    assert found.iterations == 1 + -(-max_iter // EVERY)  # and W = 0
    assert np.isfinite(found.gap)


def test_corrections_never_raise_the_objective():
    values = [record["objective"] for record in solved(objective(), 1e-5, batch=8).history]
    assert len(values) > 2
    assert (np.diff(values) <= 1e-9).all()
