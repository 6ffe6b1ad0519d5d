"""DenseMatrix: arrays and memory maps as they are."""

import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import manyclass as mc
from manyclass import _native
from manyclass._core.parallel import threads
from manyclass.data.dense import DenseMatrix


@pytest.mark.parametrize(
    ("stored", "comes_as"),
    [
        (np.float16, np.float32),
        (np.float32, np.float32),
        (">f4", np.float32),
        (np.float64, np.float64),
        (np.uint8, np.float32),
        (np.int16, np.float32),
        (bool, np.float32),
        (np.int32, np.float64),
        (np.int64, np.float64),
    ],
)
def test_products_come_in_the_float_that_holds_the_storage(stored, comes_as):
    X = mc.DenseMatrix(np.ones((2, 3), stored))
    assert X.dtype == comes_as
    assert (X @ np.ones(3)).dtype == comes_as
    assert X.rows([0]).dtype == comes_as


def test_integers_of_32_bits_lose_nothing():
    assert mc.DenseMatrix(np.array([[2**24 + 1]], np.int32)).rows(0)[0] == 2**24 + 1


def test_the_array_is_wrapped_and_not_copied():
    A = np.zeros((3, 2), np.float32)
    X = mc.DenseMatrix(A)
    A[1] = 5
    assert np.shares_memory(X.array, A)
    assert X.rows(1)[0] == 5


def test_a_memory_map_gives_plain_arrays(tmp_path):
    X = mc.DenseMatrix(np.memmap(tmp_path / "x", np.float32, "w+", shape=(4, 3)))
    for array in (X.array, X.rows([1]), X.rows(slice(0, 2)), X.rows(0), X @ np.ones(3), X.toarray()):
        assert type(array) is np.ndarray


def test_rows_of_a_slice_are_a_view_that_cannot_be_written():
    A = np.zeros((3, 2), np.float32)
    rows = mc.DenseMatrix(A).rows(slice(0, 2))
    assert np.shares_memory(rows, A)
    with pytest.raises(ValueError, match="read-only"):
        rows[0] = 1
    A[0] = 1  # and the array of the caller still can


def test_no_columns_give_zeros():
    X = mc.DenseMatrix(np.zeros((3, 0)))
    np.testing.assert_array_equal(X @ np.zeros((0, 2)), np.zeros((3, 2)))
    assert X.rmatmat(np.ones((3, 2))).shape == (0, 2)
    np.testing.assert_array_equal(X.row_norms(), np.zeros(3))


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros(3), r"X must have two dimensions; got shape \(3,\)"),
        (np.zeros((1, 1, 1)), r"X must have two dimensions; got shape \(1, 1, 1\)"),
        (np.zeros((2, 2), complex), "X must hold real numbers of at most 64 bits; got dtype complex128"),
        (np.array([["a"]]), "X must hold real numbers of at most 64 bits; got dtype <U1"),
        (np.array([[None]]), "X must hold real numbers of at most 64 bits; got dtype object"),
        (np.ma.masked_equal([[1.0, 2.0]], 2.0), r"X must not be a masked array; fill its gaps with X.filled\(value\)"),
    ],
)
def test_what_is_no_matrix_of_numbers_is_refused(array, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        mc.DenseMatrix(array)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's record of mapped pages")
def test_reading_a_map_block_by_block_does_not_fill_the_memory(tmp_path):
    def mapped():
        # Pages of files; those of files that lie in memory are counted apart.
        return sum(map(int, re.findall(r"Rss(?:File|Shmem):\s+(\d+)", Path("/proc/self/status").read_text()))) / 1024

    np.save(tmp_path / "X.npy", np.ones((20_000, 512), np.float32))
    X, before = mc.as_matrix(tmp_path / "X.npy"), mapped()
    assert max(mapped() - before for _, rows in X.blocks() if rows.sum() > 0) < 20


def test_a_map_whose_changes_are_private_keeps_them(tmp_path):
    np.save(tmp_path / "X.npy", np.zeros((4000, 600), np.float32))
    array = np.load(tmp_path / "X.npy", mmap_mode="c")
    array[:] = 7
    assert all((rows == 7).all() for _, rows in mc.DenseMatrix(array).blocks())
    assert (array == 7).all()


@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (70, 3), (300, 1100)])
def test_gathered_rows_are_those_of_the_array(n, d, n_threads):
    rng = np.random.default_rng(n + d)
    X = rng.standard_normal((n, d), np.float32)
    index = rng.integers(0, n, 333)
    with threads(n_threads):
        np.testing.assert_array_equal(DenseMatrix(X).rows(index), X[index])


def test_a_position_outside_is_refused_by_the_compiled_gather():
    with pytest.raises(IndexError, match="index must be in"):
        _native.gather(np.zeros((3, 2), np.float32), np.array([3]), np.empty((1, 2), np.float32), 1)
    with pytest.raises(ValueError, match="out must have a row"):
        _native.gather(np.zeros((3, 2), np.float32), np.array([1]), np.empty((2, 2), np.float32), 1)


