"""What every Matrix promises, as checks, and a maker of each kind to check.

A check takes a maker and sizes, and fails if the promise is broken. To check another kind, add its maker to MAKERS, or
run CHECKS over it:

    @pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
    def test_my_matrix_keeps_the_contract(check):
        check(my_maker, np.random.default_rng(0), 7, 5, 3)
"""

import pickle
import shutil
import tempfile
import weakref
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

import manyclass as mc
from manyclass.data.views import RowSelection, StandardizedMatrix, UnitRows

Maker = Callable[[np.random.Generator, int, int], mc.Matrix]


def _normal(rng: np.random.Generator, n: int, d: int, dtype: type = np.float32) -> NDArray:
    return rng.standard_normal((n, d)).astype(dtype)


def _read_only(rng, n, d):
    X = _normal(rng, n, d)
    X.flags.writeable = False
    return mc.DenseMatrix(X)


def _memmap(rng, n, d):
    with tempfile.TemporaryFile() as file:
        X = np.memmap(file, np.float32, "w+", shape=(n, d)) if n * d else np.zeros((n, d), np.float32)
    X[:] = _normal(rng, n, d)
    return mc.DenseMatrix(X)


def _mapped(rng, n, d):
    folder = tempfile.mkdtemp()
    np.save(f"{folder}/rows.npy", _normal(rng, n, d))
    X = mc.as_matrix(f"{folder}/rows.npy")
    weakref.finalize(X, shutil.rmtree, folder)
    return X


def _sharded(rng, n, d):
    cuts = np.sort(rng.integers(0, n + 1, 3))
    return mc.ShardedMatrix(np.split(_normal(rng, n, d), cuts))


def _mixed_shards(rng, n, d):
    first, second = n // 3, n - n // 3
    return mc.ShardedMatrix([_sparse(rng, first, d), _scalar(8)(rng, second, d)])


def _sparse(rng, n, d):
    X = _normal(rng, n, d)
    return mc.SparseMatrix(sparse.csr_array(np.where(X > 0.8, X, 0)))


def _sparse_long(rng, n, d):
    csr = _sparse(rng, n, d).csr
    parts = (csr.data, csr.indices.astype(np.int64), csr.indptr.astype(np.int64))
    return mc.SparseMatrix(sparse.csr_array(parts, shape=(n, d)))


def _scalar(bits: int) -> Maker:
    def make(rng, n, d):
        # Fitted on other rows, so that some values are clipped, and so that there may be no rows at all.
        return mc.ScalarQuantizer(bits).fit(_normal(rng, 30, d)).encode(_normal(rng, n, d))

    return make


def _counts(rng, n, d):
    X = rng.poisson(1.0, (n, d)).astype(np.float32)
    return mc.ScalarQuantizer().fit(np.vstack([X, np.ones((1, d), np.float32)])).encode(X)


@cache
def _quantizer(d: int, rotation: str | None) -> mc.ProductQuantizer:
    """One for rows of d numbers: it takes longer to fit than most of what is checked of its matrices."""
    X = _normal(np.random.default_rng(d), 64, d)
    return mc.ProductQuantizer(4, 16, rotation, iterations=2, random_state=0).fit(X)


def _rotated(rotation: str | None) -> Maker:
    return lambda rng, n, d: _quantizer(d, rotation).encode(_normal(rng, n, d))


_quantized = _rotated(None)


def _stored(make: Callable[[np.random.Generator, int, int], object]) -> Maker:
    def write(rng, n, d):
        folder = tempfile.mkdtemp()
        X = mc.write_store(f"{folder}/rows.store", make(rng, n, d)).X
        weakref.finalize(X._files[0], shutil.rmtree, folder)  # which slices hold too
        return X

    return write


def _range(make: Maker) -> Maker:
    return lambda rng, n, d: make(rng, n + 5, d).row_slice(slice(2, n + 2))


def _biased(make: Maker) -> Maker:
    return lambda rng, n, d: mc.BiasedMatrix(make(rng, n, d - 1), value=0.5) if d > 1 else make(rng, n, d)


def _dense(dtype: type, order: str = "C") -> Maker:
    return lambda rng, n, d: mc.DenseMatrix(np.asarray(_normal(rng, n, d, dtype), order=order))


def _selection(make: Maker) -> Maker:
    return lambda rng, n, d: RowSelection(make(rng, n + 3, d), rng.permutation(n + 3)[:n])


