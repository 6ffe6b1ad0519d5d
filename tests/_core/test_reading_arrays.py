"""Headers of .npy files, of which nothing is believed, and files that are mapped."""

import io
import os

import numpy as np
import pytest

from manyclass._core.errors import FileRefusedError
from manyclass._core.reading import map_npy, read_array_header

A = np.arange(6, dtype=np.float32).reshape(2, 3)


def written(array, version=None):
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version)
    return out.getvalue()


def with_header(text, version=1, data=b""):
    size = 2 if version == 1 else 4
    return b"\x93NUMPY" + bytes([version, 0]) + len(text).to_bytes(size, "little") + text.encode() + data


def header(shape="(2, 3)", descr="'<f4'"):
    return f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}\n"


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
@pytest.mark.parametrize("array", [A, np.asfortranarray(A), A[0], A.astype(">f8"), np.array(["é", "b"]), A[:0]])
def test_arrays_of_every_version_and_order_are_mapped(tmp_path, version, array):
    (tmp_path / "x.npy").write_bytes(written(array, version))
    mapped = map_npy(tmp_path / "x.npy")
    np.testing.assert_array_equal(mapped, array)
    assert mapped.dtype == array.dtype
    assert not mapped.flags.writeable


def test_a_header_tells_what_the_array_takes():
    found = read_array_header(io.BytesIO(written(A)))
    assert (found.shape, found.dtype, found.order, found.nbytes, found.length) == ((2, 3), np.float32, "C", 24, 128)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "does not begin"),
        (b"\x93NUMPY\x04\x00", "does not begin"),
        (with_header(header("(2, -3)")), "its shape is"),
        (with_header(header("(2, 3.0)")), "shape"),
        (with_header(header("(4611686018427387904, 4611686018427387904)")), "ends before its header says"),
        (with_header(header("(9, 9)"), data=bytes(100)), "ends before its header says"),
        (with_header(header("(1,)", "'<U1000000'"), data=bytes(100)), "ends before its header says"),
        (with_header(header(descr="'|O'"), data=bytes(24)), "it holds Python objects"),
        (with_header(" " * 10_001), "its header has 10001 bytes"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff", "its header has 4294967295 bytes"),
        (with_header("(" * 9000), "cannot be read"),
        (with_header("[" * 90 + "]" * 90), "cannot be read"),
    ],
)
def test_a_header_that_lies_is_one_sentence(tmp_path, data, reason):
    (tmp_path / "x.npy").write_bytes(data)
    with pytest.raises(ValueError, match=rf"x\.npy must be a whole \.npy file of numbers; .*{reason}") as caught:
        map_npy(tmp_path / "x.npy")
    assert "\n" not in str(caught.value)


def test_a_file_over_the_limit_of_its_kind_is_refused(tmp_path):
    (tmp_path / "x.npy").write_bytes(written(A))
    os.truncate(tmp_path / "x.npy", 1 << 40)
    with pytest.raises(FileRefusedError, match=r"over the limit of 2\.0 GB"):
        map_npy(tmp_path / "x.npy", "labels")
    np.testing.assert_array_equal(map_npy(tmp_path / "x.npy"), A)
