"""Parquet files and folders of them."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import manyclass as mc
from manyclass.data.readers.parquet import BATCH_ROWS, plain

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

A = np.arange(12, dtype=np.float32).reshape(4, 3)


def write(path, **columns):
    pq.write_table(pa.table(columns), path)
    return path


def fixed(rows, kind):
    return pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel().astype(kind.to_pandas_dtype()), kind), rows.shape[1])


def ragged(rows, kind):
    return pa.array([row.astype(kind.to_pandas_dtype()) for row in rows], pa.list_(kind))


def large(rows, kind):
    return pa.array([row.astype(kind.to_pandas_dtype()) for row in rows], pa.large_list(kind))


def tensor(rows, kind):
    return pa.ExtensionArray.from_storage(pa.fixed_shape_tensor(kind, (rows.shape[1],)), fixed(rows, kind))


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64(), pa.int16()], ids=str)
@pytest.mark.parametrize("column", [fixed, ragged, large, tensor], ids=lambda column: column.__name__)
def test_lists_of_every_kind_open(tmp_path, kind, column):
    X = mc.as_matrix(write(tmp_path / "x.parquet", embedding=column(A, kind)))
    np.testing.assert_array_equal(X.toarray(), A)
    assert X.array.dtype == kind.to_pandas_dtype()


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary(12)], ids=str)
def test_bytes_are_float32(tmp_path, kind):
    column = pa.array([row.tobytes() for row in A], kind)
    np.testing.assert_array_equal(mc.as_matrix(write(tmp_path / "x.parquet", vector=column)).toarray(), A)


def test_many_batches_make_one_matrix(tmp_path):
    rows = np.random.default_rng(0).random((2 * BATCH_ROWS + 7, 5), dtype=np.float32)
    pq.write_table(pa.table({"emb": ragged(rows, pa.float32())}), tmp_path / "x.parquet", row_group_size=900)
    np.testing.assert_array_equal(mc.as_matrix(tmp_path / "x.parquet").toarray(), rows)


@pytest.mark.parametrize(
    "others",
    [{"tags": pa.array([[1]] * 4)}, {"id": pa.array(range(4))}, {"image": pa.array([b"jpeg"] * 4)}],
    ids=lambda others: next(iter(others)),
)
@pytest.mark.parametrize("name", ["embedding", "emb", "vector", "features"])
def test_the_column_is_found_by_its_name(tmp_path, name, others):
    X = mc.as_matrix(write(tmp_path / "x.parquet", **others, **{name: fixed(A, pa.float32())}))
    np.testing.assert_array_equal(X.toarray(), A)


def test_the_only_column_of_lists_needs_no_name(tmp_path):
    columns = {"features": pa.array(["text"] * 4), "jpeg": pa.array([b"1"] * 4), "clip": fixed(A, pa.float32())}
    np.testing.assert_array_equal(mc.as_matrix(write(tmp_path / "x.parquet", **columns)).toarray(), A)


@pytest.mark.parametrize(
    ("columns", "got"),
    [({"a": A.tolist(), "b": A.tolist(), "c": range(4)}, "a, b"), ({"c": range(4), "d": list("abcd")}, "c, d")],
)
def test_the_choices_are_named_when_the_column_is_unclear(tmp_path, columns, got):
    path = write(tmp_path / "x.parquet", **columns)
    with pytest.raises(ValueError, match=rf"^{path} must have a column of lists called X, features, .*; got {got}$"):
        mc.as_matrix(path)


LATE = BATCH_ROWS + 5


def at_row(row, value, n=BATCH_ROWS + 9):
    return [value if i == row else [1.0, 2.0] for i in range(n)]


@pytest.mark.parametrize("row", [0, 3, LATE])
@pytest.mark.parametrize("kind", [pa.list_(pa.float32()), pa.list_(pa.float32(), 2)], ids=str)
def test_a_missing_row_is_named(tmp_path, row, kind):
    path = write(tmp_path / "x.parquet", emb=pa.array(at_row(row, None), kind))
    with pytest.raises(ValueError, match=rf"^{path} column 'emb' must have no gaps; row {row} is null$"):
        mc.as_matrix(path)


@pytest.mark.parametrize("row", [0, 3, LATE])
@pytest.mark.parametrize("kind", [pa.list_(pa.float32()), pa.list_(pa.float32(), 2)], ids=str)
def test_a_missing_number_is_named(tmp_path, row, kind):
    path = write(tmp_path / "x.parquet", emb=pa.array(at_row(row, [1.0, None]), kind))
    with pytest.raises(ValueError, match=rf"^{path} column 'emb' must have no gaps; row {row} has a null at 1$"):
        mc.as_matrix(path)


@pytest.mark.parametrize("value", [[], [1.0, 2.0, 3.0]])
def test_a_row_of_another_length_is_named(tmp_path, value):
    path = write(tmp_path / "x.parquet", emb=at_row(3, value))
    message = rf"^{path} column 'emb' must have 2 numbers in every row; got {len(value)} in row 3$"
    with pytest.raises(ValueError, match=message):
        mc.as_matrix(path)


def test_a_row_of_another_length_in_a_later_batch_is_named(tmp_path):
    rows = [[1.0, 2.0]] * BATCH_ROWS + [[1.0, 2.0, 3.0]] * 2
    path = write(tmp_path / "x.parquet", emb=rows)
    with pytest.raises(
        ValueError, match=rf"^{path} must have 2 numbers of float64 in a row; got 3 .* in row {BATCH_ROWS}$"
    ):
        mc.as_matrix(path)


def test_bytes_that_are_no_float32_are_refused(tmp_path):
    path = write(tmp_path / "x.parquet", emb=[b"12345"])
    with pytest.raises(
        ValueError, match=rf"^{path} column 'emb' must hold the bytes of float32; got 5 bytes in row 0$"
    ):
        mc.as_matrix(path)


def test_files_of_a_folder_come_in_the_order_of_their_numbers(tmp_path):
    for i in (10, 2, 0):
        write(tmp_path / f"part-{i}.parquet", emb=fixed(np.full((2, 3), i), pa.float32()))
    np.testing.assert_array_equal(mc.as_matrix(tmp_path).toarray()[::2, 0], [0, 2, 10])


def test_a_file_of_another_width_is_named(tmp_path):
    write(tmp_path / "0.parquet", emb=fixed(A, pa.float32()))
    write(tmp_path / "1.parquet", emb=fixed(A[:, :2], pa.float32()))
    with pytest.raises(ValueError, match=rf"^{tmp_path}/1\.parquet must have 3 numbers of float32 in a row; got 2"):
        mc.as_matrix(tmp_path)


def test_a_file_without_rows_is_refused(tmp_path):
    path = write(tmp_path / "x.parquet", emb=pa.array([], pa.list_(pa.float32())))
    with pytest.raises(ValueError, match=rf"^{path} must have at least one row; got none$"):
        mc.as_matrix(path)


def test_what_is_no_parquet_is_said(tmp_path):
    (tmp_path / "x.parquet").write_bytes(b"PAR1 nothing PAR1")
    with pytest.raises(ValueError, match=rf"^{tmp_path}/x\.parquet must be a complete parquet file; "):
        mc.as_matrix(tmp_path / "x.parquet")


def test_without_pyarrow_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "x.parquet").write_bytes(b"")
    with pytest.raises(ImportError, match=r'x\.parquet needs pyarrow to be read; pip install "manyclass\[parquet\]"$'):
        mc.as_matrix(tmp_path / "x.parquet")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's record of the peak")
def test_reading_holds_little_more_than_the_result(tmp_path):
    rows = np.random.default_rng(0).random((60_000, 256), dtype=np.float32)
    path = write(tmp_path / "x.parquet", emb=fixed(rows, pa.float32()))
    script = (
        "import re, sys, manyclass as mc, manyclass.data.readers.parquet, pyarrow.compute, scipy.sparse, sklearn.base\n"
        "peak = lambda: 1024 * int(re.search(r'VmHWM:\\s*(\\d+)', open('/proc/self/status').read())[1])\n"
        "before = peak(); X = mc.as_matrix(sys.argv[1]); print((peak() - before) / X.nbytes)"
    )
    run = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)
    assert 1 <= float(run.stdout) < 2


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.binary(2)], ids=str
)
@pytest.mark.parametrize("encoded", [False, True], ids=["plain", "dictionary"])
def test_text_of_every_kind_is_read(kind, encoded):
    column = pa.chunked_array([pa.array(["ab", "cd"], kind), pa.array(["é"], kind)])
    values = plain(column.dictionary_encode() if encoded else column, "x")
    assert values.dtype.kind == "U"
    assert values.tolist() == ["ab", "cd", "é"]


@pytest.mark.parametrize("kind", [pa.int8(), pa.int64(), pa.uint64(), pa.bool_()], ids=str)
@pytest.mark.parametrize("encoded", [False, True], ids=["plain", "dictionary"])
def test_integers_keep_their_type(kind, encoded):
    column = pa.chunked_array([pa.array([1, 0]).cast(kind), pa.array([1]).cast(kind)])
    values = plain(column.dictionary_encode() if encoded else column, "x")
    np.testing.assert_array_equal(values, [1, 0, 1])
    assert values.dtype == kind.to_pandas_dtype()


def test_a_gap_in_a_later_chunk_is_named():
    column = pa.chunked_array([["a", "b"], ["c", None]])
    with pytest.raises(ValueError, match=r"^x must have no gaps; row 3 is null$"):
        plain(column, "x")


@pytest.mark.parametrize(
    "values", [[1.5], [{"a": 1}], [["a"]], pa.nulls(1), pa.array([1.5]).dictionary_encode()], ids=str
)
def test_other_kinds_are_refused(values):
    with pytest.raises(ValueError, match=r"^x must be integers or strings; got [a-z]+"):
        plain(pa.chunked_array([pa.array(values)]), "x")


def test_bytes_that_are_no_text_are_refused():
    with pytest.raises(ValueError, match=r"^x must be text in UTF-8; row 1 is not$"):
        plain(pa.chunked_array([[b"a", b"\xff"]]), "x")