def _standardized(make: Maker) -> Maker:
    def standardized(rng: np.random.Generator, n: int, d: int) -> mc.Matrix:
        return StandardizedMatrix(make(rng, n, d), rng.normal(size=d), rng.uniform(0.5, 2, d))

    return standardized


MAKERS: dict[str, Maker] = {
    "dense": _dense(np.float32),
    "dense_fortran": _dense(np.float32, "F"),
    "dense_float16": _dense(np.float16),
    "dense_float16_fortran": _dense(np.float16, "F"),
    "dense_float64": _dense(np.float64),
    "dense_float64_fortran": _dense(np.float64, "F"),
    "dense_big_endian": lambda rng, n, d: mc.DenseMatrix(_normal(rng, n, d).astype(">f4")),
    "dense_strided": lambda rng, n, d: mc.DenseMatrix(_normal(rng, 2 * n, 3 * d)[::-2, ::3]),
    "dense_int16": lambda rng, n, d: mc.DenseMatrix(rng.integers(-99, 99, (n, d), dtype=np.int16)),
    "dense_read_only": _read_only,
    "dense_memmap": _memmap,
    "dense_mapped": _mapped,
    "sharded": _sharded,
    "selection": _selection(_dense(np.float32)),
    "selection_quantized": _selection(_quantized),
    "standardized": _standardized(_dense(np.float32)),
    "standardized_float64": _standardized(_dense(np.float64)),
    "standardized_sparse": _standardized(_sparse),
    "unit_rows": lambda rng, n, d: UnitRows(_dense(np.float32)(rng, n, d)),
    "unit_rows_float64": lambda rng, n, d: UnitRows(_dense(np.float64)(rng, n, d)),
    "unit_rows_sparse": lambda rng, n, d: UnitRows(_sparse(rng, n, d)),
    "stored": _stored(_normal),
    "stored_quantized": _stored(_quantized),
    "stored_scalar_range": _range(_stored(_scalar(8))),
    "range": _range(_dense(np.float32)),
    "range_quantized": _range(_quantized),
    "quantized_permuted": _rotated("permutation"),
    "quantized_orthogonal": _rotated("orthogonal"),
    "sharded_mixed": _mixed_shards,
    "sparse": _sparse,
    "sparse_long": _sparse_long,
    "scalar8": _scalar(8),
    "scalar4": _scalar(4),
    "scalar_counts": _counts,
    "quantized": _quantized,
    "biased_dense": _biased(_dense(np.float32)),
    "biased_float64": _biased(_dense(np.float64)),
    "biased_sharded": _biased(_sharded),
    "biased_sparse": _biased(_sparse),
    "biased_scalar": _biased(_scalar(4)),
    "biased_quantized": _biased(_quantized),
}

every_matrix = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def assert_product(product: NDArray, A: NDArray, B: NDArray, dtype: np.dtype) -> None:
    """`product` is A B to 1e-5 of the sum of absolute values, in the shape and dtype that were promised."""
    exact, size = A @ B, np.abs(A) @ np.abs(B)
    assert product.dtype == dtype
    assert product.shape == exact.shape
    assert (np.abs(product - exact) <= 1e-5 * size + 1e-30).all(), np.abs(product - exact).max()


def check_matmat_equals_the_product_of_its_rows(make, rng, n, d, k):
    X, W = make(rng, n, d), rng.standard_normal((d, k))
    assert_product(X.matmat(W), X.toarray().astype(float), W.astype(X.dtype).astype(float), X.dtype)
    np.testing.assert_array_equal(X @ W, X.matmat(W))


def check_rmatmat_equals_the_product_of_its_rows(make, rng, n, d, k):
    X, R = make(rng, n, d), rng.standard_normal((n, k))
    assert_product(X.rmatmat(R), X.toarray().astype(float).T, R.astype(X.dtype).astype(float), X.dtype)


def check_rmatmat_is_the_adjoint_of_matmat(make, rng, n, d, k):
    X, W, R = make(rng, n, d), rng.standard_normal((d, k)), rng.standard_normal((n, k))
    left, right = np.vdot(X.matmat(W).astype(float), R), np.vdot(W, X.rmatmat(R).astype(float))
    assert abs(left - right) <= 1e-5 * np.sum(np.abs(R) * (np.abs(X.toarray()) @ np.abs(W))) + 1e-30


