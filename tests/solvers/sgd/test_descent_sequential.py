"""Blocks, scales, Gram matrices and threads give what one example after the other gives."""

import sys

import numpy as np
import pytest
from solvers import twins
from solvers.sgd.sequential import SCHEDULES, check_sequential

import manyclass as mc
from manyclass.losses.margin import MARGIN_LOSSES
from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd import sampling as schedules
from manyclass.solvers.sgd.linear_weights import LinearWeights
from manyclass.solvers.sgd.minibatch import MiniBatch
from manyclass.solvers.sgd.one_vs_rest import OneVsRest
from manyclass.solvers.sgd.pairwise import PairwiseRanking
from manyclass.solvers.sgd.sampling import Schedule


def any_sizes(seed):
    """n, d and k of no particular kind; classes of unequal size, some of them absent."""
    rng = np.random.default_rng(seed)
    return {"n": int(rng.integers(9, 120)), "d": int(rng.integers(1, 40)), "k": int(rng.integers(2, 40))}


ALGORITHMS = {
    "all negatives": (OneVsRest(MARGIN_LOSSES["hinge"]), lambda *a: twins.one_vs_rest(*a, "hinge", None)),
    "many negatives": (OneVsRest(MARGIN_LOSSES["hinge"], 30), lambda *a: twins.one_vs_rest(*a, "hinge", 30)),
    "few negatives": (OneVsRest(MARGIN_LOSSES["logistic"], 1.7), lambda *a: twins.one_vs_rest(*a, "logistic", 1.7)),
    "multiclass": (PairwiseRanking("max"), lambda *a: twins.joint(*a, "max")),
    "ranking": (PairwiseRanking("random"), lambda *a: twins.joint(*a, "random")),
    "warp": (PairwiseRanking("sampled"), lambda *a: twins.joint(*a, "sampled")),
    "softmax": (MiniBatch(8), lambda *a: twins.softmax(*a, 8)),
}


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("name", ALGORITHMS)
def test_any_problem_is_solved_sequentially(name, seed):
    check_sequential(*ALGORITHMS[name], list(SCHEDULES.values())[seed % 4], seed, any_sizes(seed))


@pytest.mark.parametrize("name", ALGORITHMS)
def test_panels_of_classes_change_nothing(name):
    check_sequential(*ALGORITHMS[name], SCHEDULES["decay"], 7, {"n": 90, "d": 11, "k": 523})


@pytest.mark.parametrize("name", ALGORITHMS)
def test_chunks_of_rows_change_nothing(name, monkeypatch):
    sizes = []

    def chunks(*args, **settings):
        for chunk in schedules.chunks(*args, **settings):
            sizes.append(len(chunk.y))
            yield chunk

    monkeypatch.setattr(schedules, "_CHUNK_BYTES", (256, 1024))
    monkeypatch.setattr(schedules, "_BESIDE_WEIGHTS", 0)
    monkeypatch.setattr(sys.modules[type(ALGORITHMS[name][0]).__module__], "chunks", chunks)
    check_sequential(*ALGORITHMS[name], SCHEDULES["ridge"], 8, {"n": 190, "d": 23, "k": 15})
    assert len(sizes) >= 2 * 20
    assert max(sizes) <= 11


@pytest.mark.parametrize(
    "solver", [OneVsRest(MARGIN_LOSSES["hinge"], 1), OneVsRest(MARGIN_LOSSES["hinge"]), PairwiseRanking("random")]
)
def test_a_tiny_ridge_is_not_rounded_away(solver):
    # Margins so large that nothing but the decay happens; float32 cannot tell 1 - 1e-8 from 1.
    X = mc.as_matrix(np.tile(np.eye(2, dtype=np.float32), (5000, 1)))
    given = Problem.whole(X, np.tile([0, 1], 5000), 2)
    machines = LinearWeights.of([[9.0, -9.0], [-9.0, 9.0]], [0.0, 0.0])
    schedule = Schedule(0.01, 1e-6)
    for epoch in range(20):
        solver.epoch(given, machines, schedule, epoch)
    machines.fold()
    steps = 1e-8 * 200_000
    np.testing.assert_allclose(machines.W[0, 0] / 9, np.exp(-steps), rtol=1e-6)
