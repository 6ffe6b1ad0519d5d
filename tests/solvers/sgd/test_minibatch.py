"""Softmax by mini-batches is the plain loop over them."""

import numpy as np
import pytest
from solvers import twins
from solvers.sgd.sequential import SCHEDULES, SIZES, check_sequential

import manyclass as mc
from manyclass.losses.multiclass import Softmax
from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd.linear_weights import LinearWeights
from manyclass.solvers.sgd.minibatch import MiniBatch
from manyclass.solvers.sgd.sampling import Schedule


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("batch", [1, 8])
def test_mini_batches_are_sequential(batch, schedule, sizes):
    def twin_epoch(twin, given, schedule, epoch):
        return twins.softmax(twin, given, schedule, epoch, batch)

    check_sequential(MiniBatch(batch), twin_epoch, SCHEDULES[schedule], 2, sizes)


@pytest.mark.parametrize("batch", [20, 64])
def test_a_batch_of_all_rows_is_a_step_of_gradient_descent(batch):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 4)).astype(np.float32), rng.integers(0, 3, 20)
    machines = LinearWeights.zeros(3, 4)
    lost = MiniBatch(batch).epoch(Problem.whole(mc.as_matrix(X), y, 3), machines, Schedule(0.01, bias_rate=1.0), 0)
    machines.fold()
    values, R = Softmax().value_and_gradient(np.zeros((20, 3)), y)
    assert lost == pytest.approx(values.mean()) == pytest.approx(np.log(3))
    np.testing.assert_allclose(machines.W, -0.01 * R.T @ X, atol=1e-6)
    np.testing.assert_allclose(machines.biases, -0.01 * R.sum(axis=0), atol=1e-6)
    assert machines.steps.tolist() == [20, 20, 20]


def test_beta_means_nothing_here_and_all_classes_are_seen_twice():
    assert MiniBatch(8).with_beta(3.0) == MiniBatch(8)
    assert MiniBatch().cost(100) == 200