def check_vectors_give_vectors(make, rng, n, d, k):
    X, w, r = make(rng, n, d), rng.standard_normal(d), rng.standard_normal(n)
    np.testing.assert_array_equal(X @ w, (X @ w[:, None])[:, 0])
    np.testing.assert_array_equal(X.rmatmat(r), X.rmatmat(r[:, None])[:, 0])
    assert (X @ w).shape == (n,)
    assert X.rmatmat(r).shape == (d,)


def check_rows_are_those_of_the_array(make, rng, n, d, k):
    X = make(rng, n, d)
    A = X.toarray()
    picked = rng.integers(-n, n, 5)
    last = slice(max(0, n - 3), n)
    for index in (
        picked,
        picked.tolist(),
        picked[:0],
        [],
        rng.random(n) < 0.5,
        last,
        slice(None),
        slice(None, None, -2),
    ):
        rows = X.rows(index)
        assert rows.dtype == X.dtype
        np.testing.assert_array_equal(rows, A[np.asarray(index, int) if isinstance(index, list) else index])
    np.testing.assert_array_equal(X.rows(-1), A[-1])
    np.testing.assert_array_equal(X.rows(np.int64(n - 1)), A[n - 1])


def check_rows_in_some_room_are_the_same_rows(make, rng, n, d, k):
    X = make(rng, n, d)
    room = np.full((9, d), np.nan, np.float32)
    for index in (rng.integers(-n, n, 9), rng.integers(-n, n, 4), np.zeros(0, int)):
        rows = X.rows_in(room, index)
        assert rows.dtype == X.dtype
        np.testing.assert_array_equal(rows, X.rows(index))


def check_row_norms_are_those_of_the_rows(make, rng, n, d, k):
    X = make(rng, n, d)
    squares = (X.toarray().astype(float) ** 2).sum(axis=1)
    np.testing.assert_allclose(X.row_norms(squared=True), squares, rtol=1e-5)
    np.testing.assert_allclose(X.row_norms(), np.sqrt(squares), rtol=1e-5)
    assert X.row_norms().dtype == X.dtype


def check_blocks_make_up_the_array(make, rng, n, d, k):
    X = make(rng, n, d)
    blocks = list(X.blocks(size=3))
    assert [start for start, _ in blocks] == list(range(0, n, 3))
    np.testing.assert_array_equal(np.vstack([rows for _, rows in blocks]), X.toarray())


def check_a_slice_of_all_rows_is_the_matrix_itself(make, rng, n, d, k):
    X = make(rng, n, d)
    for rows in (slice(None), slice(0, n), slice(-n, n + 5)):
        assert X.row_slice(rows) is X


def check_a_slice_has_the_rows_and_products_of_its_rows(make, rng, n, d, k):
    X = make(rng, n, d)
    start, stop = np.sort(rng.integers(0, n + 1, 2)).tolist()
    part, A = X.row_slice(slice(start, stop)), X.toarray()[start:stop]
    W, R = rng.standard_normal((d, k)), rng.standard_normal((stop - start, k))
    assert (part.shape, part.dtype, len(part)) == (A.shape, X.dtype, stop - start)
    np.testing.assert_array_equal(part.toarray(), A, strict=True)
    np.testing.assert_array_equal(part.rows(np.arange(len(A))[::-1]), A[::-1])
    np.testing.assert_array_equal(part.row_norms(), X.row_norms()[start:stop])
    assert_product(part @ W, A.astype(float), W.astype(X.dtype).astype(float), X.dtype)
    assert_product(part.rmatmat(R), A.astype(float).T, R.astype(X.dtype).astype(float), X.dtype)
    assert 0 <= part.nbytes <= X.nbytes


def check_a_slice_of_a_slice_is_a_slice(make, rng, n, d, k):
    X = make(rng, n + 6, d)
    part = X.row_slice(slice(1, n + 4)).row_slice(slice(1, n + 2))
    same = X.row_slice(slice(2, n + 3))
    W, R = rng.standard_normal((d, k)), rng.standard_normal((n + 1, k))
    np.testing.assert_array_equal(part.toarray(), X.toarray()[2 : n + 3])
    np.testing.assert_array_equal(part @ W, same @ W)
    np.testing.assert_array_equal(part.rmatmat(R), same.rmatmat(R))


