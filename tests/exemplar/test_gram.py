"""The Gram matrix of the negatives, by columns and as a whole."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.data.kernels import exemplar_kernel
from manyclass.exemplar import gram as module
from manyclass.exemplar.gram import GramOfRows, PrecomputedGram

X = np.random.default_rng(0).standard_normal((40, 8)).astype(np.float32)
KERNEL = exemplar_kernel("rbf", 0.1)
K = KERNEL(X.astype(np.float64), X.astype(np.float64))


@pytest.fixture(autouse=True)
def _small_tiles(monkeypatch):
    monkeypatch.setattr(module, "_TILE_BYTES", 8 * 8 * 7)


@pytest.mark.parametrize("gram", [GramOfRows(mc.DenseMatrix(X), KERNEL), PrecomputedGram(mc.DenseMatrix(K))])
def test_columns_and_the_diagonal_are_those_of_the_whole(gram):
    np.testing.assert_allclose(gram.whole(), K, rtol=1e-12)
    np.testing.assert_allclose(gram.diagonal(), K.diagonal(), rtol=1e-12)
    column = gram.column(5)
    np.testing.assert_allclose(np.concatenate([column(rows) for rows in gram.tiles]), K[:, 5], rtol=1e-12)


def test_the_rows_of_codes_are_decoded():
    codes = mc.ProductQuantizer(2, n_centroids=16, random_state=0).fit(X).encode(X)
    rows = codes.toarray().astype(np.float64)
    np.testing.assert_allclose(GramOfRows(codes, KERNEL).whole(), KERNEL(rows, rows), rtol=1e-12)


@pytest.mark.parametrize("ask", [PrecomputedGram.whole, lambda gram: gram.check([3, 1, 20])])
def test_a_gram_matrix_that_is_not_symmetric_is_refused(ask):
    with pytest.raises(ValueError, match="negatives must be a symmetric Gram matrix"):
        ask(PrecomputedGram(mc.DenseMatrix(np.triu(K))))


def test_a_gram_matrix_that_is_not_square_is_refused():
    with pytest.raises(ValueError, match=r"negatives must be a square Gram matrix .* got shape \(40, 8\)"):
        PrecomputedGram(mc.DenseMatrix(X))


def test_a_gram_matrix_too_large_for_memory_is_refused_with_a_way_out():
    rows = mc.DenseMatrix(np.broadcast_to(np.float32(1), (10**8, 1)))
    with pytest.raises(MemoryError, match=r"100000000 x 100000000 .* factorization='nystrom'"):
        GramOfRows(rows, KERNEL).whole()


def test_tiles_are_short_where_many_columns_of_the_gram_matrix_are_held(monkeypatch):
    monkeypatch.setattr(module, "_TILE_BYTES", 8 * 60)
    gram = GramOfRows(mc.DenseMatrix(X), KERNEL)
    for m, rows in ((1, 7), (8, 7), (30, 2), (999, 1)):
        assert max(tile.stop - tile.start for tile in gram.tiles_of(m)) == rows
