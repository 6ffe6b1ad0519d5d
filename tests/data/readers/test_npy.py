"""Rows in .npy files and folders of them."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import manyclass as mc
from manyclass.data.readers.npy import map_npy

A = np.arange(12, dtype=np.float32).reshape(4, 3)


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["<f2", "<f4", ">f4", "<f8", "<i4", "|u1"])
def test_every_version_order_and_dtype_opens(tmp_path, version, order, dtype):
    with open(tmp_path / "x.npy", "wb") as file:
        np.lib.format.write_array(file, np.asarray(A, dtype, order=order), version=version)
    np.testing.assert_array_equal(mc.as_matrix(tmp_path / "x.npy").toarray(), A)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_a_file_without_numbers_opens(tmp_path, shape):
    np.save(tmp_path / "x.npy", np.zeros(shape))
    assert mc.as_matrix(tmp_path / "x.npy").shape == shape


def test_a_file_is_mapped_and_cannot_be_written(tmp_path):
    np.save(tmp_path / "x.npy", A)
    array = mc.as_matrix(tmp_path / "x.npy").array
    assert isinstance(array.base, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1


@pytest.fixture
def whole(tmp_path):
    np.save(tmp_path / "x.npy", A)
    return (tmp_path / "x.npy").read_bytes()


@pytest.mark.parametrize("length", [0, 4, 7, 9, 50, 127])
def test_a_header_cut_short_is_said(tmp_path, whole, length):
    (tmp_path / "x.npy").write_bytes(whole[:length])
    with pytest.raises(
        ValueError, match=rf"^{tmp_path}/x\.npy must be a whole \.npy file of numbers; it cannot be read"
    ):
        mc.as_matrix(tmp_path / "x.npy")


@pytest.mark.parametrize("missing", [1, 47, 48])
def test_data_cut_short_is_said(tmp_path, whole, missing):
    (tmp_path / "x.npy").write_bytes(whole[:-missing])
    with pytest.raises(ValueError, match=rf"^{tmp_path}/x\.npy must .*; its data ends before its header says$"):
        mc.as_matrix(tmp_path / "x.npy")


@pytest.mark.filterwarnings("ignore:.*additional header parsing")
@given(at=st.integers(0, 127), byte=st.integers(0, 255))
def test_a_header_with_any_byte_changed_opens_or_is_refused_in_a_sentence(tmp_path, whole, at, byte):
    path = tmp_path / "x.npy"
    path.write_bytes(whole[:at] + bytes([byte]) + whole[at + 1 :])
    refused = ""
    try:
        mc.as_matrix(path)
    except ValueError as error:
        refused = str(error)
    assert not refused or refused.startswith(f"{path} ")


@pytest.mark.parametrize(
    ("array", "reason"),
    [
        (np.array([[None, "x"]], object), "must be a whole .* it holds Python objects, which are never read"),
        (np.array([["a"]]), "does not hold a matrix: X must hold real numbers of at most 64 bits; got dtype <U1"),
        (np.zeros(3), r"does not hold a matrix: X must have two dimensions; got shape \(3,\)"),
    ],
)
def test_what_is_no_matrix_is_said_with_the_path(tmp_path, array, reason):
    np.save(tmp_path / "x.npy", array)
    with pytest.raises(ValueError, match=rf"^{tmp_path}/x\.npy {reason}$"):
        mc.as_matrix(tmp_path / "x.npy")


def test_a_missing_file_is_said(tmp_path):
    with pytest.raises(FileNotFoundError, match=f"^no file or folder at {tmp_path}/x.npy$"):
        map_npy(tmp_path / "x.npy")


@pytest.mark.parametrize("pattern", ["{}.npy", "img_emb_{}.npy", "x-{:05}-of-11.npy", "part{}_float16.npy"])
def test_shards_come_in_the_order_of_their_numbers(tmp_path, pattern):
    for i in (10, 9, 0, 2, 1):
        np.save(tmp_path / pattern.format(i), np.full((2, 3), i, np.float16))
    X = mc.as_matrix(tmp_path)
    assert isinstance(X, mc.ShardedMatrix)
    np.testing.assert_array_equal(X.toarray()[::2, 0], [0, 1, 2, 9, 10])


@pytest.mark.parametrize("name", ["labels.npy", "labels_0.npy", "y_train.npy", "names.npy", ".features_7.npy"])
def test_files_of_labels_and_names_are_no_shards(tmp_path, name):
    np.save(tmp_path / "features_0.npy", A)
    np.save(tmp_path / name, np.zeros(4, int))
    np.testing.assert_array_equal(mc.as_matrix(tmp_path).toarray(), A)


def test_a_shard_of_another_width_is_named(tmp_path):
    np.save(tmp_path / "x_0.npy", A)
    np.save(tmp_path / "x_1.npy", A[:, :2])
    with pytest.raises(ValueError, match=rf"^{tmp_path}/x_1\.npy must have 3 columns, as x_0\.npy has; got 2$"):
        mc.as_matrix(tmp_path)


def test_a_shard_of_another_dtype_is_named(tmp_path):
    np.save(tmp_path / "x_0.npy", A)
    np.save(tmp_path / "x_1.npy", A.astype(np.float16))
    with pytest.raises(ValueError, match=rf"^{tmp_path}/x_1\.npy must have dtype float32, .*; got float16$"):
        mc.as_matrix(tmp_path)


def test_two_series_in_a_folder_are_named(tmp_path):
    for name in ("train_0.npy", "train_1.npy", "test_0.npy"):
        np.save(tmp_path / name, A)
    with pytest.raises(
        ValueError, match=rf"^{tmp_path} must hold one series of .* got test_N\.npy, train_N\.npy; open"
    ):
        mc.as_matrix(tmp_path)


def _open_shards_with_limits(folder, soft, hard):
    script = (
        f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard}))\n"
        f"import manyclass as mc; print(mc.as_matrix({str(folder)!r}).shape)"
    )
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)


def test_more_shards_than_may_be_open_at_first_are_opened(tmp_path):
    for i in range(300):
        np.save(tmp_path / f"{i}.npy", np.zeros((1, 2), np.float32))
    assert _open_shards_with_limits(tmp_path, 64, 1024).stdout.strip() == "(300, 2)"
    assert "raise the limit with ulimit -n" in _open_shards_with_limits(tmp_path, 64, 128).stderr
