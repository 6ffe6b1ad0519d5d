"""One-vs-rest of rows with any number of classes is the plain loop, and with one each what it always was."""

import numpy as np
import pytest
from solvers import twins
from solvers.sgd.sequential import SCHEDULES

import manyclass as mc
from manyclass import _native
from manyclass._core.label_lists import LabelLists
from manyclass.data.dense import DenseMatrix
from manyclass.losses.margin import MARGIN_LOSSES
from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd.linear_weights import PANEL, LinearWeights
from manyclass.solvers.sgd.one_vs_rest import OneVsRest
from manyclass.solvers.sgd.sampling import Schedule


def several(seed, n=120, d=11, k=9, share=0.25):
    """Rows of any number of classes, some of none, of which some do not count."""
    rng = np.random.default_rng(seed)
    Y = rng.random((n, k)) < share * rng.uniform(0.2, 1.5, k)
    X = Y @ rng.normal(size=(k, d)) + rng.normal(size=(n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    lists = LabelLists.of_pairs(*np.nonzero(Y), n)
    whole = Problem.of_lists(mc.as_matrix(X.astype(np.float32)), lists, k, rng.uniform(0.5, 2, n))
    return whole.part(np.flatnonzero(rng.random(n) < 0.9))


@pytest.mark.parametrize("schedule", ["plain", "ridge", "decay", "strong"])
@pytest.mark.parametrize("beta", [None, 1, 2.5])
@pytest.mark.parametrize("sizes", [{}, {"n": 60, "k": 40, "share": 0.05}])
def test_every_example_visits_all_its_classes_and_negatives_among_the_others(any_level, schedule, beta, sizes):
    given, schedule = several(1, **sizes), SCHEDULES[schedule]
    assert {0, 1, 2} <= set(given.label_lists(given.index).counts.tolist())
    twin = twins.Twin(given.k, given.d)
    expected = [twins.one_vs_rest(twin, given, schedule, epoch, "hinge", beta) for epoch in range(2)]
    scale = np.abs(twin.W).max()
    for level in any_level:
        _native.set_level(level)
        machines = LinearWeights.zeros(given.k, given.d)
        algorithm = OneVsRest(MARGIN_LOSSES["hinge"], beta)
        lost = [algorithm.epoch(given, machines, schedule, epoch) for epoch in range(2)]
        assert lost == pytest.approx(expected, rel=1e-4, abs=1e-5)
        machines.fold()
        np.testing.assert_allclose(machines.W, twin.W, atol=1e-4 * scale)
        np.testing.assert_allclose(machines.biases, twin.b, atol=1e-4 * max(scale, np.abs(twin.b).max()))


@pytest.mark.parametrize("beta", [None, 1.5])
def test_lists_of_one_class_each_have_the_bits_of_labels(beta):
    rng = np.random.default_rng(0)
    X, y = DenseMatrix(rng.standard_normal((200, 13), np.float32)), rng.integers(0, 7, 200)
    found = []
    for problem in (Problem.whole(X, y, 7), Problem.of_lists(X, LabelLists.single(y), 7)):
        machines = LinearWeights.zeros(7, 13)
        OneVsRest(MARGIN_LOSSES["hinge"], beta).epoch(problem, machines, Schedule(0.2, 0.01), 0)
        found.append(machines)
    np.testing.assert_array_equal(found[0].W, found[1].W)
    np.testing.assert_array_equal(found[0].biases, found[1].biases)
    assert np.abs(found[0].W).max() > 0


@pytest.mark.parametrize("beta", [None, 0.5])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_machines_of_a_part_of_the_classes_are_those_of_all_to_the_bit(beta, n_threads):
    given, algorithm = several(3, n=300, d=5, k=2 * PANEL + 3, share=0.02), OneVsRest(MARGIN_LOSSES["hinge"], beta)
    whole = LinearWeights.zeros(given.k, given.d)
    algorithm.epoch(given, whole, Schedule(0.3), 0)
    with mc.threads(n_threads):
        parts = [LinearWeights.zeros(m, given.d, first) for first, m in ((0, PANEL), (PANEL, PANEL), (2 * PANEL, 3))]
        for part in parts:
            algorithm.epoch(given, part, Schedule(0.3), 0)
    np.testing.assert_array_equal(np.concatenate([part.W for part in parts]), whole.W)


@pytest.mark.parametrize(("starts", "y", "words"), [
    ([0, 1], [0, 1], "one entry per row of X and one more"),
    ([0, 1, 3], [0, 1], "begin with 0 and end with that of y"),
    ([0, 3, 2], [0, 1], "must not fall"),
    ([0, 2, 2], [1, 0], "in order, and different"),
    ([0, 2, 2], [0, 3], "labels must name classes that there are"),
])  # fmt: skip
def test_lists_that_are_none_are_refused_by_the_compiled_loop(starts, y, words):
    machines = LinearWeights.zeros(3, 2)
    with pytest.raises(ValueError, match=words):
        _native.one_vs_rest(
            X=np.zeros((2, 2), np.float32), y=np.array(y, np.int32), weights=np.ones(2, np.float32),
            offsets=np.zeros(2), shares=np.arange(4.0), **machines.arrays(), loss=MARGIN_LOSSES["hinge"].code,
            **Schedule(0.3).native, losses=np.zeros(3), threads=1, starts=np.array(starts, np.int64),
        )  # fmt: skip
