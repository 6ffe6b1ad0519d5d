"""MATLAB's files: what SciPy writes is read, and what is malformed ends in a sentence."""

import struct
import zlib
from contextlib import contextmanager

import numpy as np
import pytest
from scipy.io import loadmat, savemat

import manyclass as mc
from manyclass.evaluation import read_truth
from manyclass.evaluation.mat_files import read_mat
from tests.evaluation.test_ground_truth_files import CLASSIC, CLASSIC_TOLD, cells, structs, told, write_mat

WANTED = ("imlist", "gnd", "qidx", "x")


def read(path, largest=10**6):
    return read_mat(path.read_bytes(), WANTED, largest)


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "?"])
@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (0, 0), (2, 3, 4)])
def test_numbers_are_those_of_scipy(tmp_path, compressed, dtype, shape):
    x = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    savemat(tmp_path / "x.mat", {"other": 1.5, "x": x}, do_compression=compressed)
    np.testing.assert_array_equal(read(tmp_path / "x.mat")["x"], loadmat(tmp_path / "x.mat")["x"])


def test_text_cells_and_structs(tmp_path):
    content = {"x": "été", "imlist": cells(["a", "bc", "é"]), "gnd": structs(CLASSIC)}
    savemat(tmp_path / "x.mat", content, do_compression=True)
    found = read(tmp_path / "x.mat")
    assert found["x"] == "été"
    assert found["imlist"] == ["a", "bc", "é"]
    assert [sorted(entry) for entry in found["gnd"]] == [["bbx", "junk", "ok"]] * 2
    np.testing.assert_array_equal(found["gnd"][0]["bbx"], [[1, 2, 30.5, 40]])


def test_rows_of_text_are_names(tmp_path):
    savemat(tmp_path / "x.mat", {"x": np.array(["ab", "cd", "ef"])})
    assert read(tmp_path / "x.mat")["x"] == ["ab", "cd", "ef"]


def swapped(data):
    """A file of one vector of int32 as a machine of the other byte order writes it."""
    out = bytearray(data)
    out[124:126], out[126:128] = out[125:123:-1], b"MI"
    for at in range(128, len(data), 4):
        out[at : at + 4] = out[at : at + 4][::-1]
    return bytes(out)


def test_the_other_byte_order(tmp_path):
    savemat(tmp_path / "x.mat", {"xxxxx": np.arange(3, dtype=np.int32)})
    data = bytearray(swapped((tmp_path / "x.mat").read_bytes()))
    at = data.index(b"xxxx")
    data[at : at + 8] = b"xxxxx\0\0\0"
    np.testing.assert_array_equal(read_mat(bytes(data), ("xxxxx",), 0)["xxxxx"], [[0, 1, 2]])


def element(kind, body):
    return struct.pack("<II", kind, len(body)) + body + bytes(-len(body) % 8)


def array(kind, dims, *parts, flags=0, name=b"x"):
    head = (
        element(6, struct.pack("<II", kind | flags, 0)),
        element(5, struct.pack(f"<{len(dims)}i", *dims)),
        element(1, name),
    )
    return element(14, b"".join([*head, *parts]))


HEAD = b"MATLAB 5.0".ljust(124) + b"\x00\x01IM"
NUMBER = array(6, (1, 1), element(9, bytes(8)), name=b"")
NESTED = NUMBER
for _ in range(40):
    NESTED = array(1, (1, 1), NESTED, name=b"x")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "level 5"),
        (HEAD[:-2] + b"XX", "level 5"),
        (b"MATLAB 7.3".ljust(124) + b"\x00\x02IM", "save it by save -v7"),
        (HEAD + b"abc", "ends within a data element"),
        (HEAD + element(14, bytes(8)), "an array"),
        (HEAD + struct.pack("<II", 14, 2**31), "ends within"),
        (HEAD + element(15, b"nonsense"), "a compressed variable is damaged"),
        (HEAD + element(15, zlib.compress(bytes(10**7))), "unpack to more"),
        (HEAD + array(1, (2**31 - 1, 2**31 - 1)), "more values"),
        (HEAD + array(1, (1000, 1000)), "ends within an array"),
        (HEAD + array(2, (2**20, 1), element(5, struct.pack("<i", 8)), element(1, b"")), "no fields"),
        (HEAD + array(2, (1, 1), element(5, struct.pack("<i", 0)), element(1, b"ok")), "have no names"),
        (HEAD + array(6, (2**31 - 1, 2**31 - 1), element(9, bytes(8))), "it has 1"),
        (HEAD + array(6, (-1, 1), element(9, bytes(8))), "its shape is none"),
        (HEAD + array(6, (1, 1), element(9, bytes(8)), flags=0x800), "complex"),
        (HEAD + array(6, (1, 1), element(9, bytes(7))), "no known type"),
        (HEAD + array(5, (1, 1), element(9, bytes(8))), "other types"),
        (HEAD + NESTED, "values within values"),
    ],
)
def test_what_is_malformed_is_refused(data, reason):
    with pytest.raises(ValueError, match=reason):
        read_mat(data, WANTED, 10**6)


def test_variables_that_are_not_wanted_are_passed_over(tmp_path):
    savemat(tmp_path / "x.mat", {"odd": np.eye(2) * 1j, "x": 3})
    assert read(tmp_path / "x.mat") == {"x": 3}


@contextmanager
def suppress_refusal(path):
    """A ValueError that names the file."""
    try:
        yield
    except ValueError as error:
        if str(path) not in str(error):
            raise


@pytest.mark.parametrize("compressed", [False, True])
def test_every_cut_and_flipped_byte_is_read_or_refused(tmp_path, compressed):
    """SciPy's own reader ends the process for some of these."""
    path = write_mat(tmp_path / "g.mat", list("abcd"), CLASSIC, qidx=np.array([[1], [4]], np.uint16))
    if compressed:
        savemat(path, {k: v for k, v in loadmat(path).items() if k[0] != "_"}, do_compression=True)
    whole = path.read_bytes()
    assert told(read_truth(path)) == CLASSIC_TOLD
    for at in range(0, len(whole), 3):
        for changed in (
            whole[:at],
            whole[:at] + b"\xff" + whole[at + 1 :],
            whole[:at] + b"\0\0\0\x7f" + whole[at + 4 :],
        ):
            path.write_bytes(changed)
            with suppress_refusal(path):
                read_truth(path)


def test_the_limit_of_ground_truth_holds_for_what_is_unpacked(tmp_path):
    savemat(tmp_path / "g.mat", {"imlist": np.zeros(10**6)}, do_compression=True)
    with (
        mc.limits(truth="100 kB"),
        pytest.raises(ValueError, match=r"g\.mat must hold ground truth: .* unpack to more"),
    ):
        read_truth(tmp_path / "g.mat")
