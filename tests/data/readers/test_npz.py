"""Rows in .npz files."""

import numpy as np
import pytest
from scipy import sparse

import manyclass as mc

A = np.arange(12, dtype=np.float32).reshape(4, 3)
OTHER = np.zeros((2, 2))


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize(
    "members",
    [
        {"anything": A},
        {"X": A, "Y": OTHER},
        {"emb": A, "a": OTHER},
        {"Features": A, "a": OTHER},
        {"a": A, "y": A[:, 0]},
    ],
)
def test_the_features_are_found_by_name_or_as_the_only_matrix(tmp_path, save, members):
    save(tmp_path / "x.npz", **members)
    np.testing.assert_array_equal(mc.as_matrix(tmp_path / "x.npz").toarray(), A)


@pytest.mark.parametrize(("members", "got"), [({"a": A, "b": OTHER}, "a, b"), ({"a": A[0]}, "a"), ({}, "nothing")])
def test_the_names_are_told_when_the_features_are_unclear(tmp_path, members, got):
    np.savez(tmp_path / "x.npz", **members)
    with pytest.raises(ValueError, match=rf"^{tmp_path}/x\.npz must hold one array of two dimensions, .*; got {got}$"):
        mc.as_matrix(tmp_path / "x.npz")


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_a_sparse_matrix_that_scipy_saved_opens(tmp_path, form):
    sparse.save_npz(tmp_path / "x.npz", sparse.csr_array(A).asformat(form))
    X = mc.as_matrix(tmp_path / "x.npz")
    assert isinstance(X, mc.SparseMatrix)
    np.testing.assert_array_equal(X.toarray(), A)


def test_a_sparse_matrix_that_points_outside_is_refused(tmp_path):
    csr = sparse.csr_array(A)
    csr.indices[3] = 2_000_000
    sparse.save_npz(tmp_path / "x.npz", csr)
    with pytest.raises(ValueError, match=rf"^{tmp_path}/x\.npz must hold a sparse matrix"):
        mc.as_matrix(tmp_path / "x.npz")


def test_python_objects_are_never_read(tmp_path):
    np.savez(tmp_path / "x.npz", X=np.array([[print]], object))
    with pytest.raises(ValueError, match=rf"^{tmp_path}/x\.npz must hold a readable array 'X'; Object arrays cannot"):
        mc.as_matrix(tmp_path / "x.npz")


@pytest.mark.parametrize("keep", [0, 10, 100, -1])
def test_a_file_cut_short_is_said(tmp_path, keep):
    np.savez(tmp_path / "x.npz", X=A)
    (tmp_path / "x.npz").write_bytes((tmp_path / "x.npz").read_bytes()[:keep])
    with pytest.raises(ValueError, match=rf"^{tmp_path}/x\.npz must be a complete \.npz file; "):
        mc.as_matrix(tmp_path / "x.npz")


def test_a_damaged_member_is_said(tmp_path):
    np.savez(tmp_path / "x.npz", X=A)
    data = bytearray((tmp_path / "x.npz").read_bytes())
    data[data.index(A.tobytes())] ^= 1
    (tmp_path / "x.npz").write_bytes(data)
    with pytest.raises(ValueError, match=rf"^{tmp_path}/x\.npz must hold a readable array 'X'; Bad CRC-32"):
        mc.as_matrix(tmp_path / "x.npz")
