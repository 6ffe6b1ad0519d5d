"""When a point is good enough."""

import numpy as np
from contracts.solver import objective

from manyclass.solvers.batch.duality import duality_gap
from manyclass.solvers.batch.null_model import fit_null_model
from manyclass.solvers.batch.points import DenseWeights
from manyclass.solvers.batch.solution import is_solved


def test_zero_is_not_solved_though_its_gap_is_small_against_the_objective():
    made = objective(share=0.98, ridge=0.0)
    base = fit_null_model(made)
    certificate = duality_gap(made, DenseWeights(np.zeros((made.d, made.k)), base.b), base)
    assert 0 < certificate.gap < 0.05 * certificate.objective
    assert not is_solved(certificate.gap, certificate.objective, base, 0.05, np.float64)


def test_an_endless_gap_is_no_proof():
    made = objective("trace", "softmax")
    assert not is_solved(np.inf, 1.0, fit_null_model(made), 1e-4, np.float64)
