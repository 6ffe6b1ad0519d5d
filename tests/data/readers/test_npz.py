"""Rows in .npz files."""

import zipfile

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
    with pytest.raises(
        ValueError, match=rf"^{tmp_path}/x\.npz must hold a readable array 'X'; it holds Python objects"
    ):
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


def rewritten(path, change):
    data = bytearray(path.read_bytes())
    change(data)
    path.write_bytes(data)


def entry(data, field, value):
    """Set two bytes of the record of the first member, in the list of members and before its data."""
    for signature, shift in ((b"PK\x01\x02", 2), (b"PK\x03\x04", 0)):
        at = data.index(signature) + field + shift
        data[at : at + 2] = value.to_bytes(2, "little")


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [(4, 64, "zip file version 6.4"), (6, 1, "encrypted"), (8, 12, "packed in a way"), (8, 99, "packed in a way")],
)
def test_members_that_numpy_would_not_have_written_are_refused(tmp_path, field, value, reason):
    np.savez(tmp_path / "x.npz", X=A)
    rewritten(tmp_path / "x.npz", lambda data: entry(data, field, value))
    with pytest.raises(ValueError, match=rf"^{tmp_path}/x\.npz must (be a complete|hold a readable).*{reason}"):
        mc.as_matrix(tmp_path / "x.npz")


def test_an_archive_that_unpacks_to_much_more_than_it_has_is_refused_with_a_way_out(tmp_path):
    path = tmp_path / "x.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made, made.open("X.npy", "w") as member:
        np.lib.format.write_array_header_1_0(member, {"descr": "<f4", "fortran_order": False, "shape": (300_000, 256)})
        for _ in range(300):
            member.write(bytes(1_024_000))
    assert path.stat().st_size < 400_000
    with pytest.raises(
        ValueError, match=r"x\.npz array 'X' must not take .* 307\.2 MB; if you trust it, set MANYCLASS_L"
    ):
        mc.as_matrix(path)
    with mc.limits(unpacked="400 MB"):
        assert mc.as_matrix(path).shape == (300_000, 256)


def test_what_compresses_well_is_read(tmp_path):
    np.savez_compressed(tmp_path / "x.npz", X=np.zeros((100_000, 16), np.float32))
    assert mc.as_matrix(tmp_path / "x.npz").shape == (100_000, 16)


def test_very_many_members_are_refused_at_once(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as made:
        for number in range(11_000):
            made.writestr(f"a{number}.npy", b"")
    with pytest.raises(ValueError, match=r"x\.npz must hold at most 10000 arrays; it holds 11000; if you trust it"):
        mc.as_matrix(tmp_path / "x.npz")


def test_a_list_of_members_that_the_file_has_no_room_for_is_refused(tmp_path):
    np.savez(tmp_path / "x.npz", X=A)

    def promise(data):
        at = data.rindex(b"PK\x05\x06")
        data[at + 12 : at + 16] = (2**31).to_bytes(4, "little")

    rewritten(tmp_path / "x.npz", promise)
    with pytest.raises(
        ValueError, match=r"x\.npz must be a complete \.npz file; its list of arrays is longer than the file"
    ):
        mc.as_matrix(tmp_path / "x.npz")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_members_of_one_name_are_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as made:
        for value in (b"a", b"b"):
            made.writestr("X.npy", value)
    with pytest.raises(ValueError, match=r"x\.npz must be a complete \.npz file; two of its arrays have one name"):
        mc.as_matrix(tmp_path / "x.npz")


@pytest.mark.parametrize("shape", ["(1000000, 1000000)", "(4611686018427387904, 4)", "(-1, 3)", "(4, 3.5)", "(0, -3)"])
def test_a_header_that_promises_more_than_there_is_takes_no_memory(tmp_path, shape):
    text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}}}".ljust(117) + "\n"
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as made:
        made.writestr("X.npy", b"\x93NUMPY\x01\x00v\x00" + text.encode() + bytes(48))
    with pytest.raises(ValueError, match=r"x\.npz must hold a readable array 'X'; "):
        mc.as_matrix(tmp_path / "x.npz")


@pytest.mark.parametrize("form", ["csc", "coo", "dia"])
def test_a_sparse_matrix_of_very_many_empty_rows_takes_no_memory(tmp_path, form):
    made = sparse.csr_array(A).asformat(form)
    np.savez(
        tmp_path / "x.npz", format=form.encode(), shape=(2**40, 3), data=made.data,
        **{name: getattr(made, name) for name in ("indices", "indptr", "row", "col", "offsets") if hasattr(made, name)},
    )  # fmt: skip
    with pytest.raises(ValueError, match=r"x\.npz must hold a sparse matrix that"):
        mc.as_matrix(tmp_path / "x.npz")


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
def test_every_format_of_scipy_opens(tmp_path, form):
    sparse.save_npz(tmp_path / "x.npz", sparse.csr_array(A).asformat(form))
    np.testing.assert_array_equal(mc.as_matrix(tmp_path / "x.npz").toarray(), A)