def unaligned(array):
    """The same numbers, one byte behind where a processor likes them."""
    room = np.empty(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    room[:] = array
    return room


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_that_are_not_aligned_come_aligned(dtype):
    A = np.arange(12, dtype=dtype).reshape(4, 3)
    X = mc.DenseMatrix(unaligned(A))
    assert not X.array.flags.aligned
    for rows in (X.rows(slice(1, 3)), X.rows([1, 2])):
        assert rows.flags.aligned
        np.testing.assert_array_equal(rows, A[1:3])


@pytest.mark.parametrize("rotation", [None, "orthogonal"])
def test_rows_that_are_not_aligned_have_the_codes_and_products_of_others(rotation):
    rng = np.random.default_rng(0)
    A, W = rng.standard_normal((40, 33), np.float32), rng.standard_normal((33, 3), np.float32)
    pq = mc.ProductQuantizer(8, rotation=rotation, random_state=0).fit(A)
    Xq = pq.encode(A)
    np.testing.assert_array_equal(pq.encode(unaligned(A)).codes, Xq.codes)
    np.testing.assert_array_equal(pq.encode_rows(unaligned(A)), Xq.codes)
    np.testing.assert_array_equal(Xq @ unaligned(W), Xq @ W)


CUT = """
import os, sys
import numpy as np
import manyclass as mc
path, how = sys.argv[1:]
X = mc.as_matrix(path)
os.truncate(path, 4096)
try:
    {"slice": lambda: X.rows(slice(None)), "rows": lambda: X.rows([len(X) - 1]), "product": lambda: X @ np.ones(64),
     "store": lambda: mc.write_store(path + ".store", X)}[how]()
except mc.StorageError as error:
    print(error)
"""


@pytest.mark.parametrize("how", ["slice", "rows", "product", "store"])
def test_a_file_that_is_cut_while_it_is_mapped_is_an_error_and_not_the_end_of_the_process(how, tmp_path):
    np.save(tmp_path / "x.npy", np.ones((1000, 64), np.float32))
    done = subprocess.run(
        [sys.executable, "-c", CUT, str(tmp_path / "x.npy"), how], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r".*x\.npy has become shorter while it is used: 4096 bytes of 256128; .*", done.stdout.strip())


@pytest.fixture
def mapped(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).standard_normal((300, 64), np.float32))
    return mc.as_matrix(tmp_path / "x.npy")


def test_a_mapped_file_travels_as_its_path(mapped, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    relative = mc.as_matrix("x.npy")
    monkeypatch.chdir("/")
    for X in (mapped, relative, mc.DenseMatrix(np.load(tmp_path / "x.npy", mmap_mode="r")[7:200:3, 5:])):
        sent = pickle.dumps(X)
        assert len(sent) < 1000
        Z = pickle.loads(sent)
        np.testing.assert_array_equal(Z.array, X.array, strict=True)
        assert len(pickle.dumps(Z)) < 1000  # and from there to the next
        Z.release()
        np.testing.assert_array_equal(Z.rows([3]), X.rows([3]))


@pytest.mark.parametrize("mode", ["r+", "c"])
def test_what_may_change_in_memory_travels_as_it_is(tmp_path, mode):
    np.save(tmp_path / "x.npy", np.zeros((30, 64), np.float32))
    array = np.load(tmp_path / "x.npy", mmap_mode=mode)
    array[3] = 7
    sent = pickle.dumps(mc.DenseMatrix(array))
    (tmp_path / "x.npy").unlink()
    np.testing.assert_array_equal(pickle.loads(sent).toarray(), array)


def test_a_file_that_is_not_on_the_other_machine_is_one_sentence(mapped, tmp_path):
    sent = pickle.dumps(mapped)
    (tmp_path / "x.npy").unlink()
    with pytest.raises(mc.StorageError, match=r"x\.npy is not on this machine.*put it on storage that all"):
        pickle.loads(sent)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda A: A[:-1], r"it has 76672 bytes and not 76928"),
        (lambda A: A + (np.arange(300) == 299)[:, None].astype(np.float32), "its rows differ"),
        (lambda A: A[::-1], "its rows differ"),
    ],
)
def test_another_file_at_the_path_is_refused(mapped, tmp_path, change, reason):
    sent = pickle.dumps(mapped)
    np.save(tmp_path / "new.npy", change(mapped.array))
    (tmp_path / "new.npy").rename(tmp_path / "x.npy")
    with pytest.raises(mc.StorageError, match=rf"x\.npy must be the file that was opened .* is another: {reason}$"):
        pickle.loads(sent)


@pytest.mark.parametrize("view", [np.s_[::-1], np.s_[::2, ::3], np.s_[:, 7:], np.s_[:, ::-1]])
@pytest.mark.parametrize("order", ["C", "F"])
def test_products_of_a_view_have_the_bits_of_those_of_a_copy(view, order):
    rng = np.random.default_rng(0)
    A = np.asarray(rng.standard_normal((700, 70), np.float32), order=order)[view]
    W, R = rng.standard_normal((A.shape[1], 3)), rng.standard_normal((len(A), 3))
    X, Z = mc.DenseMatrix(A), pickle.loads(pickle.dumps(mc.DenseMatrix(A)))
    np.testing.assert_array_equal(X @ W, Z @ W)
    np.testing.assert_array_equal(X.rmatmat(R), Z.rmatmat(R))
