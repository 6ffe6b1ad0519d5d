"""Every kind of matrix keeps the contract; products tile by tile."""

import numpy as np
import pytest
from contracts.matrix import CHECKS, assert_product, every_matrix
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

import manyclass as mc
from manyclass import _native
from manyclass.data import matrix

SIZES = st.tuples(st.integers(1, 40), st.integers(1, 20), st.integers(1, 5), st.integers(0, 2**32 - 1))


@every_matrix
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
@given(sizes=SIZES)
def test_contract(make, check, sizes):
    n, d, k, seed = sizes
    check(make, np.random.default_rng(seed), n, d, k)


# One column, many rows, many columns; each cut into several tiles or split by a threaded BLAS.
@pytest.mark.parametrize(
    ("n", "d", "k"), [(40001, 31, 1), (3001, 1, 1), (2601, 513, 7), (9, 30001, 2), (1201, 17, 301)]
)
@every_matrix
def test_any_number_of_threads_gives_the_same_bits(make, n, d, k):
    rng = np.random.default_rng(0)
    X, W, R = make(rng, n, d), rng.standard_normal((d, k)), rng.standard_normal((n, k))
    results = []
    for ours, blas in ((1, 1), (2, 2), (3, 4)):
        with mc.threads(ours), threadpool_limits(blas):
            results.append((X.matmat(W), X.rmatmat(R)))
    for product, adjoint in results[1:]:
        np.testing.assert_array_equal(product, results[0][0])
        np.testing.assert_array_equal(adjoint, results[0][1])


@every_matrix
def test_every_instruction_set_gives_the_product(make, any_level):
    rng = np.random.default_rng(1)
    X, W, R = make(rng, 37, 19), rng.standard_normal((19, 5)), rng.standard_normal((37, 5))
    A = X.toarray().astype(float)
    for level in any_level:
        _native.set_level(level)
        assert_product(X.matmat(W), A, W.astype(X.dtype).astype(float), X.dtype)
        assert_product(X.rmatmat(R), A.T, R.astype(X.dtype).astype(float), X.dtype)


@every_matrix
def test_a_matrix_without_rows_works(make):
    X = make(np.random.default_rng(2), 0, 4)
    assert X.toarray().shape == (0, 4)
    assert (X @ np.ones((4, 2))).shape == (0, 2)
    assert X.row_norms().shape == (0,)
    np.testing.assert_array_equal(X.rmatmat(np.ones(0)), np.zeros(4))


@every_matrix
def test_no_columns_of_W_give_no_columns(make):
    X = make(np.random.default_rng(3), 5, 4)
    assert (X @ np.ones((4, 0))).shape == (5, 0)
    assert X.rmatmat(np.ones((5, 0))).shape == (4, 0)


ALIKE = {
    "dense": mc.DenseMatrix,
    "sharded": lambda X: mc.ShardedMatrix([X[:9], X[9:]]),
    "sparse": lambda X: mc.SparseMatrix(csr_array(X)),
    "scalar": lambda X: mc.ScalarQuantizer().fit(X).encode(X),
    "product": lambda X: mc.ProductQuantizer(min(8, X.shape[1]), random_state=0).fit(X).encode(X),
    "biased": lambda X: mc.BiasedMatrix(X, 0.1),
}


@pytest.mark.parametrize("d", [1, 2, 8])
@pytest.mark.parametrize("name", ALIKE)
def test_sums_over_many_equal_rows_do_not_drift(name, d):
    # In float32 this sum, one number after the other, is off by a percent.
    X = ALIKE[name](np.full((1_000_000, d), 0.1, np.float32))
    first = X.rows([0])[0].astype(np.float64)
    expected = 1_000_000 * np.float64(np.float32(0.1)) * first
    np.testing.assert_allclose(X.rmatmat(np.full(1_000_000, 0.1)), expected, rtol=1e-5)


@pytest.mark.parametrize("name", ALIKE)
def test_sums_over_many_equal_columns_do_not_drift(name):
    X = ALIKE[name](np.full((3, 100_000), 0.1, np.float32))
    row = X.rows([0])[0].astype(np.float64)
    np.testing.assert_allclose(X @ np.full(len(row), 0.1), np.float64(np.float32(0.1)) * row.sum(), rtol=1e-5)
    np.testing.assert_allclose(X.row_norms(squared=True), (row**2).sum(), rtol=1e-5)


@pytest.fixture
def hole(tmp_path):
    """A file of more than 2^31 entries, nearly all of them holes on the disk, whose first and last rows are set."""
    shape = ((1 << 31) // 512 + 3, 512)
    codes = np.memmap(tmp_path / "hole", np.uint8, "w+", shape=shape)
    codes[0], codes[-1] = 1, 2
    del codes
    return np.memmap(tmp_path / "hole", np.uint8, "r", shape=shape)  # a matrix copies codes that could be written


def test_more_than_two_to_the_31_entries_are_within_reach(hole):
    X = mc.DenseMatrix(hole)
    assert X.shape[0] * X.shape[1] > 2**31
    np.testing.assert_array_equal(X.rows([-1, 0]), np.repeat([[2], [1]], 512, axis=1))


def test_more_than_two_to_the_31_entries_work_in_shards(hole):
    X = mc.BiasedMatrix(mc.ShardedMatrix([hole, hole]))
    n = len(hole)
    np.testing.assert_array_equal(X.rows([2 * n - 1, n, n - 1, 1])[:, 0], [2, 1, 2, 0])


@pytest.mark.parametrize("quantizer", [mc.ScalarQuantizer(8), mc.ScalarQuantizer(4), mc.ProductQuantizer(2, 256)])
def test_more_than_two_to_the_31_codes_are_within_reach(hole, quantizer):
    d = 512 * {"product": 2, "scalar": 1}[quantizer.kind] * (2 if getattr(quantizer, "bits", 8) == 4 else 1)
    quantizer.fit(np.random.default_rng(5).random((300, d), dtype=np.float32))
    X = quantizer.matrix(hole)
    np.testing.assert_array_equal(X.rows([0, -1]), quantizer.matrix(np.array(hole[[0, -1]])).toarray())
    assert X.rows([0, -1]).any()


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


def test_flags_of_the_processor_are_no_warning():
    """BLAS may raise them for nothing; what is not finite is seen in the product."""
    X = mc.DenseMatrix(np.array([[np.inf, 1.0]], np.float32))
    with np.errstate(all="raise"):
        assert np.isnan(X @ np.zeros((2, 1))).all()
