import pickle
import subprocess
import sys

import numpy as np
import pytest
from contracts.matrix import CHECKS

import manyclass as mc
from manyclass.data.parquet_matrix import ParquetMatrix
from manyclass.data.readers import parquet

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def write(path, X, **options):
    column = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), X.shape[1])
    pq.write_table(pa.table({"embedding": column, "label": np.arange(len(X)) % 5}), path, **options)
    return path


@pytest.fixture
def rows():
    return np.random.default_rng(0).standard_normal((5000, 24)).astype(np.float32)


@pytest.fixture
def streamed(tmp_path, rows, monkeypatch):
    monkeypatch.setattr("manyclass.data.parquet_matrix._BATCHES_KEPT", 2)
    write(tmp_path / "0.parquet", rows[:3000], row_group_size=700)
    write(tmp_path / "1.parquet", rows[3000:], row_group_size=100_000)
    return ParquetMatrix([tmp_path / "0.parquet", tmp_path / "1.parquet"])


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("passes", [0, 9], ids=["put down", "streamed"])
def test_it_keeps_the_contract_of_a_matrix(tmp_path_factory, monkeypatch, check, passes):
    monkeypatch.setattr("manyclass.data.parquet_matrix._PASSES", 1000 * passes)

    def make(rng, n, d):
        if n * d == 0:
            return mc.DenseMatrix(np.zeros((n, d), np.float32))
        path = tmp_path_factory.mktemp("parquet") / "x.parquet"
        X = ParquetMatrix([write(path, rng.standard_normal((n, d)).astype(np.float32), row_group_size=4)])
        X._rows_read = 1 if passes == 0 else 0
        return X

    check(make, np.random.default_rng(0), 7, 5, 3)


def test_rows_are_had_in_any_order(streamed, rows):
    index = np.random.default_rng(1).integers(0, 5000, 300)
    assert np.array_equal(streamed.rows(index), rows[index])
    assert np.array_equal(streamed.rows(slice(2990, 3010)), rows[2990:3010])


def test_products_have_the_bits_of_rows_in_memory(streamed, rows):
    dense, W = mc.DenseMatrix(rows), np.random.default_rng(2).standard_normal((24, 3)).astype(np.float32)
    for _ in range(7):  # from the file at first, then from where rows were put down
        assert np.array_equal(streamed @ W, dense @ W)
        assert np.array_equal(streamed.rmatmat(dense @ W), dense.rmatmat(dense @ W))
    assert streamed._put_down is not None


def test_a_few_passes_in_order_put_nothing_down(streamed, rows):
    for _ in range(4):
        assert np.array_equal(np.concatenate([block for _, block in streamed.blocks()]), rows)
    assert streamed._put_down is None
    assert len(rows) < streamed._rows_read <= 4 * len(rows)


def test_random_rows_again_and_again_are_put_down(streamed, rows):
    rng = np.random.default_rng(3)
    for _ in range(8):
        index = rng.integers(0, 5000, 50)
        assert np.array_equal(streamed.rows(index), rows[index])
    assert streamed._put_down is not None


def test_a_full_disk_says_how_to_go_on(streamed, monkeypatch):
    def full(*about):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.posix_fallocate", full, raising=False)
    streamed._rows_read = 10**9
    with pytest.raises(mc.StorageError, match="No space left on device; set TMPDIR to a folder that has them"):
        streamed.rows([1])


def test_it_travels_as_its_paths(streamed, rows):
    there = pickle.loads(pickle.dumps(streamed))
    assert np.array_equal(there.rows([4000, 1]), rows[[4000, 1]])
    assert len(pickle.dumps(streamed)) < 2000


def test_large_files_are_streamed_and_small_ones_are_not(tmp_path, rows, monkeypatch):
    path = write(tmp_path / "x.parquet", rows)
    assert isinstance(mc.as_matrix(path), mc.DenseMatrix)
    monkeypatch.setattr(parquet, "MOST_IN_MEMORY", rows.nbytes - 1)
    assert isinstance(mc.as_matrix(path), ParquetMatrix)


def test_files_of_other_widths_are_refused_where_they_are_read(tmp_path, rows):
    paths = [write(tmp_path / "0.parquet", rows), write(tmp_path / "1.parquet", rows[:, :3])]
    X = ParquetMatrix(paths)
    with pytest.raises(ValueError, match=r"1\.parquet must have 24 numbers of float32 in a row; got 3"):
        X.rows([6000])


MEASURE = """
import resource, sys
import manyclass as mc
from manyclass.data.readers import parquet
parquet.MOST_IN_MEMORY = 1 << 20
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
mc.runs.compress(sys.argv[1], sys.argv[2], sample=2000)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform == "darwin", reason="memory is told in other units")
def test_a_store_of_a_file_takes_less_memory_than_the_file(tmp_path):
    rng = np.random.default_rng(0)
    with pq.ParquetWriter(tmp_path / "x.parquet", pa.schema([("embedding", pa.list_(pa.float32(), 512))])) as writer:
        for _ in range(20):
            values = pa.array(rng.standard_normal(512 * 5000, dtype=np.float32))
            writer.write_batch(pa.record_batch([pa.FixedSizeListArray.from_arrays(values, 512)], ["embedding"]))
    command = [sys.executable, "-c", MEASURE, str(tmp_path / "x.parquet"), str(tmp_path / "x.store")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (tmp_path / "x.parquet").stat().st_size > 190e6
    assert int(done.stdout) * 1024 < 140e6
    assert mc.open_store(tmp_path / "x.store").shape == (100_000, 512)
