"""A path: its order, its starts, and what warm starts save."""

import numpy as np
import pytest
from contracts.solver import objective

from manyclass.penalties.norms import TraceNorm
from manyclass.penalties.ridge import Ridge
from manyclass.solvers.batch.null_model import alpha_max
from manyclass.solvers.batch.path import follow_path
from manyclass.solvers.batch.solve import solve


def _penalty(gauge, ridge):
    return TraceNorm(gauge) + Ridge(ridge)


def _strengths(made, count):
    return list(alpha_max(made) * np.geomspace(0.5, 0.01, count)), list(np.geomspace(0.1, 1e-3, count))


def test_the_strongest_come_first_whatever_the_order_of_the_strengths():
    made = objective()
    found = [(point.gauge, point.ridge) for point in follow_path(made, [0.1, 0.2], [0.01, 0.1], _penalty, solve)]
    assert found == [(0.2, 0.1), (0.2, 0.01), (0.1, 0.1), (0.1, 0.01)]


def test_all_but_the_first_have_a_start_and_all_share_a_baseline():
    made, seen = objective(), []

    def watched(here, **options):
        seen.append(options)
        return solve(here, **options)

    list(follow_path(made, [0.1, 0.05, 0.02], [0.1, 0.01], _penalty, watched))
    assert [options["start"] is None for options in seen] == [True] + 5 * [False]
    assert len({id(options["base"]) for options in seen}) == 1


@pytest.mark.parametrize("loss", ["softmax", "smoothed_hinge"])
def test_every_pair_reaches_the_optimum_of_a_cold_fit(loss):
    made = objective(loss=loss)
    gauges, ridges = _strengths(made, 4)
    for point in follow_path(made, gauges, ridges, _penalty, solve):
        cold = solve(made.with_penalty(_penalty(point.gauge, point.ridge)), tolerance=1e-7)
        assert point.solution.status == "optimal"
        assert 0 <= point.solution.objective - cold.objective + 1e-9 <= 1e-4 * cold.objective + 1e-9


def test_a_path_takes_far_fewer_steps_than_cold_fits():
    made = objective(share=0.5)
    gauges, ridges = _strengths(made, 8)
    warm = sum(point.solution.iterations for point in follow_path(made, gauges, ridges, _penalty, solve))
    cold = sum(solve(made.with_penalty(_penalty(g, r))).iterations for g in gauges for r in ridges)
    assert warm < 0.45 * cold


def test_classes_without_examples_leave_the_path_as_it_is():
    X = objective().X.toarray()
    made = objective(X=X, y=2 * (np.arange(40) % 4))
    points = list(follow_path(made, [0.05, 0.02], [0.01], _penalty, solve))
    assert [point.solution.status for point in points] == ["optimal", "optimal"]
