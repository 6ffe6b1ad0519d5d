"""Closed form and trace norm by actors that hold rows: the bits of one process, and again where actors are killed."""

import numpy as np
import pytest
from cluster.killing import killing

import manyclass as mc
from manyclass._core.worker_groups import using_workers
from manyclass.solvers import row_blocks, row_shards


@pytest.fixture(scope="module", autouse=True)
def small_parts():
    """Blocks and leaves of a thousand rows, for enough of them; they are cut here, and actors never ask."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_blocks, "block_rows", lambda n, d: 1024)
        patch.setattr(row_shards, "_LEAST_CHUNKS", 1)
        yield


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 300, 5000)
    X = (rng.standard_normal((300, 5)) @ rng.standard_normal((5, 48)))[y] + 2 * rng.standard_normal((5000, 48))
    return X.astype(np.float32), y, rng.uniform(0.5, 2, 5000)


def closed_form(rows):
    X, y, weights = rows
    found = mc.SquareLossClassifier().fit(X, y, weights)
    return [found.coef_.tobytes(), found.intercept_.tobytes(), found.scatter_.tobytes(), found.temperature_]


def trace_norm(rows):
    X, y, weights = rows
    found = mc.TraceNormClassifier(trace=3e-3, ridge=1e-3, tolerance=0.02).fit(X, y, weights)
    return [found.coef_.tobytes(), found.intercept_.tobytes(), found.objective_, found.gap_, found.passes_]


def test_actors_find_the_sums_of_one_process_to_the_bit(workers, rows):
    with_actors = closed_form(rows)
    with using_workers(None):
        assert with_actors == closed_form(rows)


@pytest.fixture(scope="module")
def whole(rows):
    return trace_norm(rows)


def test_actors_find_the_trace_norm_of_one_process_to_the_bit(workers, rows, whole):
    assert trace_norm(rows) == whole


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 6))])
def test_actors_that_are_killed_change_no_bit_of_the_trace_norm(workers, rows, whole, monkeypatch, seed):
    with killing(workers, monkeypatch, seed) as killer:
        assert trace_norm(rows) == whole
    assert killer.replaced


def test_actors_that_are_killed_change_no_bit_of_the_closed_form(workers, rows, monkeypatch):
    with killing(workers, monkeypatch, 5) as killer:
        assert len({tuple(closed_form(rows)) for _ in range(2)}) == 1
    assert killer.replaced
