"""as_matrix: anything that holds rows."""

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import manyclass as mc
from manyclass._core.errors import StorageError
from tests.data.readers.unreadable import PUT

A = np.arange(12, dtype=np.float32).reshape(4, 3)


def as_npy(folder: Path) -> Path:
    np.save(folder / "x.npy", A)
    return folder / "x.npy"


def as_npz(folder: Path) -> Path:
    np.savez(folder / "x.npz", features=A)
    return folder / "x.npz"


def as_shards(folder: Path) -> Path:
    for i, part in enumerate(np.array_split(A, 3)):
        np.save(folder / f"part_{i}.npy", part)
    return folder


def as_clip_retrieval(folder: Path) -> Path:
    (folder / "img_emb").mkdir()
    for i, part in enumerate(np.array_split(A, 2)):
        np.save(folder / "img_emb" / f"img_emb_{i}.npy", part)
    return folder


def as_parquet(folder: Path, name: str = "x.parquet", rows: slice = slice(None)) -> Path:
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"embedding": list(A[rows])})
    pytest.importorskip("pyarrow.parquet").write_table(table, folder / name)
    return folder / name


def as_parquet_shards(folder: Path) -> Path:
    as_parquet(folder, "part-1.parquet", slice(2, None))
    as_parquet(folder, "part-0.parquet", slice(0, 2))
    return folder


def as_store(folder: Path) -> Path:
    mc.write_store(folder / "x.store", A)
    return folder / "x.store"


@pytest.mark.parametrize(
    "write",
    [as_npy, as_npz, as_shards, as_clip_retrieval, as_parquet, as_parquet_shards, as_store],
    ids=lambda write: write.__name__,
)
@pytest.mark.parametrize("spell", [str, Path])
def test_a_path_opens_whatever_it_holds(write, spell, tmp_path):
    np.testing.assert_array_equal(mc.as_matrix(spell(write(tmp_path))).toarray(), A)


@pytest.mark.parametrize(
    "rows", [A, A.tolist(), tuple(map(tuple, A)), np.asfortranarray(A), sparse.csc_matrix(A), sparse.coo_array(A)]
)
def test_what_is_in_memory_opens(rows):
    np.testing.assert_array_equal(mc.as_matrix(rows).toarray(), A)


def test_a_matrix_is_returned_as_it_is():
    X = mc.BiasedMatrix(A)
    assert mc.as_matrix(X) is X


def test_an_array_is_not_copied():
    assert np.shares_memory(mc.as_matrix(A).array, A)


def test_a_sparse_matrix_stays_sparse():
    assert isinstance(mc.as_matrix(sparse.csr_array(A)), mc.SparseMatrix)


def test_a_path_may_begin_at_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    as_npy(tmp_path)
    assert mc.as_matrix("~/x.npy").shape == (4, 3)


def test_rows_of_several_lengths_are_refused():
    with pytest.raises(ValueError, match=r"^X must have rows of one length; got a list of rows of several lengths$"):
        mc.as_matrix([[1, 2], [3]])


def test_nothing_at_the_path_is_said(tmp_path):
    with pytest.raises(FileNotFoundError, match=f"^no file or folder at {tmp_path}/none.npy$"):
        mc.as_matrix(tmp_path / "none.npy")


@pytest.mark.parametrize("name", ["x.csv", "x.TSV"])
def test_of_a_table_it_is_said_how_it_becomes_arrays(tmp_path, name):
    (tmp_path / name).write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r'numpy\.savez\("x\.npz", X=numbers, y=labels\) makes one of a table$'):
        mc.as_matrix(tmp_path / name)


@pytest.mark.parametrize(("name", "got"), [("x.jpg", "'.jpg'"), ("x", "'no extension'")])
def test_another_extension_is_said(tmp_path, name, got):
    (tmp_path / name).write_text("1 2 3")
    with pytest.raises(
        ValueError, match=rf"^{tmp_path}/{name} must be a folder or end in one of \.npy, .*; got {got}$"
    ):
        mc.as_matrix(tmp_path / name)


def test_a_folder_of_nothing_is_said(tmp_path):
    (tmp_path / ".hidden.npy").write_text("")
    with pytest.raises(ValueError, match=rf"^{tmp_path} must hold \.npy or \.parquet files, .*; got none of them$"):
        mc.as_matrix(tmp_path)


@pytest.mark.parametrize("put", PUT, ids=lambda put: put.__name__)
@pytest.mark.parametrize("write", [as_shards, as_clip_retrieval])
def test_a_folder_with_a_manifest_that_cannot_be_read_is_no_folder_of_shards(tmp_path, write, put):
    put(write(tmp_path) / "manifest.json")
    with pytest.raises(StorageError, match=r"manifest\.json"):
        mc.as_matrix(tmp_path)


def test_a_store_that_was_interrupted_is_no_folder_of_shards(tmp_path):
    path = as_store(tmp_path)
    (path / "manifest.json").rename(path / "journal")
    with pytest.raises(StorageError, match="is unfinished"):
        mc.as_matrix(path)
