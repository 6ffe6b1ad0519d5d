"""The compiled loops of stochastic gradient descent where there are no examples, or no columns."""

import numpy as np
import pytest

from manyclass import _native
from manyclass.solvers.sgd.linear_weights import LinearWeights

SETTINGS = {"step": 0.5, "regularization": 0.1, "bias_rate": 1.0, "decay": 0.05}
LABELS = np.array([0, 1, 2, 1], np.int32)


def rows(n, d):
    return np.ones((n, d), np.float32)


def one_vs_rest(loss, d, n=4):
    "LinearWeights of 3 classes and their losses after n rows of d numbers, of which every class sees all."
    machines, losses = LinearWeights.zeros(3, d), np.zeros(3)
    _native.one_vs_rest(
        rows(n, d), LABELS[:n], np.ones(n, np.float32), np.full(n, 0.5), np.arange(4.0), **machines.arrays(), loss=loss,
        **SETTINGS, losses=losses, threads=2,
    )  # fmt: skip
    return machines, losses


def one_vs_rest_block(loss, d, n=4):
    machines, losses = LinearWeights.zeros(3, d), np.zeros(3)
    X, S = rows(n, d), np.zeros((n, 3), np.float32)
    _native.one_vs_rest_block(
        X, LABELS[:n], np.ones(n, np.float32), np.full(n, 0.5), np.arange(4.0), **machines.arrays(), loss=loss,
        **SETTINGS, G=X @ X.T, S=S, losses=losses, threads=2,
    )  # fmt: skip
    return machines, losses


def joint_block(violator, d, n=4):
    machines, X = LinearWeights.zeros(3, d), rows(n, d)
    rivals, pulls = np.empty(n, np.int32), np.empty(n, np.float32)
    lost = _native.joint_block(
        X, LABELS[:n], np.ones(n, np.float32), **machines.arrays(), violator=violator, **SETTINGS, G=X @ X.T,
        S=np.zeros((n, 3), np.float32), draws=np.arange(n, dtype=np.uint64), rivals=rivals, pulls=pulls,
    )  # fmt: skip
    _native.move_two(X, LABELS[:n], rivals, pulls, machines.W, 2)
    return machines, lost


@pytest.mark.parametrize("loss", _native.Loss)
def test_without_columns_one_vs_rest_learns_biases(loss):
    machines, losses = one_vs_rest(loss, 0)
    by_block, losses_by_block = one_vs_rest_block(loss, 0)
    # A column of zeros says as little.
    zeros, losses_of_zeros = LinearWeights.zeros(3, 1), np.zeros(3)
    _native.one_vs_rest(
        np.zeros((4, 1), np.float32), LABELS, np.ones(4, np.float32), np.full(4, 0.5), np.arange(4.0), **zeros.arrays(),
        loss=loss, **SETTINGS, losses=losses_of_zeros, threads=1,
    )  # fmt: skip
    assert machines.biases.all()
    for found, lost in ((machines, losses), (by_block, losses_by_block)):
        assert found.steps.tolist() == [4, 4, 4]
        np.testing.assert_array_equal(found.biases, zeros.biases)
        np.testing.assert_array_equal(lost, losses_of_zeros)


@pytest.mark.parametrize("violator", _native.Violator)
def test_without_columns_joint_machines_learn_biases(violator):
    machines, lost = joint_block(violator, 0)
    assert machines.biases.any()
    assert lost > 0


@pytest.mark.parametrize("d", [0, 5])
def test_without_examples_nothing_moves(d):
    for machines, lost in (
        one_vs_rest(_native.Loss.hinge, d, 0),
        one_vs_rest_block(_native.Loss.hinge, d, 0),
        joint_block(_native.Violator.sampled, d, 0),
    ):
        assert not machines.steps.any()
        assert not machines.W.any()
        assert not machines.biases.any()
        assert not np.any(lost)


@pytest.mark.parametrize(("n", "d", "k"), [(0, 5, 3), (4, 0, 3), (0, 5, 0), (0, 0, 0)])
def test_scores_and_moves_of_nothing(n, d, k):
    W, A, S = np.ones((k, d), np.float32), np.ones((n, k), np.float32), np.ones((n, k), np.float32)
    _native.move_some(rows(n, d), A, W, 2)
    _native.move_two(rows(n, d), LABELS[:n], LABELS[:n], np.ones(n, np.float32), W, 2)
    assert (W == 1).all()
    _native.score_two(rows(n, d), W, np.tile(np.arange(2, dtype=np.int32), (n, 1)), S, 2)
    assert not S[:, :2].any()
    drawn = np.empty(n, np.int32)
    _native.draw_rivals(LABELS[:n], np.arange(n, dtype=np.uint64), 3, drawn)
    assert (drawn != LABELS[:n]).all()


@pytest.mark.parametrize("loss", [0, 4, "hinge", None, _native.Violator.max])
def test_a_loss_is_one_of_the_enumeration(loss):
    with pytest.raises(TypeError, match="incompatible"):
        one_vs_rest(loss, 2)
