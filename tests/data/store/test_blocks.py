import pickle
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import manyclass as mc
from manyclass import _native
from manyclass._core.errors import StoreCorruptedError
from manyclass.data.scalar_quantizer import ScalarQuantizer
from manyclass.data.store import StoreWriter, VerifiedMatrix
from manyclass.data.store.blocks import BlockFile

W = np.random.default_rng(1).normal(size=(5, 3))
R = np.random.default_rng(2).normal(size=(60, 3))


@pytest.fixture(params=["features", "codes"])
def matrix(request, tmp_path, rows):
    """A verified matrix of two segments in small blocks, and the matrix that it must equal."""
    quantizer = ScalarQuantizer().fit(rows) if request.param == "codes" else None
    with StoreWriter(tmp_path / "a.store", 5, quantizer=quantizer, block_bytes=100) as writer:
        writer.append(rows[:33])
        writer.commit()
    with StoreWriter.extending(tmp_path / "a.store", block_bytes=64) as writer:
        writer.append(rows[33:])
        X = writer.commit().X
    return X, quantizer.encode(rows) if quantizer else mc.DenseMatrix(rows)


@pytest.fixture
def checksums(monkeypatch):
    """The blocks of which checksums were computed."""
    made, good = [], BlockFile._good
    monkeypatch.setattr(BlockFile, "_good", lambda self, block: made.append(block) or good(self, block))
    return made


@pytest.mark.parametrize(
    "use",
    [
        lambda X: X @ W,
        lambda X: X @ W[:, 0],
        lambda X: X.rmatmat(R),
        lambda X: X.row_norms(),
        lambda X: X.row_norms(squared=True),
        lambda X: X.toarray(),
        lambda X: X.rows(40),
        lambda X: X.rows([59, 0, -1, 33, 33]),
        lambda X: X.rows(slice(30, 37)),
        lambda X: X.rows(slice(59, 2, -7)),
        lambda X: X.rows(np.arange(60) % 7 == 0),
        lambda X: X.rows([]),
        lambda X: np.vstack([block for _, block in X.blocks(13)]),
    ],
)
def test_a_verified_matrix_is_the_matrix_that_it_wraps(matrix, use):
    X, expected = matrix
    assert isinstance(X, VerifiedMatrix)
    np.testing.assert_allclose(use(X), use(expected), rtol=1e-5, atol=1e-5)
    assert (X.shape, X.dtype, X.nbytes, len(X)) == (expected.shape, expected.dtype, expected.nbytes, 60)


def test_rows_check_only_the_blocks_that_they_lie_in(tmp_path, rows, checksums):
    with StoreWriter(tmp_path / "a.store", 5, block_bytes=100) as writer:  # five rows in a block
        writer.append(rows)
        X = writer.commit().X
    counts = []
    for index in ([0, 4], 3, slice(4, 6), slice(0, 10), [59, 12], slice(0, 60)):
        before = len(checksums)
        X.rows(index)
        counts.append(len(checksums) - before)
    assert counts == [1, 0, 1, 0, 2, 8]


def test_every_block_is_checked_once(matrix, checksums):
    X, _ = matrix
    for _ in range(3):
        X @ W
        X.rmatmat(R)
        X.toarray()
    assert len(checksums) == sum(file.record.n_blocks for file in X._files)


def test_threads_may_share_a_verified_matrix(matrix):
    X, expected = matrix
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda i: X.rows([i % 60, (7 * i) % 60]), range(400)))
    for i, two in enumerate(found):
        np.testing.assert_array_equal(two, expected.rows([i % 60, (7 * i) % 60]))


@pytest.mark.parametrize(
    "use", [lambda X: X @ W, lambda X: X.rmatmat(R), lambda X: X.row_norms(), lambda X: X.rows([9])]
)
def test_damage_stops_whatever_touches_it_every_time(tmp_path, rows, use):
    with StoreWriter(tmp_path / "a.store", 5, block_bytes=100) as writer:
        writer.append(rows)
        store = writer.commit()
    data = bytearray((store.path / "X-0.npy").read_bytes())
    data[128 + 9 * 20] ^= 1
    (store.path / "X-0.npy").write_bytes(data)
    X = mc.open_store(store.path).X
    np.testing.assert_array_equal(X.rows([0, 59]), rows[[0, 59]])
    for _ in range(2):
        with pytest.raises(StoreCorruptedError, match=r"X-0\.npy block 1"):
            use(X)


def test_stored_rows_come_as_the_files_have_them(tmp_path, rows):
    half = rows.astype(np.float16)
    with StoreWriter(tmp_path / "a.store", 5, np.float16) as writer:
        writer.append(half[:33])
        writer.commit()
    X = mc.append_store(tmp_path / "a.store", half[33:]).X
    for start, stop in [(0, 60), (0, 33), (33, 60), (30, 40), (5, 5)]:
        np.testing.assert_array_equal(X.stored(start, stop), half[start:stop], strict=True)