def check_an_empty_slice_is_a_matrix_without_rows(make, rng, n, d, k):
    X = make(rng, n, d)
    for rows in (slice(0, 0), slice(n, n), slice(n, 0)):
        empty = X.row_slice(rows)
        assert empty.toarray().shape == (0, d)
        assert (empty @ np.ones((d, k))).shape == (0, k)
        np.testing.assert_array_equal(empty.rmatmat(np.ones(0)), np.zeros(d))


def check_a_slice_has_step_one(make, rng, n, d, k):
    with pytest.raises(ValueError, match=r"^rows must be a slice of step 1; got slice\(None, None, 2\)$"):
        make(rng, n, d).row_slice(slice(None, None, 2))


def check_what_is_released_is_read_again(make, rng, n, d, k):
    X, W = make(rng, n, d), rng.standard_normal((d, k))
    rows, product = X.toarray(), X @ W
    X.release()
    X.row_slice(slice(0, n // 2)).release()
    np.testing.assert_array_equal(X.toarray(), rows)
    np.testing.assert_array_equal(X @ W, product)


def check_arguments_stay_as_they_are(make, rng, n, d, k):
    X, W, R = make(rng, n, d), _normal(rng, d, k).astype(np.float32), _normal(rng, n, k)
    before = X.toarray(), W.copy(), R.copy()
    W.flags.writeable = R.flags.writeable = False
    X.matmat(W), X.rmatmat(R), X.row_norms(), X.rows([0])
    for now, then in zip((X.toarray(), W, R), before, strict=True):
        np.testing.assert_array_equal(now, then)


def check_rows_cannot_write_into_the_storage(make, rng, n, d, k):
    X = make(rng, n, d)
    before = X.toarray()
    for rows in (X.rows(slice(0, n)), X.rows([0]), X.toarray()):
        if rows.flags.writeable:
            rows[:] = 77
    np.testing.assert_array_equal(X.toarray(), before)


def check_it_is_the_same_in_another_process(make, rng, n, d, k):
    """Other processes have arrays read-only, in memory that they share."""
    X, W, R = make(rng, n, d), rng.standard_normal((d, k)), rng.standard_normal((n, k))
    buffers = []
    sent = pickle.dumps(X, protocol=5, buffer_callback=buffers.append)
    Z = pickle.loads(sent, buffers=[bytes(buffer.raw()) for buffer in buffers])
    assert (type(Z), Z.shape, Z.dtype, Z.nbytes) == (type(X), X.shape, X.dtype, X.nbytes)
    np.testing.assert_array_equal(Z.toarray(), X.toarray())
    np.testing.assert_array_equal(Z @ W, X @ W)
    np.testing.assert_array_equal(Z.rmatmat(R), X.rmatmat(R))
    np.testing.assert_array_equal(Z.row_norms(), X.row_norms())
    half = slice(0, n // 2)
    np.testing.assert_array_equal(Z.row_slice(half) @ W, X.row_slice(half) @ W)
    np.testing.assert_array_equal(Z.rows([n - 1, 0]), X.rows([n - 1, 0]))


def check_wrong_shapes_are_refused(make, rng, n, d, k):
    X = make(rng, n, d)
    with pytest.raises(ValueError, match=rf"^W must have {d} rows; got shape \({d + 1}, {k}\)$"):
        X.matmat(np.zeros((d + 1, k)))
    with pytest.raises(ValueError, match=rf"^R must have {n} rows; got shape \({n + 1},\)$"):
        X.rmatmat(np.zeros(n + 1))
    with pytest.raises(ValueError, match=r"^W must hold real numbers; got dtype complex128$"):
        X @ np.zeros((d, k), complex)
    with pytest.raises(IndexError, match=rf"^rows must lie in \[0, {n}\); got {n}$"):
        X.rows([0, n])
    with pytest.raises(ValueError, match=rf"^a mask of rows must have shape \({n},\)"):
        X.rows(np.ones(n + 1, bool))


def check_it_says_what_it_is(make, rng, n, d, k):
    X = make(rng, n, d)
    assert X.shape == (n, d)
    assert len(X) == n
    assert isinstance(X.nbytes, int)
    assert X.nbytes > 0
    assert X.dtype in (np.float32, np.float64)
    assert repr(X) == f"{type(X).__name__}({n} x {d} {X.dtype}, {X.nbytes / 1e6:.1f} MB)"


CHECKS = [check for name, check in list(globals().items()) if name.startswith("check_")]
