"""Blocks of rows: the same sums to the bit, whoever adds them up, and nothing but sums travels."""

import pickle

import numpy as np
import pytest

import manyclass as mc
from manyclass._core.worker_groups import LocalWorkers, using_workers
from manyclass.data.dense import DenseMatrix
from manyclass.solvers import row_blocks
from manyclass.solvers.class_moments import ClassMoments
from manyclass.solvers.problem import Problem
from tests.solvers.lossy_workers import LossyWorkers


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Tiles of 1,024 rows, of which each is a block."""
    monkeypatch.setattr(row_blocks, "_TILE_BYTES", 0)
    monkeypatch.setattr(row_blocks, "_BLOCK_ROWS", 1024)


def problem(kind="dense", n=7000, d=12, k=9, weights=False, part=False, dtype=np.float32):
    rng = np.random.default_rng(0)
    y = rng.integers(0, k, n)
    X = DenseMatrix((rng.standard_normal((k, d))[y] + rng.standard_normal((n, d))).astype(dtype))
    if kind == "quantized":
        X = mc.ProductQuantizer(block=4, n_centroids=16, random_state=0).fit(X).encode(X)
    whole = Problem.whole(X, y, k, rng.uniform(0.5, 2, n) if weights else None)
    return whole.part(np.flatnonzero(rng.random(n) < 0.8)) if part else whole


def bits(moments):
    return [np.ascontiguousarray(one).tobytes() for one in moments]


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize(
    "options",
    [{}, {"weights": True}, {"part": True, "weights": True}, {"dtype": np.float64}, {"kind": "quantized"}],
    ids=str,
)
def test_workers_find_the_bits_of_one_process(count, options):
    here = ClassMoments.of(problem(**options))
    workers = LossyWorkers(count, loss=0.3)
    with using_workers(workers):
        there = ClassMoments.of(problem(**options))
    assert bits(here) == bits(there)
    assert len(workers.groups[0]) == count
    assert workers.lost > 0
    assert workers.open == 0


def test_panels_of_columns_have_the_same_sums(monkeypatch):
    import manyclass.data.moments as moments

    whole = ClassMoments.of(problem())
    monkeypatch.setattr(moments, "PANEL_BYTES", 8 * 12 * 5)
    with using_workers(LossyWorkers(2)):
        found = ClassMoments.of(problem())
    np.testing.assert_allclose(found.scatter, whole.scatter, rtol=1e-12)
    np.testing.assert_array_equal(found.scatter, found.scatter.T)


def test_blocks_depend_on_shapes_alone(monkeypatch):
    monkeypatch.undo()
    assert row_blocks.block_rows(5000, 512) == row_blocks.block_rows(500_000, 512) == 8192
    assert all(-(-n // row_blocks.block_rows(n, d)) <= 64 for n in (10**6, 10**7) for d in (16, 512, 130_000))


def test_rows_of_one_block_stay_here():
    workers = LossyWorkers(2)
    with using_workers(workers):
        ClassMoments.of(problem(n=1000))
    assert workers.groups == []


def test_a_worker_gets_its_rows_alone():
    workers = LossyWorkers(3)
    with using_workers(workers):
        ClassMoments.of(problem(part=True))
    sizes = [len(pickle.dumps(one)) for one in workers.groups[0].each]
    assert sum(sizes) < 1.3 * 7000 * (12 * 4 + 12)
    assert max(sizes) < 1.5 * min(sizes)


@pytest.mark.parametrize("workers", [LocalWorkers(2), LossyWorkers(3, loss=0.2)], ids=["local", "lossy"])
def test_a_classifier_learns_adds_and_removes_alike(workers):
    made = problem(weights=True)
    X, y, c = made.X, made.y, made.weights

    def fitted():
        first = mc.SquareLossClassifier(class_weight={0: 2.0}).fit(X.row_slice(slice(0, 5000)), y[:5000], c[:5000])
        first.add_rows(X.row_slice(slice(5000, 7000)), y[5000:], c[5000:])
        return first.remove_rows(X.row_slice(slice(0, 2500)), y[:2500], c[:2500])

    here = fitted()
    with using_workers(workers):
        there = fitted()
    assert here.coef_.tobytes() == there.coef_.tobytes()
    assert here.intercept_.tobytes() == there.intercept_.tobytes()
    assert here.scatter_.tobytes() == there.scatter_.tobytes()
    assert (here.regularization_, here.temperature_) == (there.regularization_, there.temperature_)


def test_fewer_rows_than_columns_are_computed_here_and_that_is_said():
    made = problem(n=30, d=40, k=3)
    with using_workers(LocalWorkers(2)), pytest.warns(UserWarning, match="closed form of fewer rows .* this process"):
        mc.SquareLossClassifier(0.1).fit(made.X, made.y)
