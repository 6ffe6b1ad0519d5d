"""Searches of many rows: rows that are drawn as said, and a small run of the whole."""

import numpy as np
import pytest

from benchmarks.clustered_rows import clustered_rows, write_rows
from benchmarks.ten_million import OURS, PEERS, recall, run


def test_rows_have_unit_length_and_a_block_depends_on_its_number_alone():
    X = clustered_rows(500, 16, 20, 3)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1, rtol=1e-5)
    np.testing.assert_array_equal(X, clustered_rows(500, 16, 20, 3))
    assert not np.array_equal(X, clustered_rows(500, 16, 20, -3))


def test_rows_lie_in_clusters(tmp_path):
    write_rows(tmp_path / "X.npy", 3000, 16)
    X = np.load(tmp_path / "X.npy")
    nearest = np.sort(X[:100] @ X.T, axis=1)[:, -2]
    noise = np.random.default_rng(0).standard_normal((3000, 16))
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    assert nearest.mean() > np.sort(noise[:100] @ noise.T, axis=1)[:, -2].mean()


def test_recall_counts_what_was_found_in_any_order():
    assert recall(np.array([[1, 2], [5, 6]]), np.array([[2, 1], [6, 7]])) == 0.75


@pytest.mark.slow
def test_a_small_run_finds_what_it_should(tmp_path):
    pytest.importorskip("faiss")
    page = run(n=4000, d=16, rounds=1, folder=str(tmp_path), without="hnsw")
    found = {row[0]: float(row[1].rstrip("%")) for row in page.tables[0][2]}
    assert found["manyclass, exact"] == 100.0
    assert set(found) == {name for name in (*OURS, *PEERS) if "hnsw" not in name}
    assert min(found.values()) > 90
