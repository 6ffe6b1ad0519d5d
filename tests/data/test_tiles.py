"""Products tile by tile."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.data import matrix


@given(st.integers(0, 50), st.integers(1, 20))
def test_spans_cover_everything_once_and_in_order(n, size):
    spans = matrix.spans(n, size)
    assert [i for span in spans for i in range(n)[span]] == list(range(n))
    assert all(span.stop - span.start == size for span in spans[:-1])


@pytest.fixture
def small_tiles(monkeypatch):
    monkeypatch.setattr(matrix, "TILE_ROWS", 3)
    monkeypatch.setattr(matrix, "TILE_BYTES", 1)
    monkeypatch.setattr(matrix, "PANEL_BYTES", 8 * 4 * 2)


def test_tiles_and_panels_add_up_to_the_product(small_tiles):
    rng = np.random.default_rng(0)
    X, W, R = rng.standard_normal((11, 4)), rng.standard_normal((4, 5)), rng.standard_normal((11, 5))
    asked = []

    def tile(rows):
        asked.append((rows.start, rows.stop))
        return X[rows]

    np.testing.assert_allclose(matrix.matmat(tile, X.shape, W), X @ W, rtol=1e-12)
    assert sorted(asked) == [(0, 3), (3, 6), (6, 9), (9, 11)]
    asked.clear()
    np.testing.assert_allclose(matrix.rmatmat(tile, X.shape, R), X.T @ R, rtol=1e-12)
    assert len(asked) == 4 * 3  # four tiles for each of the panels of two, two and one columns


def test_tiles_are_added_in_float64(small_tiles):
    X = np.full((30_000, 1), 0.1, np.float32)
    total = matrix.rmatmat(lambda rows: X[rows], X.shape, np.ones((30_000, 1), np.float32))
    assert total[0, 0] == pytest.approx(np.float64(np.float32(0.1)) * 30_000, rel=1e-7)
