"""Draws that show every class equally often."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import manyclass as mc
from manyclass.losses.margin import MARGIN_LOSSES
from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd import sampling
from manyclass.solvers.sgd.linear_weights import LinearWeights
from manyclass.solvers.sgd.one_vs_rest import OneVsRest
from manyclass.solvers.sgd.sampling import Schedule, balanced_order, chunks

LABELS = st.lists(st.integers(0, 7), min_size=1, max_size=60).map(lambda y: np.array(y, np.int32))


@given(y=LABELS, seed=st.integers(0, 99))
def test_classes_come_equally_often_and_so_do_the_examples_of_each(y, seed):
    places = balanced_order(y, np.random.default_rng(seed))
    assert len(places) == len(y)
    of_classes = np.bincount(y[places])[np.unique(y)]
    assert np.ptp(of_classes) <= 1
    of_examples = np.bincount(places, minlength=len(y))
    assert all(np.ptp(of_examples[y == c]) <= 1 for c in np.unique(y))


def test_nothing_can_be_drawn_from_nothing():
    assert len(balanced_order(np.zeros(0, np.int32), np.random.default_rng(0))) == 0


def test_a_large_class_shows_other_examples_in_other_epochs():
    y = np.repeat([0, 1], [100, 2]).astype(np.int32)
    shown = [set(balanced_order(y, np.random.default_rng(seed))) for seed in range(20)]
    assert shown[0] != shown[1]
    assert len(set.union(*shown)) == 102


def test_the_classes_are_mixed():
    y = np.repeat([0, 1], 500).astype(np.int32)
    first = y[balanced_order(y, np.random.default_rng(0))][:500]
    assert 200 < first.sum() < 300


def test_the_order_of_an_epoch_depends_on_its_number_alone_and_keeps_to_the_part():
    y = np.arange(40, dtype=np.int32) % 3
    part = Problem.whole(mc.as_matrix(np.zeros((40, 2), np.float32)), y, 3).part(np.arange(5, 30))
    schedule = Schedule(0.1, seed=3, balanced=True)
    orders = [schedule.order(part, schedule.generator(epoch)) for epoch in (4, 4, 5)]
    np.testing.assert_array_equal(orders[0], orders[1])
    assert not np.array_equal(orders[0], orders[2])
    assert set(orders[0]) <= set(range(5, 30))


def many_classes():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(900, 24)).astype(np.float32), rng.integers(0, 300, 900)
    return Problem.whole(mc.as_matrix(X), y, 300)


def test_rows_beside_large_weights_are_read_many_at_a_time(monkeypatch):
    problem = many_classes()
    monkeypatch.setattr(sampling, "_CHUNK_BYTES", (1, 960))
    monkeypatch.setattr(sampling, "_BESIDE_WEIGHTS", 1920)
    assert {len(chunk.y) for chunk in chunks(problem, problem.index)} == {20}
    small = Problem.whole(problem.X, np.zeros(900), 2)
    assert {len(chunk.y) for chunk in chunks(small, small.index)} == {10}


@pytest.mark.parametrize("n_threads", [1, 3])
def test_how_many_are_read_at_a_time_changes_no_bit(monkeypatch, n_threads):
    problem, results = many_classes(), []
    for most in (0, 1 << 20):
        monkeypatch.setattr(sampling, "_CHUNK_BYTES", (500, 1000))
        monkeypatch.setattr(sampling, "_BESIDE_WEIGHTS", most)
        machines = LinearWeights.zeros(problem.k, problem.d)
        with mc.threads(n_threads):
            OneVsRest(MARGIN_LOSSES["hinge"], 5.0).epoch(problem, machines, Schedule(step=0.1, regularization=1e-3), 0)
        results.append(machines.W.tobytes() + machines.biases.tobytes())
    assert results[0] == results[1]


def test_all_chunks_of_an_epoch_are_read_to_one_place(monkeypatch):
    rng = np.random.default_rng(0)
    codes = (
        mc.ProductQuantizer(4, random_state=0).fit(rows := rng.normal(size=(600, 16)).astype(np.float32)).encode(rows)
    )
    monkeypatch.setattr(sampling, "_CHUNK_BYTES", (1 << 12, 1 << 12))
    for X in (codes, mc.DenseMatrix(rows)):
        problem, order = Problem.whole(X, np.zeros(600, int), 1), rng.permutation(600)
        places = set()
        for chunk in chunks(problem, order):
            np.testing.assert_array_equal(chunk.rows, X.rows(order[chunk.at]))
            places.add(chunk.rows.ctypes.data)
        assert len(places) == 1
