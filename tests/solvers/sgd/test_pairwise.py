"""Multiclass, ranking and weighted ranking machines are the plain loop over examples."""

import numpy as np
import pytest
from solvers import twins
from solvers.sgd.sequential import SCHEDULES, SIZES, check_sequential

import manyclass as mc
from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd.linear_weights import LinearWeights
from manyclass.solvers.sgd.pairwise import PairwiseRanking
from manyclass.solvers.sgd.sampling import Schedule

every_violator = pytest.mark.parametrize("violator", PairwiseRanking.VIOLATORS)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("schedule", SCHEDULES)
@every_violator
def test_joint_machines_are_sequential(any_level, violator, schedule, sizes):
    def twin_epoch(twin, given, schedule, epoch):
        return twins.joint(twin, given, schedule, epoch, violator)

    check_sequential(PairwiseRanking(violator), twin_epoch, SCHEDULES[schedule], 1, sizes, any_level)


@every_violator
def test_an_update_moves_one_class_up_and_one_down_by_as_much(violator):
    X = np.random.default_rng(0).standard_normal((1, 6)).astype(np.float32)
    machines = LinearWeights.zeros(5, 6)
    PairwiseRanking(violator).epoch(Problem.whole(mc.as_matrix(X), [3], 5), machines, Schedule(0.1), 0)
    machines.fold()
    moved = np.flatnonzero(machines.W.any(axis=1))
    assert len(moved) == 2
    assert 3 in moved
    assert machines.W[3] @ X[0] > 0
    np.testing.assert_array_equal(machines.W.sum(axis=0), 0)


@every_violator
def test_a_margin_of_one_is_enough(violator):
    machines = LinearWeights.of(1.5 * np.eye(4, dtype=np.float32), np.zeros(4))
    given = Problem.whole(mc.as_matrix(np.eye(4, dtype=np.float32)), np.arange(4), 4)
    assert PairwiseRanking(violator).epoch(given, machines, Schedule(0.1), 0) == 0
    machines.fold()
    np.testing.assert_array_equal(machines.W, 1.5 * np.eye(4))


def test_beta_means_nothing_here_and_ranking_alone_is_cheap():
    assert PairwiseRanking("max").with_beta(3.0) == PairwiseRanking("max")
    assert [PairwiseRanking(name).cost(100) for name in ("max", "random", "sampled")] == [100, 2, 100]