def quantized_store(path, n=3000, d=32):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)).astype(np.float32)
    quantizer = mc.ProductQuantizer(4, 16, iterations=2, random_state=0).fit(X[:500])
    with StoreWriter(path, quantizer=quantizer, block_bytes=80) as writer:  # ten rows in a block
        writer.append(X[: n // 2])
        writer.commit()
    with StoreWriter.extending(path, block_bytes=80) as writer:
        writer.append(X[n // 2 :])
        return writer.commit().X


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's record of mapped pages")
@pytest.mark.parametrize("rows", [slice(None), slice(3000, 20_000)])
def test_reading_a_store_block_by_block_does_not_fill_the_memory(tmp_path, rows):
    def mapped():
        # Pages of files; those of files that lie in memory are counted apart.
        return sum(map(int, re.findall(r"Rss(?:File|Shmem):\s+(\d+)", Path("/proc/self/status").read_text()))) / 1024

    mc.write_store(tmp_path / "s", np.ones((20_000, 512), np.float32))
    X, before = mc.open_store(tmp_path / "s").X.row_slice(rows), mapped()
    assert max(mapped() - before for _, block in X.blocks() if block.sum() > 0) < 20


@pytest.mark.parametrize("rows", [slice(None), slice(0, 1400), slice(1000, 2500), slice(1500, 3000)])
def test_products_of_stored_codes_decode_no_rows_whichever_are_asked_for(tmp_path, monkeypatch, rows):
    X = quantized_store(tmp_path / "a.store")
    dense = X.toarray()[rows]
    monkeypatch.setattr(_native, "pq_decode", None)
    some, rng = X.row_slice(rows), np.random.default_rng(1)
    factor, other = rng.normal(size=(32, 3)), rng.normal(size=(len(dense), 3))
    np.testing.assert_allclose(some @ factor, dense @ factor, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(some.rmatmat(other), dense.T @ other, rtol=1e-4, atol=1e-3)


def test_products_of_a_slice_check_its_blocks_alone_and_once(tmp_path, checksums):
    X = quantized_store(tmp_path / "a.store")
    del checksums[:]
    for _ in range(2):
        X.row_slice(slice(1495, 1511)) @ np.ones(32)
        X.row_slice(slice(1495, 1511)).rmatmat(np.ones(16))
    assert sorted(checksums) == [0, 1, 149]
    X @ np.ones(32)
    assert len(checksums) == sum(file.record.n_blocks for file in X._files)


@pytest.mark.parametrize(
    "use", [lambda X: X @ np.ones(32), lambda X: X.rmatmat(np.ones(len(X))), lambda X: X.rows([0])]
)
def test_damage_stops_the_slices_that_touch_it(tmp_path, use):
    path = tmp_path / "a.store"
    quantized_store(path)
    data = bytearray((path / "codes-0.npy").read_bytes())
    data[128 + 8 * 700] ^= 1
    (path / "codes-0.npy").write_bytes(data)
    X = mc.open_store(path).X
    for rows in (slice(0, 700), slice(710, 3000)):
        use(X.row_slice(rows))
    for _ in range(2):
        with pytest.raises(StoreCorruptedError, match=r"codes-0\.npy block 70"):
            use(X.row_slice(slice(700, 1600)))


def test_a_slice_of_stored_codes_is_written_as_codes(tmp_path):
    X = quantized_store(tmp_path / "a.store")
    copy = mc.write_store(tmp_path / "b.store", X.row_slice(slice(1400, 1600)))
    np.testing.assert_array_equal(copy.X.stored(0, 200), X.stored(1400, 1600), strict=True)


def test_rows_of_a_store_travel_as_its_path(matrix):
    X, _ = matrix
    for part in (X, X.row_slice(slice(40, 55)), X.row_slice(slice(10, 50)).row_slice(slice(3, 30))):
        sent = pickle.dumps(part)
        assert len(sent) < 400
        Z = pickle.loads(sent)
        np.testing.assert_array_equal(Z.toarray(), part.toarray(), strict=True)
        np.testing.assert_array_equal(Z @ W, part @ W)
        assert pickle.dumps(Z) == sent


def test_rows_are_checked_on_the_other_machine_too(tmp_path, rows):
    X = mc.write_store(tmp_path / "a.store", rows).X
    sent = pickle.dumps(X)
    file = next((tmp_path / "a.store").glob("X*.npy"))
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    with pytest.raises(StoreCorruptedError, match="does not match its checksum"):
        pickle.loads(sent).toarray()


def test_a_store_that_is_not_on_the_other_machine_is_one_sentence(tmp_path, rows):
    sent = pickle.dumps(mc.write_store(tmp_path / "a.store", rows).X)
    (tmp_path / "a.store").rename(tmp_path / "b.store")
    with pytest.raises(mc.StorageError, match=r"a\.store is not on this machine.*put it on storage that all"):
        pickle.loads(sent)


def test_another_store_at_the_path_is_refused(tmp_path, rows):
    sent = pickle.dumps(mc.write_store(tmp_path / "a.store", rows).X)
    mc.write_store(tmp_path / "a.store", rows + (np.arange(60) == 31)[:, None], overwrite=True)
    with pytest.raises(mc.StorageError, match=r"a\.store must be the store that was opened .* and is another$"):
        pickle.loads(sent)
