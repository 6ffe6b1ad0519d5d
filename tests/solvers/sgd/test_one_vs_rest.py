"""One-vs-rest is the plain loop over examples, and its products are those of NumPy."""

import numpy as np
import pytest
from solvers import twins
from solvers.sgd.sequential import SCHEDULES, SIZES, check_sequential

import manyclass as mc
from manyclass import _native
from manyclass.data.dense import DenseMatrix
from manyclass.losses.margin import MARGIN_LOSSES
from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd.descent import EarlyStopping, SgdRun, run_sgd
from manyclass.solvers.sgd.linear_weights import PANEL, LinearWeights
from manyclass.solvers.sgd.one_vs_rest import OneVsRest, apply_updates, sgd_gram, sgd_scores
from manyclass.solvers.sgd.sampling import Schedule


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("beta", [None, 1, 2.5])
@pytest.mark.parametrize("loss", MARGIN_LOSSES)
def test_one_vs_rest_is_sequential(any_level, loss, beta, schedule, sizes):
    def twin_epoch(twin, given, schedule, epoch):
        return twins.one_vs_rest(twin, given, schedule, epoch, loss, beta)

    check_sequential(OneVsRest(MARGIN_LOSSES[loss], beta), twin_epoch, SCHEDULES[schedule], 0, sizes, any_level)


@pytest.mark.parametrize(("beta", "cost"), [(None, 10), (3, 4), (0.5, 1.5), (50, 10)])
def test_an_example_costs_its_class_and_its_negatives_of_which_there_are_no_more_than_classes(beta, cost):
    assert OneVsRest(MARGIN_LOSSES["hinge"], beta).cost(k=10) == cost


def test_another_beta_leaves_the_loss_and_the_first_as_they_were():
    first = OneVsRest(MARGIN_LOSSES["logistic"], 2.0)
    assert first.with_beta(None) == OneVsRest(MARGIN_LOSSES["logistic"])
    assert first.beta == 2.0


def whole(shape, seed):
    """Small whole numbers, whose products are exact in any order."""
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(np.float32)


@pytest.mark.parametrize("k", [1, 256, 600])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_products_of_a_block_are_those_of_all_classes_at_once(k, n_threads):
    X, W = whole((9, 5), 0), whole((k, 5), 1)
    with mc.threads(n_threads):
        np.testing.assert_array_equal(sgd_scores(X, W), X @ W.T)
        np.testing.assert_array_equal(sgd_gram(X), X @ X.T)


@pytest.mark.parametrize("filled", [0.0, 0.02, 1.0], ids=["nothing", "few", "all"])
def test_updates_are_added_whether_most_are_zero_or_none(filled):
    X, W, A = whole((9, 5), 0), whole((600, 5), 1), whole((9, 600), 2)
    A *= np.random.default_rng(3).random(A.shape) < filled
    expected = W + A.T @ X
    apply_updates(W, A, X)
    np.testing.assert_array_equal(W, expected)


@pytest.mark.parametrize("step", [0.05, 0.9], ids=["usual", "scales that vanish"])
@pytest.mark.parametrize("regularization", [0.0, 0.9])
@pytest.mark.parametrize("beta", [None, 20.0, 0.5])
def test_machines_of_a_part_of_the_classes_are_those_of_all_to_the_bit(beta, regularization, step):
    """No class knows of the others: whoever has some of them needs the rows and labels of all, and nothing else."""
    rng, n, d, k = np.random.default_rng(0), 600, 24, 2 * PANEL + 1
    y = np.concatenate([np.arange(k), rng.integers(k, size=n - k)])
    problem = Problem.whole(DenseMatrix(rng.normal(size=(n, d)).astype(np.float32)), y, k, rng.uniform(0.5, 2, n))
    schedule = Schedule(step, regularization, bias_rate=0.3)

    def fit(first, stop):
        descent = SgdRun.start(LinearWeights.zeros(stop - first, d, first))
        return run_sgd(descent, OneVsRest(MARGIN_LOSSES["hinge"], beta), problem, schedule, EarlyStopping(max_epochs=2))

    whole, parts = fit(0, k), [fit(0, PANEL), fit(PANEL, 2 * PANEL), fit(2 * PANEL, k)]
    assert [part.weights.machines.first for part in parts] == [0, PANEL, 2 * PANEL]
    for role in ("machines", "mean"):
        for name, array in getattr(whole.weights, role).arrays().items():
            np.testing.assert_array_equal(
                np.concatenate([getattr(part.weights, role).arrays()[name] for part in parts]), array
            )
    losses = [sum(epoch["loss"] for epoch in epochs) for epochs in zip(*(part.history for part in parts), strict=True)]
    assert losses == [epoch["loss"] for epoch in whole.history]


@pytest.mark.parametrize("d", [1, 7, 16, 63, 64, 65, 200])
def test_a_step_on_the_way_to_the_next_score_has_the_bits_of_one_that_is_taken_alone(any_level, d):
    rng = np.random.default_rng(d)
    X, y = rng.standard_normal((12, d), np.float32), rng.integers(0, 3, 12).astype(np.int32)
    given = {"weights": np.ones(12, np.float32), "offsets": rng.random(12), "shares": np.arange(4.0)}
    for level in any_level:
        _native.set_level(level)
        together, apart = LinearWeights.zeros(3, d), LinearWeights.zeros(3, d)
        for machines, parts in ((together, [slice(0, 12)]), (apart, [slice(i, i + 1) for i in range(12)])):
            for at in parts:  # of one example there is no next score
                _native.one_vs_rest(
                    X=np.ascontiguousarray(X[at]), y=y[at], weights=given["weights"][at],
                    offsets=given["offsets"][at], shares=given["shares"], **machines.arrays(),
                    loss=MARGIN_LOSSES["hinge"].code, **Schedule(0.3, regularization=0.01).native,
                    losses=np.zeros(3), threads=1,
                )  # fmt: skip
        np.testing.assert_array_equal(together.W, apart.W)
        np.testing.assert_array_equal(together.biases, apart.biases)
        assert np.abs(together.W).max() > 0


def test_rows_that_concern_none_of_a_part_of_the_classes_are_not_read():
    k, n = 8 * PANEL, 4096
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n, 3), np.float32), rng.integers(0, k, n)
    whole, read = LinearWeights.zeros(k, 3), []
    algorithm, schedule = OneVsRest(MARGIN_LOSSES["hinge"], 1.0), Schedule(0.1)
    algorithm.epoch(Problem.whole(DenseMatrix(X), y, k), whole, schedule, 0)

    class Watched(DenseMatrix):
        def _rows(self, index):
            read.extend(index)
            return super()._rows(index)

    part = LinearWeights.zeros(PANEL, 3, 3 * PANEL)
    algorithm.epoch(Problem.whole(Watched(X), y, k), part, schedule, 0)
    assert part.W.tobytes() == whole.W[part.first :][:PANEL].tobytes()
    assert len(read) == len(set(read)) <= part.steps.sum() < 0.3 * n
