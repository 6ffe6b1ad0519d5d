"""SparseMatrix: SciPy's sparse matrices by their products."""

import numpy as np
import pytest
from scipy import sparse

import manyclass as mc

FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr"]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("family", [sparse.csr_array, sparse.csr_matrix])
def test_any_sparse_format_gives_the_same_matrix(form, family):
    A = np.array([[0, 2, 0], [1, 0, 3]], np.float32)
    X = mc.SparseMatrix(family(A).asformat(form))
    np.testing.assert_array_equal(X.toarray(), A)
    np.testing.assert_array_equal(X @ np.eye(3), A)
    np.testing.assert_array_equal(X.rmatmat(np.eye(2)), A.T)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_compressed_rows_are_kept_without_a_copy(dtype):
    csr = sparse.random_array((9, 7), density=0.4, format="csr", dtype=dtype, rng=0)
    X = mc.SparseMatrix(csr)
    assert X.dtype == dtype
    for part in ("data", "indices", "indptr"):
        assert np.shares_memory(getattr(X.csr, part), getattr(csr, part))


def test_index_arrays_of_64_bits_are_kept():
    csr = sparse.random_array((9, 7), density=0.4, format="csr", rng=0)
    csr = sparse.csr_array((csr.data, csr.indices.astype(np.int64), csr.indptr.astype(np.int64)), shape=csr.shape)
    X = mc.SparseMatrix(csr)
    assert X.csr.indices.dtype == X.csr.indptr.dtype == np.int64
    assert X.nbytes == csr.nnz * 16 + 10 * 8


def test_integers_are_widened():
    assert mc.SparseMatrix(sparse.csr_array(np.eye(2, dtype=np.int8))).dtype == np.float32


def test_entries_that_occur_twice_count_with_their_sum():
    twice = sparse.csr_array((np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 2])), shape=(1, 3))
    X = mc.SparseMatrix(twice)
    np.testing.assert_array_equal(X.row_norms(), [3.0])
    np.testing.assert_array_equal(X.rows(0), [0, 3, 0])
    assert twice.nnz == 2  # and those of the caller are left alone


def test_many_rows_of_float32_are_summed_in_float64():
    n = 300_000
    column = sparse.csr_array(np.full((n, 1), 0.1, np.float32))
    assert mc.SparseMatrix(column).rmatmat(np.ones(n))[0] == pytest.approx(np.float64(np.float32(0.1)) * n, rel=1e-7)


def test_wide_matrices_of_few_entries_are_never_dense():
    X = mc.SparseMatrix(sparse.coo_array(([1.0], ([999_999], [2**31])), shape=(1_000_000, 2**31 + 1)))
    assert X.row_norms()[-1] == 1.0
    assert X.nbytes < 20e6


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.eye(2), "X must be a sparse matrix of SciPy; got ndarray"),
        (
            sparse.csr_array(np.eye(2, dtype=complex)),
            "X must hold real numbers of at most 64 bits; got dtype complex128",
        ),
        (sparse.coo_array(np.ones(3)), r"X must have two dimensions; got shape \(3,\)"),
    ],
)
def test_what_is_no_sparse_matrix_of_numbers_is_refused(matrix, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        mc.SparseMatrix(matrix)
